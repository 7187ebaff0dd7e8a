# libcsan.so.0: the driver hooks, the detector and the PTX reader in one library that exports what
# the two tables say, csan.h's functions and dlsym, and needs the C library alone. What it exports
# has default visibility; only functions of libraries have a version.

hook_table := runtime/hook/interpose/driver.table
hook_gen   := $(OUT)/gen/driver_hooks.h $(OUT)/gen/driver_stubs.c
hook_o     := $(call objects,$(hook_src) $(python_src)) $(OUT)/obj/gen/driver_stubs.o $(OUT)/obj/gen/library_stubs.o \
	$(OUT)/obj/gen/library_touch.o $(tracer_o)
LIBCSAN    := $(LIBDIR)/libcsan.so.0

$(hook_gen) &: $(hook_table) runtime/hook/interpose/generate.awk runtime/cuda/newer.h
	@mkdir -p $(OUT)/gen
	awk -v OUT=$(OUT)/gen -f runtime/hook/interpose/generate.awk $(hook_table) $(CUDA_HOME)/include/cudaTypedefs.h runtime/cuda/newer.h

library_table := runtime/hook/library/library.table
library_gen   := $(OUT)/gen/library_touch.c $(OUT)/gen/library_stubs.c $(OUT)/gen/libcsan.map \
	$(OUT)/gen/library_signatures.inc

$(library_gen) &: $(library_table) runtime/hook/library/generate.awk
	@mkdir -p $(OUT)/gen
	awk -v OUT=$(OUT)/gen -f runtime/hook/library/generate.awk $(library_table)

$(call objects,$(hook_src)): $(OUT)/gen/driver_hooks.h

# A program's numbers may be anything: what wraps around is left out where ranges are made.
$(OUT)/obj/runtime/hook/library/%.o $(OUT)/obj/gen/library_touch.o: EXTRA_CFLAGS += -fwrapv

$(OUT)/obj/gen/%.o: $(OUT)/gen/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(EXTRA_CFLAGS) $(CUDA_INCLUDE) -I$(OUT)/gen -MMD -MP -c $< -o $@

# The sanitizers' run-times call dlsym before they are set up: what defines it is never instrumented.
$(addprefix $(OUT)/obj/runtime/hook/,interpose/dlsym.o interpose/getenv.o interpose/libc_next.o host/lent_memory.o host/host_arguments.o host/host_calls.o \
	host/host_fault.o host/host_futex.o host/host_mappings.o host/host_rings.o host/host_strings.o host/host_syscall.o host/host_text.o host/host_waits.o host/debugger.o host/page_guard.o host/unguarded.o): CFLAGS_ALL := $(filter-out $(SANFLAGS),$(CFLAGS_ALL))
$(OUT)/obj/runtime/hook/host/host_strings.o: EXTRA_CFLAGS += -fno-builtin
$(OUT)/obj/runtime/hook/host/host_waits.o: EXTRA_CFLAGS += $(if $(filter thread,$(SANITIZE)),-DTHREAD_SANITIZER)

$(LIBCSAN): $(hook_o) $(OUT)/libcsan_core.a $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libptx.a $(OUT)/gen/libcsan.map $(GLIBC) \
		build/config.mk # says whether there is a tracer
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(GLIBC_LINK) -shared -Wl,-soname,libcsan.so.0 -Wl,--version-script=$(OUT)/gen/libcsan.map \
		-Wl,--exclude-libs,libzstd.a:liblz4.a -Wl,-z,relro -Wl,-z,now -Wl,-z,nodelete -Wl,-Bsymbolic $(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,--as-needed \
		-o $@ $(hook_o) -Wl,--whole-archive $(OUT)/libcsan_core.a -Wl,--no-whole-archive \
		-Wl,--start-group $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libptx.a -Wl,--end-group $(UNPACK) -lpthread -ldl

PRODUCTS += $(LIBCSAN)

# The tests of the hooks run against libcsan itself and a driver that does nothing.
FAKE := $(OUT)/tests/fake

$(FAKE)/libcuda.so.1 $(FAKE)/traced/libcuda.so.1: tests/unit/hook/fake_cuda.c tests/unit/hook/fake_graph.c \
		runtime/trace/trace.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) $(if $(findstring traced,$@),-DFAKE_TRACE) -Wno-shadow -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic \
		-o $@ $(filter %.c,$^) -ldl -lpthread

