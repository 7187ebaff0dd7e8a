# Fuzzing. Random kernels against the byte ranges derived from them (tests/fuzz/kernels), and libFuzzer on
# what reads files that others wrote (tests/fuzz/inputs).
#
#   make fuzz [RUNS=1000000] [SEED=1] [FUZZ_SECONDS=60]
#
# What fails stays in $(OUT)/tests/fuzz/found; scripts/setup.sh fuzz brings clang and python3.

RUNS ?= 1000000
SEED ?= 1
# How much the C compiler optimizes random kernels. COMPILER=tcc: it does not, and plays 80 times as many.
LEVEL ?= -O1
FUZZ_SECONDS ?= 60
FUZZ := $(OUT)/tests/fuzz

.PHONY: fuzz fuzz-kernels fuzz-inputs
fuzz: fuzz-kernels fuzz-inputs

# ---- Random kernels -----------------------------------------------------------------------------

fuzz_kernels_src := $(wildcard tests/fuzz/kernels/*.c)

$(FUZZ)/fuzz_kernels: $(call objects,$(fuzz_kernels_src)) $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(call objects,$(fuzz_kernels_src)) -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group $(UNPACK) -lpthread -ldl -lm

fuzz-kernels: $(FUZZ)/fuzz_kernels
	@scripts/setup.sh fuzz
	@scripts/fuzz-kernels $(OUT) $(NVCC) $(RUNS) $(SEED)

# Random kernels that the embedded device runs interpreted and as machine code.
.PHONY: fuzz-compiled
fuzz-compiled: $(OUT)/tests/unit/test_compile_random
	@$(if $(filter tcc,$(COMPILER)),PATH="$(CURDIR)/tests/fuzz/tcc:$$PATH") RANDOM_KERNELS=$(RUNS) \
		RANDOM_SEED=$(SEED) RANDOM_LEVEL=$(LEVEL) $<

# The fixed batch that make test plays. The sanitizers' builds share it.
FUZZ_DATA := build/data/fuzz
fuzz_fixed := $(foreach a,75 90 100,$(FUZZ_DATA)/fixed.sm_$(a).ptx)

$(FUZZ_DATA)/fixed.sm_%.ptx: tests/fuzz/kernels/fixed.cu tests/fuzz/kernels/fixed.spec
	@mkdir -p $(@D)
	$(NVCC) -w -std=c++17 -arch=compute_$* -ptx $< -o $@
	@cp tests/fuzz/kernels/fixed.cu $(@:.ptx=.cu)
	@cp tests/fuzz/kernels/fixed.spec $(@:.ptx=.spec)

shell-needs: $(FUZZ)/fuzz_kernels $(fuzz_fixed)

# ---- libFuzzer ----------------------------------------------------------------------------------

FUZZ_CC ?= clang-14
FUZZ_TARGETS := fatbin ptx recording linked learned json coredump texture tensor_map
# Everything is compiled anew, by clang and with its coverage.
FUZZ_CFLAGS := -std=c11 -D_GNU_SOURCE -O1 -g -Wall -Iinclude -I. -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
fuzz_objects := $(patsubst %.c,$(FUZZ)/obj/%.o,$(ptx_src) $(access_src) $(core_src) $(learn_src) $(dump_src) $(sass_src) \
	runtime/cli/findings/finding_read.c runtime/cli/findings/json_read.c)

$(FUZZ)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@
-include $(patsubst %.o,%.d,$(fuzz_objects))

$(FUZZ)/fuzz_%: $(FUZZ)/obj/tests/fuzz/inputs/fuzz_%.o $(fuzz_objects)
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $^ -o $@ $(JSON_LIBS) $(UNPACK) -lpthread -ldl -lm

# Of the embedded device only what describes textures and finds their texels.
fuzz_texture_objects := $(patsubst %,$(FUZZ)/obj/%.o,tests/fuzz/inputs/fuzz_texture runtime/device/memory/array_format \
	runtime/device/memory/texture_description runtime/device/exec/texture/sampler)
$(fuzz_texture_objects): FUZZ_CFLAGS += $(CUDA_INCLUDE)
$(FUZZ)/fuzz_texture: $(fuzz_texture_objects)
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $^ -o $@ -lm

# And what encodes tensor maps, and what copies know of them.
fuzz_tensor_map_objects := $(patsubst %,$(FUZZ)/obj/%.o,tests/fuzz/inputs/fuzz_tensor_map runtime/device/memory/tensor_map \
	runtime/device/exec/tensor/exec_tensor_map)
$(fuzz_tensor_map_objects): FUZZ_CFLAGS += $(CUDA_INCLUDE)
$(FUZZ)/fuzz_tensor_map: $(fuzz_tensor_map_objects)
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer,address,undefined $^ -o $@

# Units of separate compilation, one text after the other.
$(FUZZ_DATA)/linked.units: tests/data/ptx/unit_a.cu tests/data/ptx/unit_b.cu
	@mkdir -p $(@D)
	for unit in $^; do $(NVCC) -w -arch=compute_90 -rdc=true -ptx $$unit -o $@.part && cat $@.part || exit 1; \
		done >$@.whole
	@rm $@.part && mv $@.whole $@

# What a recorded program leaves, whole and without its frame.
fuzz_recorded := $(foreach p,example_error double_buffer pool_reuse_other_stream host_function_in_chain \
	graph_branches_no_join interprocess,$(PROGRAM_OUT)/plain/$(p))

fuzz-inputs: $(CSAN) $(fuzz_recorded) $(ptx_fatbins) $(ptx_units) $(fuzz_fixed) $(FUZZ_DATA)/linked.units
	@scripts/setup.sh fuzz
	@$(MAKE) --no-print-directory $(FUZZ_TARGETS:%=$(FUZZ)/fuzz_%)
	@scripts/fuzz-inputs $(FUZZ) $(FUZZ_SECONDS) $(SEED) $(PTX_DATA) $(FUZZ_DATA) $(CSAN) $(fuzz_recorded)
