# The tests' machine code: real cubins, of each way there is to have parameters in the constant bank.

machine_code_cubins  := $(foreach a,75 80 90 100 120,$(OUT)/tests/unit/parameters_sm_$a.cubin)
# The first is the one whose tensor maps are known.
tensor_copies_cubins := $(foreach a,90 100,$(OUT)/tests/unit/tensor_copies_sm_$a.cubin)
# What accesses memory, of each kind.
memory_kinds_cubins  := $(foreach a,75 80 86 89 90 100 120,$(OUT)/tests/unit/memory_kinds_sm_$a.cubin)
# What asserts.
assertions_cubins    := $(foreach a,75 80 86 89 90 100 120,$(OUT)/tests/unit/assertions_sm_$a.cubin)
quoted = $(foreach c,$1,"$(abspath $c)"$(,))

$(machine_code_cubins): $(OUT)/tests/unit/parameters_sm_%.cubin: tests/unit/sass/parameters.cu
	@mkdir -p $(@D)
	$(NVCC) -cubin -arch=sm_$* -o $@ $<

$(tensor_copies_cubins): $(OUT)/tests/unit/tensor_copies_sm_%.cubin: tests/unit/sass/tensor_copies.cu
	@mkdir -p $(@D)
	$(NVCC) -cubin -arch=sm_$* -o $@ $<

$(memory_kinds_cubins): $(OUT)/tests/unit/memory_kinds_sm_%.cubin: tests/unit/sass/memory_kinds.cu
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -cubin -arch=sm_$* -o $@ $<

$(assertions_cubins): $(OUT)/tests/unit/assertions_sm_%.cubin: tests/unit/sass/assertions.cu
	@mkdir -p $(@D)
	$(NVCC) -cubin -arch=sm_$* -o $@ $<

$(OUT)/tests/unit/test_assertion: | $(assertions_cubins)
$(OUT)/tests/unit/test_assertion: private CFLAGS_ALL += -DCUBINS='$(call quoted,$(assertions_cubins))'

$(OUT)/tests/unit/test_machine_code: | $(machine_code_cubins) $(tensor_copies_cubins)
$(OUT)/tests/unit/test_machine_code: private CFLAGS_ALL += -DCUBINS='$(call quoted,$(machine_code_cubins))' \
	-DTENSOR_CUBINS='$(call quoted,$(tensor_copies_cubins))'

# What machine code reads and accesses, against nvdisasm: CUBINS are any others. The programs' cubins are
# those that nvcc makes of their kernels: a program whose kernels need another architecture is left out.
.PHONY: compare-machine-code compare-machine-code-of-programs
compared_cubins  := $(machine_code_cubins) $(tensor_copies_cubins) $(memory_kinds_cubins)
compare-machine-code: $(OUT)/tests/unit/decoded $(if $(CUBINS),,$(compared_cubins))
	scripts/compare-machine-code $< $(or $(CUBINS),$(compared_cubins))

machine_code_architectures := 75 80 86 89 90 100 120
compared_programs := $(notdir $(patsubst %.cu,%,$(wildcard tests/integration/*.cu samples/*.cu)))
program_cubins    := $(foreach a,$(machine_code_architectures),$(compared_programs:%=$(OUT)/machine_code/%.sm_$a.cubin))

# ARCHITECTURE,FOLDER
define program_cubin
$(OUT)/machine_code/%.sm_$(1).cubin: $(2)/%.cu
	@mkdir -p $$(@D)
	@$(NVCC) -w -Iinclude -Itests/integration $$(call directive,flags,$$<) -cubin -arch=sm_$(1) \
		-o $$@ $$< 2>$$(@:.cubin=.log) || echo "  left out: $$@"
endef
$(foreach a,$(machine_code_architectures),$(foreach f,tests/integration samples,$(eval $(call program_cubin,$a,$f))))

compare-machine-code-of-programs: $(OUT)/tests/unit/decoded $(program_cubins)
	scripts/compare-machine-code $< $(OUT)/machine_code/*.cubin

# It prints what is decoded, and is no test.
$(OUT)/tests/unit/decoded: tests/unit/sass/decoded.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -MMD -MP -MF $@.d $< -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group $(UNPACK) -lpthread -ldl -lm
