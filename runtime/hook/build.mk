# libcsan.so.0: the driver hooks, the detector and the PTX reader in one library that exports what
# the two tables say, csan.h's functions and dlsym, and needs the C library alone. What it exports
# has default visibility; only functions of libraries have a version.

hook_table := runtime/hook/driver.table
hook_gen   := $(OUT)/gen/driver_hooks.h $(OUT)/gen/driver_stubs.c
hook_o     := $(call objects,$(hook_src) $(python_src)) $(OUT)/obj/gen/driver_stubs.o $(OUT)/obj/gen/library_stubs.o \
	$(OUT)/obj/gen/library_touch.o $(tracer_o)
LIBCSAN    := $(LIBDIR)/libcsan.so.0

$(hook_gen) &: $(hook_table) runtime/hook/generate.awk
	@mkdir -p $(OUT)/gen
	awk -v OUT=$(OUT)/gen -f runtime/hook/generate.awk $(hook_table) $(CUDA_HOME)/include/cudaTypedefs.h

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
$(addprefix $(OUT)/obj/runtime/hook/,dlsym.o getenv.o libc_next.o): CFLAGS_ALL := $(filter-out $(SANFLAGS),$(CFLAGS_ALL))

$(LIBCSAN): $(hook_o) $(OUT)/libcsan_core.a $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libptx.a $(OUT)/gen/libcsan.map \
		build/config.mk # says whether there is a tracer
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libcsan.so.0 -Wl,--version-script=$(OUT)/gen/libcsan.map \
		-Wl,--exclude-libs,libzstd.a:liblz4.a -Wl,-z,relro -Wl,-z,now -Wl,-z,nodelete -Wl,-Bsymbolic $(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,--as-needed \
		-o $@ $(hook_o) -Wl,--whole-archive $(OUT)/libcsan_core.a -Wl,--no-whole-archive \
		-Wl,--start-group $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libptx.a -Wl,--end-group $(UNPACK) -lpthread -ldl

PRODUCTS += $(LIBCSAN)

# The tests of the hooks run against libcsan itself and a driver that does nothing.
FAKE := $(OUT)/tests/fake

$(FAKE)/libcuda.so.1 $(FAKE)/traced/libcuda.so.1: tests/unit/fake_cuda.c tests/unit/fake_graph.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) $(if $(findstring traced,$@),-DFAKE_TRACE) -Wno-shadow -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic \
		-o $@ $^ -ldl -lpthread

$(OUT)/obj/tests/unit/hook_support.o: EXTRA_CFLAGS += $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE))"'

hook_tests := $(patsubst %.c,$(OUT)/%,$(wildcard tests/unit/test_hook*.c))
$(hook_tests): $(OUT)/%: %.c $(OUT)/obj/tests/unit/hook_support.o $(LIBCSAN) $(FAKE)/libcuda.so.1 \
		$(FAKE)/traced/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DFAKE_DRIVER='"$(abspath $(FAKE))"' -MMD -MP -MF $@.d $< \
		-DSOURCE='"$(CURDIR)"' -DCSAN='"$(abspath $(OUT)/bin/csan)"' -DLIBCSAN='"$(abspath $(LIBCSAN))"' -o $@ \
		$(OUT)/obj/tests/unit/hook_support.o -Wl,--no-as-needed $(LIBCSAN) -Wl,-rpath,$(abspath $(LIBDIR)) \
		-lcmocka -lpthread -ldl
$(OUT)/tests/unit/test_hook_run: $(OUT)/bin/csan
$(OUT)/tests/unit/test_hook_poll: $(FAKE)/libc10_cuda.so
$(FAKE)/libc10_cuda.so: tests/unit/fake_c10.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -shared -o $@ $<

# Parts of libcsan, which exports nothing of them.
$(FAKE)/empty.so:
	@mkdir -p $(@D)
	echo | $(CC) -shared -x c - -o $@
$(OUT)/tests/unit/test_image_place: private CFLAGS_ALL += -DEMPTY='"$(abspath $(FAKE)/empty.so)"'
$(OUT)/tests/unit/test_ahead: $(OUT)/obj/runtime/hook/ahead.o
$(OUT)/tests/unit/test_content: $(OUT)/obj/runtime/hook/content.o
$(OUT)/tests/unit/test_direct: $(call objects,$(foreach o,direct base ahead content graph_memory layout name,runtime/hook/$(o).c))
$(OUT)/tests/unit/test_image_place: $(OUT)/obj/runtime/hook/image_place.o | $(FAKE)/empty.so
$(OUT)/tests/unit/test_image_ptx: $(call objects,$(foreach o,image image_place,runtime/hook/$(o).c))
$(OUT)/tests/unit/test_fatal_signal: $(OUT)/obj/runtime/hook/fatal_signal.o
$(OUT)/tests/unit/test_identity: $(call objects,$(foreach o,identity image_place,runtime/hook/$(o).c))
$(OUT)/tests/unit/test_layout: $(OUT)/obj/runtime/hook/layout.o
$(OUT)/tests/unit/test_merge: $(call objects,$(foreach o,merge merge_set,runtime/hook/$(o).c))
$(OUT)/tests/unit/test_parts: $(OUT)/obj/runtime/hook/parts.o
$(OUT)/tests/unit/test_process_tree: $(OUT)/obj/runtime/hook/process_tree.o
$(OUT)/tests/unit/test_tensor_map: $(OUT)/obj/runtime/hook/tensor_map.o
$(OUT)/tests/unit/test_library_touch: $(OUT)/obj/gen/library_touch.o \
	$(call objects,$(foreach o,touch blas lt fft communicator,runtime/hook/library/$(o).c))
$(OUT)/tests/unit/test_python_lines: $(OUT)/obj/runtime/python/lines.o
$(OUT)/tests/unit/test_python_frames: $(call objects,$(python_src))
$(OUT)/tests/unit/test_python_frames: CFLAGS_ALL += -rdynamic
$(foreach t,ahead content direct fatal_signal identity image_place image_ptx layout merge parts process_tree python_frames python_lines tensor_map library_touch,$(OUT)/tests/unit/test_$(t)): $(OUT)/%: %.c $(ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) -DTEST_DATA='"$(CURDIR)/tests/data"' -MMD -MP -MF $@.d $(filter %.c %.o,$^) -o $@ \
		-Wl,--start-group $(ARCHIVES) -Wl,--end-group -lcmocka $(UNPACK) -lpthread -ldl
