# PyTorch's verdicts: csan's detector against recordings of torch.cuda._sanitizer. test_parity is a
# unit test like the others; libparity.so is its sequences and its judge for the Python tests.

TORCH_OUT    := $(OUT)/tests/torch
parity_src   := $(filter-out tests/torch/test_%.c,$(wildcard tests/torch/*.c))
PARITY       := $(TORCH_OUT)/test_parity
PARITY_SHARED := $(TORCH_OUT)/libparity.so

$(PARITY): tests/torch/test_parity.c $(call objects,$(parity_src)) $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DTORCH_TESTS='"$(CURDIR)/tests/torch"' -MMD -MP -MF $@.d $< \
		$(call objects,$(parity_src)) -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group -lcmocka $(UNPACK) -lpthread -ldl -lm
$(PARITY_SHARED): $(call objects,tests/torch/sequence.c tests/torch/history.c tests/torch/verdicts.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared $^ -o $@ -lzstd
-include $(wildcard $(TORCH_OUT)/*.d)

# What Python calls of it.
$(call objects,tests/torch/sequence.c tests/torch/history.c tests/torch/verdicts.c): \
	EXTRA_CFLAGS += -fvisibility=default

# The adapter with PyTorch's versions, each from its wheel: downloads gigabytes and takes hours on a
# small machine. TORCH_VERSIONS="2.8.0 newest" picks some.
.PHONY: test-torch-versions
test-torch-versions: build
	@scripts/test-torch-versions $(OUT) $(TORCH_VERSIONS)
