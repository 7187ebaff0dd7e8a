# The engine's tests run real kernels: tests/data/exec/*.cu, compiled to PTX by nvcc.
exec_ptx := $(patsubst tests/data/exec/%.cu,$(OUT)/tests/exec/%.ptx,$(wildcard tests/data/exec/*.cu))

$(OUT)/tests/exec/%.ptx: tests/data/exec/%.cu
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -arch=compute_90 -ptx $< -o $@

exec_tests := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(wildcard tests/unit/test_exec*.c))
$(exec_tests): CFLAGS_ALL += -DEXEC_PTX='"$(abspath $(OUT)/tests/exec)"' -ffp-contract=off -fwrapv
$(exec_tests): tests/unit/exec_harness.h
$(exec_tests): | $(exec_ptx)
