# Benchmarks: programs that print ratios in one run; never part of `make test`.

BENCH := $(patsubst tests/bench/%.c,$(OUT)/tests/bench/%,$(wildcard tests/bench/bench_*.c))

$(OUT)/tests/bench/%: tests/bench/%.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -MMD -MP -MF $@.d $< -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group $(UNPACK) -lpthread -ldl -lm

# Through the real hooks, with the driver that the tests of the hooks use.
hook_bench := $(addprefix $(OUT)/tests/bench/,bench_cold bench_graph bench_reports bench_rest bench_scale)
$(hook_bench): $(OUT)/%: %.c $(LIBCSAN) $(FAKE)/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE))"' -MMD -MP -MF $@.d $< -o $@ \
		-Wl,--no-as-needed $(LIBCSAN) -Wl,-rpath,$(abspath $(LIBDIR)) -lpthread -ldl

# The tracer's, with the GPU that its test uses.
ifdef FAKE_GPU
$(OUT)/tests/bench/bench_learn: tests/bench/bench_learn.c $(LIBCSAN) \
		$(FAKE_GPU)/libcuda.so.1 $(FAKE_GPU)/tools/libsanitizer-public.so $(FAKE_GPU)/tools/libcudart.so.13
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE_GPU))"' -MMD -MP -MF $@.d $< -o $@ \
		-Wl,--no-as-needed $(LIBCSAN) -Wl,-rpath,$(abspath $(LIBDIR)) -lpthread -ldl
else
BENCH := $(filter-out %/bench_learn,$(BENCH))
endif

$(OUT)/tests/bench/bench_ranks: CFLAGS_ALL += -DCSAN='"$(abspath $(CSAN))"'

# A hook that does nothing, for what any tool in front of the driver costs (torch/bench_parts.py). It is x86-64 code.
ifneq ($(CROSS),aarch64)
NULL_HOOK := $(OUT)/tests/bench/libnull_hook.so
$(OUT)/tests/bench/null_hook_names.h: runtime/hook/interpose/driver.table
	@mkdir -p $(@D)
	@awk '!/^#/ && NF && $$5 != "query" && !seen[$$1]++ { print "\"" $$1 "\"," }' $< >$@
$(NULL_HOOK): tests/bench/null_hook.c $(OUT)/tests/bench/null_hook_names.h
	$(CC) $(CFLAGS_ALL) -I$(@D) -fPIC -shared $< -o $@ -ldl
endif

# It records the programs of samples/ as the tests have them.
samples_run := $(patsubst samples/%.cu,$(PROGRAM_OUT)/plain/%,$(wildcard samples/*.cu))
$(OUT)/tests/bench/bench_samples: CFLAGS_ALL += -DCSAN='"$(abspath $(CSAN))"' \
	-DSAMPLES='"$(abspath $(samples_run))"'
$(OUT)/tests/bench/bench_samples: | $(samples_run)
-include $(wildcard $(OUT)/tests/bench/*.d)

$(OUT)/tests/bench/%.ptx: tests/bench/%.cu
	@mkdir -p $(@D)
	$(NVCC) -arch=compute_90 -ptx $< -o $@

# What csan merge --order takes for many ranks.
.PHONY: bench-ranks
bench-ranks: build $(OUT)/tests/bench/bench_ranks
	@$(OUT)/tests/bench/bench_ranks

# What a report costs the program.
.PHONY: bench-reports
bench-reports: build $(OUT)/tests/bench/bench_reports
	@$(OUT)/tests/bench/bench_reports

.PHONY: bench
bench: build $(BENCH) $(OUT)/tests/bench/kernels.ptx $(OUT)/tests/bench/device.ptx
	@for program in $(BENCH); do echo "== $$(basename $$program)"; $$program || exit 1; done

# csan's engine against PyTorch's: PYTHON is an interpreter that has torch.
PYTHON ?= python3
.PHONY: bench-torch bench-torch-engine
bench-torch: build $(NULL_HOOK)
	$(PYTHON) tests/bench/torch/bench_torch.py $(OUT)/bin/csan

bench-torch-engine: build $(OUT)/tests/bench/torch_engine
	@CSAN_LIBRARY=$(LIBDIR)/libcsan.so.0 $(PYTHON) tests/bench/torch_engine.py \
		$(OUT)/tests/bench/torch_engine
