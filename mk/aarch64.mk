# aarch64: cross-built with Debian's compiler, and run by qemu-user. scripts/setup.sh aarch64 gets the compiler,
# qemu, and the target's libraries, which it unpacks into build/aarch64-root.
#
# The detector, recordings, PTX, the embedded device and the command are built. The hooks are not: their
# stubs are x86-64's machine code.

AARCH64_ROOT := $(CURDIR)/build/aarch64-root
ifeq ($(CROSS),aarch64)
  CFLAGS_ALL += -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu
  UNPACK := -L$(AARCH64_ROOT)/link $(UNPACK)
  JSON_LIBS := -L$(AARCH64_ROOT)/link $(JSON_LIBS)
  CLI_LIBS := -L$(AARCH64_ROOT)/link $(CLI_LIBS)
endif

# The rooms whose tests need no hooks, without the tests that do, and one that takes too long there.
aarch64_rooms := base coredump detector device learn ptx python replay report
aarch64_unit  := $(filter-out $(addprefix %/,test_cudart test_cudart_trampolines test_device_fault test_fatbin test_detect_random), \
	$(foreach r,$(aarch64_rooms),$(call room_tests,$r)))

.PHONY: test-aarch64 aarch64-unit
test-aarch64:
	@scripts/setup.sh aarch64
	@$(MAKE) --no-print-directory CROSS=aarch64 aarch64-unit
aarch64-unit: $(CSAN) $(EMBEDDED_CUDA) $(EMBEDDED_CUDART) $(aarch64_unit)
	@scripts/test-aarch64 --jobs $(JOBS) $(OUT) $(aarch64_unit)
