# The programs whose speed with and without csan is compared; linked like integration programs.
bench_program := $(notdir $(patsubst %.cu,%,$(wildcard tests/bench/programs/*.cu)))
BENCH_PROGRAMS := $(foreach way,static plain plain-static,$(bench_program:%=$(OUT)/tests/bench/$(way)/%))
BENCH_RPATH := -Xlinker -rpath='$$ORIGIN/../../../lib' -Xlinker -rpath='$$ORIGIN/../../../lib/csan'

build/obj/cuda/bench/%.o: tests/bench/programs/%.cu
	@mkdir -p $(@D)
	$(NVCC) -g -O2 -Iinclude -c $< -o $@
$(OUT)/tests/bench/static/%: build/obj/cuda/bench/%.o | $(PRODUCTS)
	@mkdir -p $(@D)
	$(NVCC) $< -o $@ -L$(LIBDIR) -lcsan $(BENCH_RPATH)
$(OUT)/tests/bench/plain/%: build/obj/cuda/bench/%.o | $(PRODUCTS)
	@mkdir -p $(@D)
	$(NVCC) -cudart shared $< -o $@ $(BENCH_RPATH)
$(OUT)/tests/bench/plain-static/%: build/obj/cuda/bench/%.o | $(PRODUCTS)
	@mkdir -p $(@D)
	$(NVCC) $< -o $@
.SECONDARY: $(bench_program:%=build/obj/cuda/bench/%.o)

# What a launch costs with csan, on a GPU: see scripts/bench-launch.
.PHONY: bench-launch
bench-launch: build $(BENCH_PROGRAMS)
	@scripts/bench-launch --root $(OUT)
