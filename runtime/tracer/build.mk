# The tracer of a GPU, a part of libcsan: built where setup found the headers of NVIDIA's Sanitizer
# API. The library itself is opened at run time.

ifneq ($(SANITIZER_INCLUDE),)
tracer_src := $(wildcard runtime/tracer/*.c)
# It tells in the embedded device's words.
tracer_o   := $(call objects,$(tracer_src)) $(OUT)/obj/runtime/device/touch.o

TRACER_PATCHES := $(OUT)/gen/tracer_patches.fatbin
# Machine code of what CUDA 13 compiles for; PTX for what comes after.
tracer_archs := 75 80 86 89 90 100 120

$(TRACER_PATCHES): runtime/tracer/patch.cu runtime/tracer/record.h
	@mkdir -p $(@D)
	$(NVCC) -I. -I$(SANITIZER_INCLUDE) -O2 --fatbin --keep-device-functions \
		-Xptxas --compile-as-tools-patch \
		$(foreach a,$(tracer_archs),-gencode arch=compute_$a$(,)code=sm_$a) \
		-gencode arch=compute_120$(,)code=compute_120 -o $@ $<

$(call objects,$(tracer_src)): EXTRA_CFLAGS += -isystem $(SANITIZER_INCLUDE) \
	-DTRACER_PATCHES='"$(abspath $(TRACER_PATCHES))"'
# The assembler puts it in, and tells no dependency.
$(OUT)/obj/runtime/tracer/module.o: $(TRACER_PATCHES)
endif
