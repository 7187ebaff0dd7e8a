# libcsan_rt.so.0: trampolines for every function of the CUDA runtime libraries of CUDA 12 and 13, by
# cudart.table; and lib/libcsan.so, what -lcsan finds.

LIBCSAN_RT  := $(LIBDIR)/libcsan_rt.so.0
rt_gen      := $(addprefix $(OUT)/gen/,runtime_stubs.S runtime_names.inc runtime.map \
	cudart.12.map cudart.13.map cudart_symbols.12 cudart_symbols.13)

$(rt_gen) &: runtime/hook/rt/cudart.table runtime/hook/rt/generate.awk
	@mkdir -p $(OUT)/gen
	awk -v OUT=$(OUT)/gen -f runtime/hook/rt/generate.awk runtime/hook/rt/cudart.table

$(OUT)/obj/runtime/hook/rt/resolve.o: $(OUT)/gen/runtime_names.inc
# It forwards calls that the sanitizers' own run-times may make: never instrumented.
$(call objects,$(rt_src)): SANFLAGS :=
$(OUT)/obj/gen/runtime_stubs.o: $(OUT)/gen/runtime_stubs.S
	@mkdir -p $(@D)
	$(CC) -c $< -o $@

$(LIBCSAN_RT): $(call objects,$(rt_src)) $(OUT)/obj/gen/runtime_stubs.o $(OUT)/gen/runtime.map $(LIBCSAN)
	@mkdir -p $(@D)
	$(CC) -shared -o $@.new -Wl,-soname,libcsan_rt.so.0 -Wl,--version-script=$(OUT)/gen/runtime.map \
		-Wl,-Bsymbolic -Wl,-z,relro -Wl,-z,now -Wl,-z,nodelete -static-libgcc \
		$(call objects,$(rt_src)) $(OUT)/obj/gen/runtime_stubs.o \
		-Wl,--no-as-needed $(LIBCSAN) -Wl,--as-needed -lpthread -ldl -Wl,-rpath,'$$ORIGIN'
	mv $@.new $@

# -lcsan finds a linker script that names both libraries. link.o makes the program need libcsan.so.0
# itself, and so search it before the C library.
$(LIBDIR)/libcsan_link.o: runtime/hook/rt/link.S
	@mkdir -p $(@D)
	$(CC) -c $< -o $@
$(LIBDIR)/libcsan.so: runtime/hook/rt/build.mk $(LIBDIR)/libcsan_link.o
	@mkdir -p $(@D)
	echo 'INPUT(libcsan_link.o libcsan.so.0 libcsan_rt.so.0) /* csan: the driver and runtime API */' > $@

# The toolkit's own runtime library, for programs on a GPU; installing copies it.
$(LIBDIR)/csan/libcudart.so.13:
	@mkdir -p $(@D)
	ln -sf $(CUDA_LIB)/libcudart.so.13 $@

PRODUCTS += $(LIBCSAN_RT) $(LIBDIR)/libcsan.so $(LIBDIR)/csan/libcudart.so.13

# Its test: a program linked as users link theirs.
TRAMPOLINE_PROGRAM := $(OUT)/tests/data/trampoline_program
$(TRAMPOLINE_PROGRAM): tests/data/cudart/trampoline_program.c $(LIBCSAN_RT) $(LIBDIR)/libcsan.so
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) $< -o $@ -Wl,--as-needed -L$(LIBDIR) -lcsan -lpthread -ldl
$(OUT)/tests/unit/test_cudart_trampolines: $(TRAMPOLINE_PROGRAM)
$(OUT)/tests/unit/test_cudart_trampolines: CUDA_INCLUDE += -DLIBDIR='"$(abspath $(LIBDIR))"' \
	-DCHECK_TABLE='"$(CURDIR)/scripts/check-cudart-table"' -DTRAMPOLINE_PROGRAM='"$(abspath $(TRAMPOLINE_PROGRAM))"'
