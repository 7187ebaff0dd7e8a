# Tests. A unit test is tests/unit/ROOM/test_NOUN.c in the folder of the room that it
# tests, with its own main (cmocka), linked with every archive. Names are unique: programs lie side by side.

UNIT := $(addprefix $(OUT)/tests/unit/,$(filter-out $(tests_without_headers),$(basename $(notdir $(unit_src)))))

$(OUT)/tests/unit/test_%: test_%.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DTEST_DATA='"$(CURDIR)/tests/data"' -MMD -MP -MF $@.d $< -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group -lcmocka $(UNPACK) -lpthread -ldl -lm
# Of the command it needs what reads reports again.
FINDING_READ := $(call objects,runtime/cli/findings/finding_read.c runtime/cli/findings/json_read.c)
$(OUT)/tests/unit/test_finding: tests/unit/report/test_finding.c $(FINDING_READ) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $^ -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
# Of the command, what the page of a report is made with.
CLI_TESTED := $(call objects,runtime/cli/findings/finding_groups.c runtime/cli/findings/source_excerpt.c)
$(OUT)/tests/unit/test_finding_groups $(OUT)/tests/unit/test_source_excerpt: \
		$(OUT)/tests/unit/%: %.c $(CLI_TESTED) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $^ -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
# It talks to the real helper process.
$(OUT)/tests/unit/test_symbolizer: $(CSAN)
-include $(wildcard $(OUT)/tests/unit/*.d)
-include tests/unit/ptx/ptx.mk
-include tests/unit/device/exec/exec.mk

include tests/oracle/build.mk
include tests/torch/build.mk
include tests/integration/build.mk
include tests/litmus/build.mk
include tests/gpu/build.mk
-include tests/bench/build.mk
include tests/bench/programs/build.mk

# Tests of the products as a person meets them at the command line.
SHELL_TESTS := $(wildcard tests/shell/test_*.sh)
SCHEMA_CHECK := $(OUT)/tests/schema_check

$(SCHEMA_CHECK): tests/shell/schema_check.c $(OUT)/obj/runtime/cli/findings/json_read.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $^ -o $@
-include $(SCHEMA_CHECK).d

.PHONY: test unit shell
shell: build $(INTEGRATION) $(LITMUS) $(PARITY_SHARED) $(SCHEMA_CHECK)
	@scripts/run-shell-tests.sh $(OUT) $(SHELL_TESTS)
unit: $(UNIT) $(PARITY)
	@scripts/run-tests.sh $(OUT)/tests/unit.log $(UNIT) $(PARITY)

# Every part runs, whatever failed before; the last line adds them up and decides.
test: build $(UNIT) $(PARITY) $(PARITY_SHARED) $(INTEGRATION) $(SAMPLES12) $(LITMUS) $(SCHEMA_CHECK)
	@rm -f $(OUT)/tests/*.count
	@scripts/run-tests.sh $(OUT)/tests/unit.log $(UNIT) $(PARITY) || true
	@scripts/run-shell-tests.sh $(OUT) $(SHELL_TESTS) || true
	@scripts/run-integration --root $(OUT) --device embedded --verify tests/integration samples || true
	@$(MAKE) --no-print-directory test-cuda12-samples || true
	@scripts/compare-access --root $(OUT) tests/integration/access_differences tests/integration samples || true
	@scripts/summary.sh $(OUT)/tests