$(OUT)/obj/tests/unit/hook/hook_support.o: EXTRA_CFLAGS += $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE))"'

hook_tests := $(addprefix $(OUT)/tests/unit/,$(basename $(notdir $(wildcard tests/unit/hook/test_hook*.c tests/unit/hook/tracer/test_hook*.c))))
$(hook_tests): $(OUT)/tests/unit/%: %.c $(OUT)/obj/tests/unit/hook/hook_support.o $(LIBCSAN) $(FAKE)/libcuda.so.1 \
		$(FAKE)/traced/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE))"' -MMD -MP -MF $@.d $(unit_source) \
		-DSOURCE='"$(CURDIR)"' -DCSAN='"$(abspath $(OUT)/bin/csan)"' -DLIBCSAN='"$(abspath $(LIBCSAN))"' -o $@ \
		$(OUT)/obj/tests/unit/hook/hook_support.o -Wl,--no-as-needed $(LIBCSAN) -Wl,-rpath,$(abspath $(LIBDIR)) \
		-lcmocka $(UNPACK) -lpthread -ldl
$(OUT)/tests/unit/test_hook_run: $(OUT)/bin/csan
$(OUT)/tests/unit/test_hook_pool_query: $(FAKE)/libc10_cuda.so
$(FAKE)/libc10_cuda.so: tests/unit/hook/fake_c10.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -shared -o $@ $<

# Parts of libcsan, which exports nothing of them. hook_parts,TEST,OBJECTS
$(FAKE)/empty.so:
	@mkdir -p $(@D)
	echo | $(CC) -shared -x c - -o $@
hook_part_tests :=
define hook_parts
hook_part_tests += $$(OUT)/tests/unit/test_$(1)
$$(OUT)/tests/unit/test_$(1): $$(call objects,$$(foreach o,$(2),runtime/hook/$$(o).c))
endef
$(eval $(call hook_parts,prefetch,kernel/prefetch))
$(eval $(call hook_parts,known_contents,state/known_contents state/copied_values))
$(eval $(call hook_parts,index_range,operator/index_range state/copied_values))
$(eval $(call hook_parts,unverified,failure/unverified))
$(eval $(call hook_parts,launch_safety,launch/launch_safety))
$(eval $(call hook_parts,launch_accesses,kernel/kernel_description kernel/launch_accesses kernel/launch_pointer kernel/prefetch \
	state/known_contents state/copied_values state/graph_memory kernel/layout state/name))
