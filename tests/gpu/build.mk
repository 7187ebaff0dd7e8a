# What the tests on a GPU need built: the library that counts calls by CUPTI, where its header is.

cupti_include := $(firstword $(wildcard $(CUDA_HOME)/extras/CUPTI/include $(CUDA_HOME)/include))
CUPTI_COUNTS  := $(if $(wildcard $(cupti_include)/cupti.h),$(PROGRAM_OUT)/cupti/libcupti_counts.so)

$(PROGRAM_OUT)/cupti/libcupti_counts.so: tests/gpu/cupti_counts.c
	@mkdir -p $(@D)
	$(CC) $(filter-out $(SANFLAGS),$(CFLAGS_ALL)) $(CUDA_INCLUDE) -isystem $(cupti_include) -shared $< -o $@ -ldl
