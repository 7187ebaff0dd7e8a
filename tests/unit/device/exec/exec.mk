# The engine's tests run real kernels: tests/data/exec/*.cu, compiled to PTX by nvcc. The
# sanitizers' builds share it.
EXEC_DATA := build/data/exec
exec_ptx := $(patsubst tests/data/exec/%.cu,$(EXEC_DATA)/%.ptx,$(wildcard tests/data/exec/*.cu))

$(EXEC_DATA)/%.ptx: tests/data/exec/%.cu
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -arch=compute_90 -ptx $< -o $@

exec_tests := $(addprefix $(OUT)/tests/unit/,$(basename $(notdir $(wildcard tests/unit/device/exec/test_exec*.c tests/unit/device/compile/test_*.c))))
$(exec_tests): CFLAGS_ALL += -DEXEC_PTX='"$(CURDIR)/$(EXEC_DATA)"' -ffp-contract=off -fwrapv
$(exec_tests): tests/unit/device/exec/exec_harness.h
$(exec_tests): | $(exec_ptx)
