# Tests. A unit test is tests/unit/ROOM/test_NOUN.c in the folder of the room that it tests, with its
# own main (cmocka). Names are unique: programs lie side by side.

UNIT := $(addprefix $(OUT)/tests/unit/,$(filter-out $(tests_without_headers),$(basename $(notdir $(unit_src)))))

# What the tests of a room are linked with: its own archive, and those that this one calls. The tests
# of hook, of its parts and of tracer name libcsan or the objects that they test beside their sources.
archives_access      := access ptx
archives_base        := csan_core
archives_coredump    := coredump ptx
archives_detector    := csan_core
archives_device      := device ptx
archives_device/compile := device ptx
archives_device/exec := device ptx
archives_learn       := learn sass csan_core
archives_ptx         := ptx
archives_python      := csan_core
archives_recording   := csan_core
archives_replay      := csan_core
archives_report      := csan_core
archives_sass        := sass coredump ptx
archives_shadow      := csan_core
archives_stack       := csan_core
archives_hook/failure := csan_core
archives_hook/host   := csan_core
archives_hook/kernel := csan_core access device ptx

# room_tests,ROOM
room_tests = $(patsubst tests/unit/$(1)/%.c,$(OUT)/tests/unit/%,$(wildcard tests/unit/$(1)/test_*.c))
unit_rooms := $(patsubst tests/unit/%/,%,$(sort $(dir $(unit_src))))
$(foreach r,$(unit_rooms),$(eval $(call room_tests,$r): $(archives_$r:%=$(OUT)/lib%.a)))

$(OUT)/tests/unit/test_%: test_%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DTEST_DATA='"$(CURDIR)/tests/data"' -MMD -MP -MF $@.d $(unit_source) -o $@ \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(UNPACK) -lpthread -ldl -lm
# Its coroutines change stacks, which ThreadSanitizer takes for calls that never return; all that runs is
# in one thread.
ifeq ($(SANITIZE),thread)
  $(OUT)/tests/unit/test_lock_model: CFLAGS_ALL += -fno-sanitize=thread
endif
# Of the command it needs what reads reports again.
FINDING_READ := $(call objects,runtime/cli/findings/finding_read.c runtime/cli/findings/json_read.c)
$(OUT)/tests/unit/test_finding: tests/unit/report/test_finding.c $(FINDING_READ) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka $(JSON_LIBS) $(UNPACK) -lpthread -ldl -lm
# Of the command, what the page of a report is made with.
CLI_TESTED := $(call objects,runtime/cli/findings/finding_groups.c runtime/cli/findings/source_excerpt.c)
$(OUT)/tests/unit/test_finding_groups $(OUT)/tests/unit/test_source_excerpt: \
		$(OUT)/tests/unit/%: %.c $(CLI_TESTED) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
# ... and what a trace is drawn with.
TRACE_TESTED := $(call objects,runtime/cli/timeline/report_trace.c $(wildcard runtime/cli/findings/surroundings*.c) \
	runtime/cli/findings/recorded_sites.c runtime/cli/findings/recorded_lines.c)
$(OUT)/tests/unit/test_report_trace: tests/unit/cli/test_report_trace.c $(TRACE_TESTED) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
# ... and what counts the calls of a recording.
$(OUT)/tests/unit/test_call_statistics: tests/unit/cli/test_call_statistics.c \
		$(call objects,runtime/cli/statistics/call_statistics.c) $(OUT)/libcsan_core.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
$(OUT)/tests/unit/test_function_index: tests/unit/cli/test_function_index.c $(call objects,runtime/cli/function_index.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o,$^) -o $@ -lcmocka $(CLI_LIBS) $(UNPACK) -lpthread -ldl -lm
$(OUT)/tests/unit/test_file_from_here: tests/unit/cli/test_file_from_here.c $(call objects,runtime/cli/process/file_from_here.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o,$^) -o $@ -lcmocka
# It has a follow_link of its own.
$(OUT)/tests/unit/test_epoch: tests/unit/mpi/test_epoch.c $(call objects,runtime/mpi/epoch.c)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o,$^) -o $@ -lcmocka -lpthread
# It talks to the real helper process.
$(OUT)/tests/unit/test_symbolizer: $(CSAN)
-include $(wildcard $(OUT)/tests/unit/*.d)
# Where a test was before it moved to another room it is not missed.
tests/unit/%.c: ;
-include tests/unit/ptx/ptx.mk
-include tests/unit/device/exec/exec.mk

include tests/oracle/build.mk
include tests/torch/build.mk
include tests/integration/build.mk
include tests/litmus/build.mk
include tests/mpi/build.mk
include tests/gpu/build.mk
-include tests/bench/build.mk
include tests/bench/programs/build.mk

# Tests of the products as a person meets them at the command line. Those that take longest begin first.
shell_tests_long := $(wildcard $(addprefix tests/shell/test_,$(addsuffix .sh,other_tools mpi_order terminal frameworks \
	host_instrumented snippets install oracle mpi explore fix kernels mutate failures)))
SHELL_TESTS := $(shell_tests_long) $(filter-out $(shell_tests_long),$(wildcard tests/shell/test_*.sh))
SCHEMA_CHECK := $(OUT)/tests/schema_check

$(SCHEMA_CHECK): tests/shell/schema_check.c $(OUT)/obj/runtime/cli/findings/json_read.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@ $(JSON_LIBS)
-include $(SCHEMA_CHECK).d

# What they need built. Other fragments add to it.
.PHONY: shell-needs
shell-needs: build $(INTEGRATION) $(LITMUS) $(PARITY_SHARED) $(SCHEMA_CHECK)

.PHONY: test unit shell
shell: shell-needs
	@scripts/run-shell-tests.sh --jobs $(JOBS) $(OUT) $(SHELL_TESTS)
unit: $(UNIT) $(PARITY)
	@scripts/run-tests.sh --jobs $(JOBS) $(OUT)/tests/unit.log $(UNIT_RUN)

# Of the unit tests, too.
unit_long := $(filter $(addprefix %/test_,detect_random recording_output hook_graph_random lock_model ptx_damage hook_deferred_random \
	hook_delivery),$(UNIT))
# The others run for less time than -O2 takes to compile them. What they test has its own flags.
$(filter-out $(unit_long),$(UNIT)): private CFLAGS_ALL += $(if $(filter -O2,$(OPT)),-O1)
UNIT_RUN := $(unit_long) $(filter-out $(unit_long),$(UNIT) $(PARITY))

ifndef T
# Every part runs, whatever failed before; the last line adds them up and decides. Many shell tests and
# unit tests wait for a time, so make runs the shell tests beside the other parts, each with all jobs.
.PHONY: tests-begin tests-of-shell tests-others
tests-begin: shell-needs $(UNIT) $(PARITY) $(SAMPLES12)
	@rm -f $(OUT)/tests/*.count
tests-of-shell: tests-begin
	@scripts/run-shell-tests.sh --jobs $(JOBS) $(OUT) $(SHELL_TESTS) || true
tests-others: tests-begin
	@scripts/run-tests.sh --jobs $(JOBS) $(OUT)/tests/unit.log $(UNIT_RUN) || true
	@scripts/run-integration --root $(OUT) --device embedded --jobs $(JOBS) --verify tests/integration samples || true
	@$(MAKE) --no-print-directory test-cuda12-samples || true
	@scripts/compare-access --root $(OUT) --jobs $(JOBS) tests/integration/access_differences tests/integration samples || true
test: tests-of-shell tests-others
	@scripts/summary.sh $(OUT)/tests unit shell integration cuda12 access
endif
