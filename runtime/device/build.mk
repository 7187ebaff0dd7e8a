# The embedded device: libcuda.so.1, the driver API in software.

device_objects := $(call objects,$(device_src))
device_entries := $(OUT)/gen/device/entries
device_symbols := $(OUT)/gen/device/symbols

$(device_symbols): runtime/device/symbols.sh $(CUDA_HOME)/include/cuda.h runtime/cuda/newer.table
	@mkdir -p $(@D)
	CC=$(CC) runtime/device/symbols.sh $(CUDA_HOME)/include runtime/cuda/newer.table > $@.new
	mv $@.new $@
$(device_entries).c: runtime/device/entries.sh $(device_symbols) runtime/cuda/newer.table $(device_objects)
	runtime/device/entries.sh $(device_symbols) $(CUDA_HOME)/include runtime/cuda/newer.table $(device_objects) > $@.new
	mv $@.new $@
$(device_entries).o: $(device_entries).c
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -MMD -MP -c $< -o $@

# The names of all error codes, from the enumeration in cuda.h.
$(OUT)/gen/device/errors.inc: $(CUDA_HOME)/include/cuda.h
	@mkdir -p $(@D)
	sed -n 's/^ *\(CUDA_SUCCESS\|CUDA_ERROR_[A-Z0-9_]*\) *= *[0-9].*/NAME(\1)/p' $< > $@
$(OUT)/obj/runtime/device/driver/errors.o: $(OUT)/gen/device/errors.inc

$(OUT)/libdevice.a: $(device_entries).o

EMBEDDED_CUDA := $(EMBEDDED)/libcuda.so.1
$(EMBEDDED_CUDA): $(GLIBC) $(OUT)/libdevice.a $(OUT)/libptx.a runtime/device/exports.map \
		runtime/device/check-exports.sh
	@mkdir -p $(@D)
	$(CC) $(GLIBC_LINK) -shared $(SANFLAGS) -o $@.new -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,--as-needed \
		-Wl,--version-script=runtime/device/exports.map \
		-Wl,--whole-archive $(OUT)/libdevice.a -Wl,--no-whole-archive $(OUT)/libptx.a \
		$(UNPACK) -lpthread -ldl -lm
	$(if $(SANITIZE),,runtime/device/check-exports.sh $@.new $(device_symbols))
	mv $@.new $@
# As NVIDIA's driver installs it: programs open it by this name, and compilers at run time link with it.
$(EMBEDDED)/libcuda.so: $(EMBEDDED_CUDA)
	ln -sf libcuda.so.1 $@
PRODUCTS += $(EMBEDDED_CUDA) $(EMBEDDED)/libcuda.so

# Kernels for its unit test: a fat binary with PTX, one without, and PTX text.
kernel_data := $(addprefix $(OUT)/tests/data/device_kernels,.fatbin .cubin .ptx)
$(OUT)/tests/data/device_kernels.%: tests/data/device/kernels.cu
	@mkdir -p $(@D)
	$(NVCC) -$* -arch=sm_90 $< -o $@
$(OUT)/tests/data/device_kernels.fatbin: tests/data/device/kernels.cu
	@mkdir -p $(@D)
	$(NVCC) -fatbin -gencode arch=compute_75,code=compute_75 \
		-gencode arch=compute_90,code=[sm_90,compute_90] $< -o $@
$(addprefix $(OUT)/tests/unit/test_device_,kernel image fault): | $(kernel_data)
