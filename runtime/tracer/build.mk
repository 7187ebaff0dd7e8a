# The tracer of a GPU, a part of libcsan: built where setup found the headers of NVIDIA's Sanitizer
# API. The library itself is opened at run time.

ifneq ($(SANITIZER_INCLUDE),)
tracer_src := $(wildcard runtime/tracer/*.c)
# It reports in the embedded device's types.
tracer_o   := $(call objects,$(tracer_src)) $(OUT)/obj/runtime/trace/fold.o

TRACER_PATCHES      := $(OUT)/gen/tracer_patches.fatbin
TRACER_FIRST_LAUNCH := $(OUT)/gen/tracer_first_launch.fatbin
# Machine code of what CUDA 13 compiles for; PTX for what comes after.
tracer_archs   := 75 80 86 89 90 100 120
tracer_targets := $(foreach a,$(tracer_archs),-gencode arch=compute_$a$(,)code=sm_$a) \
	-gencode arch=compute_120$(,)code=compute_120

$(TRACER_PATCHES): runtime/tracer/patch.cu runtime/tracer/record.h
	@mkdir -p $(@D)
	$(NVCC) -I. -I$(SANITIZER_INCLUDE) -O2 --fatbin --keep-device-functions \
		-Xptxas --compile-as-tools-patch $(tracer_targets) -o $@ $<

$(TRACER_FIRST_LAUNCH): runtime/tracer/first_launch.cu
	@mkdir -p $(@D)
	$(NVCC) -O2 --fatbin $(tracer_targets) -o $@ $<

$(call objects,$(tracer_src)): EXTRA_CFLAGS += -isystem $(SANITIZER_INCLUDE) \
	-DTRACER_PATCHES='"$(abspath $(TRACER_PATCHES))"' \
	-DTRACER_FIRST_LAUNCH='"$(abspath $(TRACER_FIRST_LAUNCH))"'
# The assembler puts them in, and reports no dependency.
$(OUT)/obj/runtime/tracer/patches.o: $(TRACER_PATCHES)
$(OUT)/obj/runtime/tracer/first_launch.o: $(TRACER_FIRST_LAUNCH)

# The tests' GPU: a driver and a Sanitizer API that stand in for it, and the patch for the host.
FAKE_GPU   := $(OUT)/tests/fake/gpu
HOST_PATCH := $(OUT)/obj/tests/unit/hook/tracer/host_patch.o

# What one lane reads while another sets it is no race on the device (PTX ISA, Memory Consistency
# Model: volatile accesses are relaxed), and one in C.
$(HOST_PATCH): runtime/tracer/patch.cu runtime/tracer/record.h tests/unit/hook/tracer/host_patch.h
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=c++17 -O2 -g -fPIC -fvisibility=hidden \
		$(filter-out -fsanitize=thread,$(SANFLAGS)) -I. $(CUDA_INCLUDE) \
		-isystem $(SANITIZER_INCLUDE) -include tests/unit/hook/tracer/host_patch.h -c $< -o $@

$(FAKE_GPU)/libcuda.so.1: tests/unit/hook/fake_cuda.c tests/unit/hook/fake_graph.c tests/unit/hook/tracer/fake_gpu.c \
		tests/unit/hook/tracer/fake_gpu.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DFAKE_GPU -Wno-shadow -shared -Wl,-soname,libcuda.so.1 \
		-Wl,-Bsymbolic -o $@ $(filter %.c,$^) -ldl -lpthread

$(FAKE_GPU)/tools/libsanitizer-public.so: tests/unit/hook/tracer/fake_sanitizer.c $(HOST_PATCH) \
		tests/unit/hook/tracer/fake_gpu.h tests/unit/hook/tracer/fake_cubin.h tests/unit/sass/sm90_code.h runtime/sass/instruction.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -isystem $(SANITIZER_INCLUDE) -shared -o $@ \
		$(filter %.c %.o,$^) -ldl -lpthread
# Stands for a wheel's run-time library, beside which the tools' library is looked for.
$(FAKE_GPU)/tools/libcudart.so.13:
	@mkdir -p $(@D)
	echo | $(CC) -shared -x c - -o $@

# Stands for a profiler's.
$(FAKE_GPU)/libcupti.so.13:
	@mkdir -p $(@D)
	echo | $(CC) -shared -x c - -o $@

tracer_tests := $(addprefix $(OUT)/tests/unit/test_hook_,tracer tracer_failure tracer_graph tracer_kept tracer_maps tracer_run tracer_time tracer_requests)
$(tracer_tests): $(FAKE_GPU)/libcuda.so.1 $(FAKE_GPU)/tools/libsanitizer-public.so \
	$(FAKE_GPU)/tools/libcudart.so.13 $(FAKE_GPU)/libcupti.so.13
$(OUT)/tests/unit/test_hook_tracer_run: private CFLAGS_ALL += -DTRACER

$(OUT)/tests/unit/test_tracer_record: tests/unit/tracer/test_tracer_record.c $(HOST_PATCH) \
		$(call objects,runtime/tracer/buffer.c runtime/tracer/recorded.c runtime/trace/fold.c csan/base/lock_order.c \
		csan/base/output.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -isystem $(SANITIZER_INCLUDE) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ \
		-lcmocka -lpthread

$(OUT)/tests/unit/test_recorded: tests/unit/tracer/test_recorded.c \
		$(call objects,runtime/tracer/recorded.c runtime/trace/fold.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka

$(addprefix $(OUT)/tests/unit/test_,budget patch_gate granularity trace_request): $(OUT)/tests/unit/test_%: test_%.c \
		$(OUT)/obj/runtime/tracer/%.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka -lpthread
else
tests_without_headers := $(addprefix test_,hook_tracer hook_tracer_failure hook_tracer_graph hook_tracer_kept hook_tracer_maps hook_tracer_time hook_tracer_requests tracer_record \
	recorded budget patch_gate granularity trace_request)
endif