$(eval $(call hook_parts,image_place,kernel/image_place))
$(eval $(call hook_parts,image_ptx,kernel/image kernel/image_place kernel/compiled_ptx kernel/identity))
$(eval $(call hook_parts,host_instruction,host/host_instruction))
$(eval $(call hook_parts,aarch64_instruction,host/aarch64_instruction))
$(eval $(call hook_parts,displaced_step,host/displaced_step host/aarch64_instruction))
$(eval $(call hook_parts,stopped,host/displaced_step host/aarch64_instruction))
$(eval $(call hook_parts,page_guard,host/page_guard host/unguarded))
$(eval $(call hook_parts,host_blocks,host/host_blocks))
$(eval $(call hook_parts,host_arguments,host/host_arguments))
$(eval $(call hook_parts,host_waits,host/host_waits host/host_blocks))
$(eval $(call hook_parts,host_text,host/host_text))
$(eval $(call hook_parts,debugger,host/debugger))
$(eval $(call hook_parts,pending_ranges,host/pending_ranges))
$(eval $(call hook_parts,source_content,host/source_content))
$(eval $(call hook_parts,fatal_signal,run/fatal_signal))
$(eval $(call hook_parts,identity,kernel/identity kernel/image_place))
$(eval $(call hook_parts,compiled_ptx,kernel/compiled_ptx kernel/identity kernel/image_place))
$(eval $(call hook_parts,layout,kernel/layout))
$(eval $(call hook_parts,graph_steps,graph/graph_steps graph/graph_steps_set))
$(eval $(call hook_parts,nap,session/nap))
$(eval $(call hook_parts,operator_ops,operator/operator_ops))
$(eval $(call hook_parts,host_address,operator/host_address))
$(eval $(call hook_parts,passed_bytes,operator/passed_bytes))
$(eval $(call hook_parts,process_tree,run/process_tree))
$(eval $(call hook_parts,tensor_map,state/tensor_map))
$(eval $(call hook_parts,nvtx_memory,api/nvtx_memory))
$(OUT)/tests/unit/test_nvtx_memory: $(OUT)/libcsan_core.a
library_rows := $(foreach o,touch blas workspace lt fft sparse communicator compiler linker,library/$(o)) \
	kernel/compiled_ptx kernel/identity kernel/image_place
$(eval $(call hook_parts,library_touch,$(library_rows)))
$(eval $(call hook_parts,library_sparse,$(library_rows)))
$(OUT)/tests/unit/test_library_touch $(OUT)/tests/unit/test_library_sparse: $(OUT)/obj/gen/library_touch.o
# It stands in front of functions that a sanitizer's run-time calls before it is set up.
$(OUT)/tests/unit/test_host_arguments $(OUT)/tests/unit/test_host_text: private CFLAGS_ALL := $(filter-out $(SANFLAGS),$(CFLAGS_ALL))
$(OUT)/tests/unit/test_image_place: private CFLAGS_ALL += -DEMPTY='"$(abspath $(FAKE)/empty.so)"'
$(OUT)/tests/unit/test_image_place: | $(FAKE)/empty.so
hook_part_tests += $(OUT)/tests/unit/test_python_lines $(OUT)/tests/unit/test_python_frames
$(OUT)/tests/unit/test_python_lines: $(OUT)/obj/runtime/python/lines.o
$(OUT)/tests/unit/test_python_frames: $(call objects,$(python_src))
$(OUT)/tests/unit/test_python_frames: CFLAGS_ALL += -rdynamic
$(hook_part_tests): $(OUT)/tests/unit/%: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DTEST_DATA='"$(CURDIR)/tests/data"' -MMD -MP -MF $@.d $(unit_source) $(filter %.o,$^) -o $@ \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(UNPACK) -lpthread -ldl

# What the host's instructions access, against objdump: FILES are any others, and random ones of AArch64.
.PHONY: compare-instruction-access compare-aarch64-access
access_lists := $(addprefix $(OUT)/tests/unit/,instruction_accesses aarch64_accesses)
$(OUT)/tests/unit/instruction_accesses: $(OUT)/obj/runtime/hook/host/host_instruction.o
$(OUT)/tests/unit/aarch64_accesses: $(OUT)/obj/runtime/hook/host/aarch64_instruction.o
$(access_lists): $(OUT)/tests/unit/%: tests/unit/hook/host/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(filter %.c %.o %.a,$^) -o $@
compare-instruction-access: $(OUT)/tests/unit/instruction_accesses
	scripts/compare-instruction-access $< $(or $(FILES),$(wildcard /usr/lib/x86_64-linux-gnu/libc.so.6 \
		/usr/lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6))
compare-aarch64-access: $(OUT)/tests/unit/aarch64_accesses
	scripts/compare-aarch64-access $< $(or $(RUNS),1000000) $(or $(SEED),1)
