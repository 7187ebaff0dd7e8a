# The compiler of kernels. What its C text begins with is made of the headers that say the same to
# the engine.
kernel_prelude := runtime/device/compile/prelude.h runtime/device/exec/exec_compiled.h \
	runtime/device/exec/alu/alu_lane.h
$(OUT)/gen/device/kernel_prelude.inc: $(kernel_prelude)
	@mkdir -p $(@D)
	{ echo 'static const char prelude[] ='; \
		sed -e '/^#include/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/"&\\n"/' $(kernel_prelude); \
		echo ';'; } > $@
$(OUT)/obj/runtime/device/compile/lower.o: $(OUT)/gen/device/kernel_prelude.inc
