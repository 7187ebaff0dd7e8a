# aarch64: cross-built with Debian's compiler, and run by qemu-user. scripts/setup.sh aarch64 gets the compiler,
# qemu, and the target's libraries, which it unpacks into build/aarch64-root.
#
# Integration programs and samples have NVIDIA's runtime for servers. nvcc compiles them with the cross compiler; kernels
# are the same for every host. AARCH64_PROGRAMS='event_*' chooses some, AARCH64_SHELL_TESTS='help record' some shell tests.
# AARCH64_WAYS=static runs each program in one way of three (scripts/run-integration).
#
# tests/aarch64_skipped says what is left out, and why. So are programs with a line `// machine: x86-64`.

AARCH64_ROOT := $(CURDIR)/build/aarch64-root
ifeq ($(CROSS),aarch64)
  CFLAGS_ALL += -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu -L$(AARCH64_ROOT)/link
  UNPACK := -L$(AARCH64_ROOT)/link $(UNPACK)
  JSON_LIBS := -L$(AARCH64_ROOT)/link $(JSON_LIBS)
  CLI_LIBS := -L$(AARCH64_ROOT)/link $(CLI_LIBS)
endif

# aarch64_skipped,KIND: the names that are left out.
aarch64_skipped = $(shell sed -n 's/^$(1) \([^:]*\):.*/\1/p' tests/aarch64_skipped)

AARCH64_PROGRAMS ?= *
aarch64_unit     := $(filter-out $(addprefix %/,$(call aarch64_skipped,unit)),$(UNIT) $(PARITY))
aarch64_names    := $(filter $(program),$(basename $(notdir $(wildcard \
	$(foreach f,tests/integration samples,$(patsubst %,$f/%.cu,$(AARCH64_PROGRAMS)))))))
aarch64_names    := $(filter-out $(call aarch64_skipped,program) \
	$(notdir $(basename $(shell grep -l '^// machine: x86-64' tests/integration/*.cu))),$(aarch64_names))
aarch64_programs := $(foreach w,static shared plain,$(aarch64_names:%=$(PROGRAM_OUT)/$w/%))
AARCH64_SHELL_TESTS ?= $(basename $(notdir $(SHELL_TESTS)))
aarch64_shell    := $(filter-out $(call aarch64_skipped,shell),$(addprefix test_,$(patsubst test_%,%,$(AARCH64_SHELL_TESTS))))

# `make test-aarch64` runs all parts. Each is a target of its own, too: make CROSS=aarch64 aarch64-shell.
aarch64_run = AARCH64_NAMES='$(aarch64_names)' AARCH64_SHELL='$(aarch64_shell)' \
	scripts/test-aarch64 --jobs $(JOBS) --ways "$(AARCH64_WAYS)" --parts "$(1)" $(OUT) $(aarch64_unit)

# What shell tests need: shell-needs without MPI, PyTorch and the oracle.
aarch64_shell_needs := $(SCHEMA_CHECK) $(LITMUS) $(CLASSICS) $(TRITON) $(kernels_files) $(FUZZ)/fuzz_kernels $(fuzz_fixed)

.PHONY: test-aarch64 aarch64-all aarch64-unit aarch64-programs aarch64-shell
test-aarch64:
	@scripts/setup.sh aarch64
	@$(MAKE) --no-print-directory CROSS=aarch64 aarch64-all
aarch64-all: build $(aarch64_unit) $(aarch64_programs) $(aarch64_shell_needs)
	@$(call aarch64_run,unit programs recordings shell)
aarch64-unit: build $(aarch64_unit)
	@$(call aarch64_run,unit)
aarch64-programs: build $(SCHEMA_CHECK) $(aarch64_programs)
	@$(call aarch64_run,programs recordings)
aarch64-shell: build $(aarch64_programs) $(aarch64_shell_needs)
	@$(call aarch64_run,shell)
