# The tests' machine code: real cubins, of each way there is to have parameters in the constant bank.

machine_code_cubins  := $(foreach a,75 80 90 100 120,$(OUT)/tests/unit/parameters_sm_$a.cubin)
# The first is the one whose tensor maps are told.
tensor_copies_cubins := $(foreach a,90 100,$(OUT)/tests/unit/tensor_copies_sm_$a.cubin)
quoted = $(foreach c,$1,"$(abspath $c)"$(,))

$(machine_code_cubins): $(OUT)/tests/unit/parameters_sm_%.cubin: tests/unit/parameters.cu
	@mkdir -p $(@D)
	$(NVCC) -cubin -arch=sm_$* -o $@ $<

$(tensor_copies_cubins): $(OUT)/tests/unit/tensor_copies_sm_%.cubin: tests/unit/tensor_copies.cu
	@mkdir -p $(@D)
	$(NVCC) -cubin -arch=sm_$* -o $@ $<

$(OUT)/tests/unit/test_machine_code: | $(machine_code_cubins) $(tensor_copies_cubins)
$(OUT)/tests/unit/test_machine_code: private CFLAGS_ALL += -DCUBINS='$(call quoted,$(machine_code_cubins))' \
	-DTENSOR_CUBINS='$(call quoted,$(tensor_copies_cubins))'

# What machine code reads, against nvdisasm: CUBINS are any others.
.PHONY: compare-machine-code
compare-machine-code: $(OUT)/tests/unit/decoded $(machine_code_cubins) $(tensor_copies_cubins)
	scripts/compare-machine-code $< $(or $(CUBINS),$(machine_code_cubins) $(tensor_copies_cubins))
