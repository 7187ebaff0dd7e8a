# The embedded device's runtime libraries, on top of its libcuda.so.1: libcudart.so.13 and, of the same
# sources and with twelve.c, libcudart.so.12. Both are compiled with the headers of CUDA 13.

EMBEDDED_CUDART   := $(EMBEDDED)/libcudart.so.13
EMBEDDED_CUDART12 := $(EMBEDDED)/libcudart.so.12
cudart_objects13  := $(call objects,$(filter-out %/twelve.c,$(cudart_src)))
cudart_objects12  := $(patsubst %.c,$(OUT)/obj/cudart12/%.o,$(cudart_src))

$(OUT)/gen/device/cudart_errors.inc: $(CUDA_HOME)/include/driver_types.h
	@mkdir -p $(@D)
	sed -n 's/^ *\(cudaSuccess\|cudaError[A-Za-z0-9]*\) *= *[0-9].*/NAME(\1)/p' $< > $@
$(OUT)/obj/runtime/device/cudart/error.o $(OUT)/obj/cudart12/runtime/device/cudart/error.o: \
	$(OUT)/gen/device/cudart_errors.inc

$(OUT)/obj/cudart12/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC  $< (CUDA 12)"
	$(CC) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -DCUDART_MAJOR=12 $(CUDA_INCLUDE) -I$(OUT)/gen -MMD -MP -c $< -o $@

# What is in the table and not built fails, and says so.
$(OUT)/gen/device/cudart_unsupported.%.o: $(OUT)/gen/device/cudart_unsupported.%.c
	$(CC) $(CFLAGS_ALL) -fno-builtin -MMD -MP -c $< -o $@

# cudart_library,MAJOR: the library finds the driver beside itself.
define cudart_library
$(OUT)/gen/device/cudart_unsupported.$(1).c: runtime/device/cudart/unsupported.sh \
		$(OUT)/gen/cudart_symbols.$(1) $$(cudart_objects$(1))
	@mkdir -p $$(@D)
	runtime/device/cudart/unsupported.sh $(OUT)/gen/cudart_symbols.$(1) $$(cudart_objects$(1)) > $$@.new
	mv $$@.new $$@
$(EMBEDDED)/libcudart.so.$(1): $$(cudart_objects$(1)) $(OUT)/gen/device/cudart_unsupported.$(1).o \
		$(OUT)/gen/cudart.$(1).map
	@mkdir -p $$(@D)
	$(CC) -shared $(SANFLAGS) -o $$@.new -Wl,-soname,libcudart.so.$(1) -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,-Bsymbolic -Wl,-rpath,'$$$$ORIGIN' \
		-Wl,--version-script=$(OUT)/gen/cudart.$(1).map $$(cudart_objects$(1)) \
		$(OUT)/gen/device/cudart_unsupported.$(1).o -Wl,--as-needed -lpthread -ldl
	mv $$@.new $$@
endef
$(eval $(call cudart_library,12))
$(eval $(call cudart_library,13))
PRODUCTS += $(EMBEDDED_CUDART) $(EMBEDDED_CUDART12)

# Its test: one program, as nvcc compiles it for whole-program and for relocatable device code, and
# for per-thread default streams; for CUDA 13, and for CUDA 12 where that is at hand.
CUDART_PROGRAMS12 := $(if $(wildcard $(CUDA12_HOME)/bin/nvcc),12_plain 12_relocatable 12_per_thread)
CUDART_PROGRAMS := $(addprefix $(OUT)/tests/data/runtime_api,_plain _relocatable _per_thread $(CUDART_PROGRAMS12))
$(filter %_relocatable,$(CUDART_PROGRAMS)): CUDART_NVCC := -rdc=true
$(filter %_per_thread,$(CUDART_PROGRAMS)): CUDART_NVCC := --default-stream per-thread
$(CUDART_PROGRAMS): tests/data/cudart/runtime_api.cu
	@mkdir -p $(@D)
	$(if $(findstring api12,$@),$(NVCC12) -Xcompiler -Wno-deprecated-declarations,$(NVCC)) \
		-arch=sm_90 -std=c++17 -cudart shared $(CUDART_NVCC) $< -o $@
$(OUT)/tests/unit/test_cudart: $(CUDART_PROGRAMS) $(EMBEDDED_CUDART) $(EMBEDDED_CUDART12) $(EMBEDDED_CUDA)
$(OUT)/tests/unit/test_cudart: CUDA_INCLUDE += -DEMBEDDED='"$(abspath $(EMBEDDED))"' \
	-DSANITIZER='"$(CUDART_SANITIZER) "' -DPROGRAMS='"$(abspath $(OUT)/tests/data)"' -DCUDA_LIB='"$(CUDA_LIB)"' \
	-DCUDA12_LIB='"$(CUDA12_HOME)/lib"' -DCHECK_TABLE='"$(CURDIR)/scripts/check-cudart-table"'

# A call that is the last of its function leaves no frame, and reports find by that frame which
# function of the runtime the program called.
$(OUT)/obj/runtime/device/cudart/%.o $(OUT)/obj/cudart12/%.o: EXTRA_CFLAGS += -fno-optimize-sibling-calls
