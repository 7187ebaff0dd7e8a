# The embedded device's runtime library: libcudart.so.13 on top of its libcuda.so.1.

EMBEDDED_CUDART := $(EMBEDDED)/libcudart.so.13
cudart_objects  := $(call objects,$(cudart_src))
cudart_stubs    := $(OUT)/gen/device/cudart_unsupported

$(OUT)/gen/device/cudart_errors.inc: $(CUDA_HOME)/include/driver_types.h
	@mkdir -p $(@D)
	sed -n 's/^ *\(cudaSuccess\|cudaError[A-Za-z0-9]*\) *= *[0-9].*/NAME(\1)/p' $< > $@
$(OUT)/obj/runtime/device/cudart/error.o: $(OUT)/gen/device/cudart_errors.inc

$(cudart_stubs).c: runtime/device/cudart/unsupported.sh $(rt_symbols) $(cudart_objects)
	@mkdir -p $(@D)
	runtime/device/cudart/unsupported.sh $(rt_symbols) $(cudart_objects) > $@.new
	mv $@.new $@
$(cudart_stubs).o: $(cudart_stubs).c
	$(CC) $(CFLAGS_ALL) -fno-builtin -MMD -MP -c $< -o $@

# The library finds the driver beside itself.
$(EMBEDDED_CUDART): $(cudart_objects) $(cudart_stubs).o $(OUT)/gen/runtime.map
	@mkdir -p $(@D)
	$(CC) -shared $(SANFLAGS) -o $@.new -Wl,-soname,libcudart.so.13 -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,-Bsymbolic -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=$(OUT)/gen/runtime.map $(cudart_objects) $(cudart_stubs).o \
		-Wl,--as-needed -lpthread -ldl
	mv $@.new $@
PRODUCTS += $(EMBEDDED_CUDART)

# A program that is not built with a sanitizer gets its run-time preloaded.
CUDART_SANITIZER :=
ifneq ($(SANITIZE),)
  CUDART_SANITIZER := LD_PRELOAD=$(shell $(CC) -print-file-name=$(if $(filter thread,$(SANITIZE)),libtsan,libasan).so) \
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0:exitcode=99
endif

# Its test: one program, as nvcc compiles it for whole-program and for relocatable device code, and
# for per-thread default streams.
CUDART_PROGRAMS := $(addprefix $(OUT)/tests/data/runtime_api,_plain _relocatable _per_thread)
$(OUT)/tests/data/runtime_api_relocatable: CUDART_NVCC := -rdc=true
$(OUT)/tests/data/runtime_api_per_thread: CUDART_NVCC := --default-stream per-thread
$(CUDART_PROGRAMS): tests/data/cudart/runtime_api.cu
	@mkdir -p $(@D)
	$(NVCC) -arch=sm_90 -std=c++17 -cudart shared $(CUDART_NVCC) $< -o $@
$(OUT)/tests/unit/test_cudart: $(CUDART_PROGRAMS) $(EMBEDDED_CUDART) $(EMBEDDED_CUDA)
$(OUT)/tests/unit/test_cudart: CUDA_INCLUDE += -DEMBEDDED='"$(abspath $(EMBEDDED))"' \
	-DSANITIZER='"$(CUDART_SANITIZER) "' -DPROGRAMS='"$(abspath $(OUT)/tests/data)"' -DCUDA_LIB='"$(CUDA_LIB)"'
