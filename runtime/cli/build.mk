# The csan command. It finds the libraries relative to itself: bin/csan, lib/.

CSAN := $(OUT)/bin/csan

# Of the device it needs schedule_text.o, which needs nothing.
CLI_ARCHIVES := $(OUT)/liblearn.a $(OUT)/libsass.a $(OUT)/libcsan_core.a $(OUT)/libaccess.a $(OUT)/libptx.a $(OUT)/libdevice.a

# Of the hooks it needs what processes share with csan run, what a program is that is to be executed,
# how the driver is asked for a GPU, and where the Sanitizer API is.
cli_o := $(call objects,$(cli_src) $(foreach o,hook/run/process_tree hook/run/exec_target hook/rt/gpu_probe tracer/library_place,runtime/$(o).c))

$(CSAN): $(cli_o) $(CLI_ARCHIVES) $(GLIBC) $(GLIBC_START)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(GLIBC_LINK) $(GLIBC_START_LINK) -o $@ $(cli_o) $(CLI_ARCHIVES) \
		$(CLI_LIBS) $(JSON_LIBS) $(UNPACK) -ldl -lpthread -lm

PRODUCTS += $(CSAN)

# The page of csan report --html is put into it by the assembler, which reports no dependency.
$(OUT)/obj/runtime/cli/findings/report_page.o: runtime/cli/findings/report_page.html
