# aarch64: cross-built with Debian's compiler, and run by qemu-user. scripts/setup.sh aarch64 gets the compiler,
# qemu, and the target's libraries, which it unpacks into build/aarch64-root.
#
# Of the integration programs AARCH64_PROGRAMS are, and the samples without a framework, with NVIDIA's runtime for
# servers. AARCH64_PROGRAMS='*' are all. nvcc compiles them with the cross compiler; kernels are the same for every host.

AARCH64_ROOT := $(CURDIR)/build/aarch64-root
ifeq ($(CROSS),aarch64)
  CFLAGS_ALL += -isystem $(AARCH64_ROOT)/usr/include -isystem $(AARCH64_ROOT)/usr/include/aarch64-linux-gnu -L$(AARCH64_ROOT)/link
  UNPACK := -L$(AARCH64_ROOT)/link $(UNPACK)
  JSON_LIBS := -L$(AARCH64_ROOT)/link $(JSON_LIBS)
  CLI_LIBS := -L$(AARCH64_ROOT)/link $(CLI_LIBS)
endif

# Where the kernel starts programs by qemu for a user (Linux 6.7), shell tests run: AARCH64_SHELL_TESTS.

# All unit tests but these, for what qemu-user or the target lacks:
#   test_device_interprocess   qemu shows a process another /proc/self/stat than others see of it
#   test_code_cache, test_compile, test_compile_random, test_lockstep   it has no clone(2) as compilers are started by
#   test_fatal_signal, test_device_fault   it handles some signals itself
#   test_cudart, test_cudart_trampolines   programs of CUDA 12, whose wheels are those of the host
#   test_hook_process, test_hook_run, test_symbolizer   they start programs of the host
#   test_host_arguments, test_source_content   /proc/self/exe is qemu's, and it has no process_vm_readv
#   test_library_touch, test_library_sparse   they pass int for 64 bits, of which the stack has 32
#   test_detect_random, test_hook_graph_random, test_hook_operator_summary   take too long
aarch64_lacking := $(addprefix test_,device_interprocess code_cache compile compile_random lockstep fatal_signal \
	device_fault cudart cudart_trampolines hook_process hook_run symbolizer host_arguments source_content library_touch library_sparse \
	detect_random hook_graph_random hook_operator_summary)
aarch64_unit    := $(filter-out $(addprefix %/,$(aarch64_lacking)),$(UNIT))

# The last line's are what shell tests name. host_call_kinds makes a call that qemu lacks (process_vm_readv).
AARCH64_PROGRAMS ?= devices_event_orders event_* host_* mempool_reuse_* nvtx_pool_* stream_pool_* stream_same sync_callback waits_* \
	halt_on_error halves_disjoint halves_overlapping kernel_misaligned launch_past_end operator_output range_scatter_elsewhere stream_nonblocking_pair
aarch64_names    := $(sort $(basename $(notdir $(wildcard $(patsubst %,tests/integration/%.cu,$(AARCH64_PROGRAMS))))) \
	example_error example_error_fixed missing_wait missing_wait_fixed free_in_use free_in_use_fixed double_buffer double_buffer_fixed)
aarch64_names    := $(filter-out host_call_kinds $(notdir $(basename $(shell grep -l '^// machine: x86-64' tests/integration/*.cu))),$(aarch64_names))
aarch64_programs := $(filter $(foreach n,$(aarch64_names),%/$n),$(INTEGRATION))

.PHONY: test-aarch64 aarch64-unit aarch64-programs
test-aarch64:
	@scripts/setup.sh aarch64
	@$(MAKE) --no-print-directory CROSS=aarch64 aarch64-unit
aarch64-unit: $(CSAN) $(EMBEDDED_CUDA) $(EMBEDDED_CUDART) $(SCHEMA_CHECK) $(aarch64_unit) $(aarch64_programs)
	@AARCH64_NAMES='$(aarch64_names)' scripts/test-aarch64 --jobs $(JOBS) $(OUT) $(aarch64_unit)
# The programs alone, and recordings.
aarch64-programs: $(CSAN) $(EMBEDDED_CUDA) $(EMBEDDED_CUDART) $(SCHEMA_CHECK) $(aarch64_programs)
	@AARCH64_NAMES='$(aarch64_names)' scripts/test-aarch64 --jobs $(JOBS) $(OUT)
