# The PyTorch adapter as users get it: a Python package with the sources that it compiles against the
# user's PyTorch, and the sitecustomize that `csan run` puts on the interpreter's path.

PYTHON_DIR := $(LIBDIR)/csan/python
torch_python := $(wildcard runtime/torch/csan_torch/*.py)
torch_native := $(wildcard runtime/torch/*.cpp runtime/torch/*.c runtime/torch/*.h)

$(OUT)/gen/torch.made: $(torch_python) $(torch_native) runtime/torch/site/sitecustomize.py \
		include/csan/csan.h
	@rm -rf $(PYTHON_DIR)
	@mkdir -p $(PYTHON_DIR)/csan_torch/native/csan
	cp $(torch_python) $(PYTHON_DIR)/csan_torch/
	cp $(torch_native) $(PYTHON_DIR)/csan_torch/native/
	cp include/csan/csan.h $(PYTHON_DIR)/csan_torch/native/csan/
	cp runtime/torch/site/sitecustomize.py $(PYTHON_DIR)/
	@mkdir -p $(@D)
	@touch $@
PRODUCTS += $(OUT)/gen/torch.made
