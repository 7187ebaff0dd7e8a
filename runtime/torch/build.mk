# The PyTorch adapter as users get it: a Python package with the sources that it compiles against the
# user's PyTorch, the sitecustomize that `csan run` puts on the interpreter's path, and a .pth that does
# the same where the package is installed in a site directory.

PYTHON_DIR := $(LIBDIR)/csan/python
torch_python := $(wildcard runtime/torch/csan_torch/*.py)
pools_python := $(wildcard runtime/pools/csan_pools/*.py)
torch_native := $(wildcard runtime/torch/*.cpp runtime/torch/*.c runtime/torch/*.h)

$(OUT)/gen/torch.made: $(torch_python) $(pools_python) $(torch_native) $(wildcard runtime/torch/site/*) \
		include/csan/csan.h include/csan/adapter.h include/csan/detector.h
	@rm -rf $(PYTHON_DIR)
	@mkdir -p $(PYTHON_DIR)/csan_torch/native/csan $(PYTHON_DIR)/csan_pools
	cp $(torch_python) $(PYTHON_DIR)/csan_torch/
	cp $(pools_python) $(PYTHON_DIR)/csan_pools/
	cp $(torch_native) $(PYTHON_DIR)/csan_torch/native/
	cp include/csan/csan.h include/csan/adapter.h include/csan/detector.h $(PYTHON_DIR)/csan_torch/native/csan/
	cp runtime/torch/site/sitecustomize.py runtime/torch/site/csan_torch.pth $(PYTHON_DIR)/
	@mkdir -p $(@D)
	@touch $@
PRODUCTS += $(OUT)/gen/torch.made
