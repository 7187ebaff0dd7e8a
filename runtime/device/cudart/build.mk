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
$(EMBEDDED)/libcudart.so.$(1): $(GLIBC) $$(cudart_objects$(1)) $(OUT)/gen/device/cudart_unsupported.$(1).o \
		$(OUT)/gen/cudart.$(1).map
	@mkdir -p $$(@D)
	$(CC) $(GLIBC_LINK) -shared $(SANFLAGS) -o $$@.new -Wl,-soname,libcudart.so.$(1) -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,-Bsymbolic -Wl,-rpath,'$$$$ORIGIN' \
		-Wl,--version-script=$(OUT)/gen/cudart.$(1).map $$(cudart_objects$(1)) \
		$(OUT)/gen/device/cudart_unsupported.$(1).o -Wl,--as-needed -lpthread -ldl
	mv $$@.new $$@
endef
$(eval $(call cudart_library,12))
$(eval $(call cudart_library,13))
PRODUCTS += $(EMBEDDED_CUDART) $(EMBEDDED_CUDART12)

# Its test: one program, as nvcc compiles it for whole-program and for relocatable device code, and
# for per-thread default streams; for CUDA 13, and for CUDA 12 where that is at hand. The test of the
# trampolines (runtime/hook/rt) links the same objects. The sanitizers' builds share them.
CUDART_OBJ        := build/obj/runtime_api
CUDART_VERSIONS   := 13 $(if $(wildcard $(CUDA12_HOME)/bin/nvcc),12)
CUDART_PROGRAMS   := $(foreach v,$(CUDART_VERSIONS),$(addprefix $(OUT)/tests/data/runtime_api$v_,plain relocatable per_thread))
cudart_flags_relocatable := -rdc=true
cudart_flags_per_thread  := --default-stream per-thread

# cudart_program,CUDA VERSION,NVCC
define cudart_program
$(CUDART_OBJ)/$(1)_%.o: tests/data/cudart/runtime_api.cu
	@mkdir -p $$(@D)
	$(2) -arch=sm_90 -std=c++17 -Xcompiler -Wno-deprecated-declarations $$(cudart_flags_$$*) -c $$< -o $$@
$(OUT)/tests/data/runtime_api$(1)_%: $(CUDART_OBJ)/$(1)_%.o
	@mkdir -p $$(@D)
	$(2) -arch=sm_90 -cudart shared $$(cudart_flags_$$*) $$< -o $$@
endef
$(eval $(call cudart_program,13,$(NVCC)))
$(eval $(call cudart_program,12,$(NVCC12)))
.SECONDARY: $(patsubst $(OUT)/tests/data/runtime_api%,$(CUDART_OBJ)/%.o,$(CUDART_PROGRAMS))
$(OUT)/tests/unit/test_cudart: $(CUDART_PROGRAMS) $(EMBEDDED_CUDART) $(EMBEDDED_CUDART12) $(EMBEDDED_CUDA)
$(OUT)/tests/unit/test_cudart: CUDA_INCLUDE += -DEMBEDDED='"$(abspath $(EMBEDDED))"' \
	-DSANITIZER='"$(CUDART_SANITIZER) "' -DPROGRAMS='"$(abspath $(OUT)/tests/data)"' -DCUDA_LIB='"$(CUDA_LIB)"' \
	-DCUDA12_LIB='"$(CUDA12_HOME)/lib"' -DCHECK_TABLE='"$(CURDIR)/scripts/check-cudart-table"'

# A call that is the last of its function leaves no frame, and reports find by that frame which
# function of the runtime the program called.
$(OUT)/obj/runtime/device/cudart/%.o $(OUT)/obj/cudart12/%.o: EXTRA_CFLAGS += -fno-optimize-sibling-calls
