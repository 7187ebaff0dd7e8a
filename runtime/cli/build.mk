# The csan command. It finds the libraries relative to itself: bin/csan, lib/.

CSAN := $(OUT)/bin/csan

$(CSAN): $(call objects,$(cli_src)) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -o $@ $(call objects,$(cli_src)) $(OUT)/libcsan_core.a $(CLI_LIBS) -ldl -lpthread

PRODUCTS += $(CSAN)
