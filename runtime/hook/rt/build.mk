# libcsan_rt.so.0: trampolines for every function of the CUDA runtime libraries of CUDA 12 and 13, by
# cudart.table; and lib/libcsan.so, what -lcsan finds.

LIBCSAN_RT  := $(LIBDIR)/libcsan_rt.so.0
rt_gen      := $(addprefix $(OUT)/gen/,runtime_stubs.S runtime_names.inc runtime_only.inc runtime.map \
	cudart.12.map cudart.13.map cudart_symbols.12 cudart_symbols.13)

$(rt_gen) &: runtime/hook/rt/cudart.table runtime/hook/rt/generate.awk
	@mkdir -p $(OUT)/gen
	awk -v OUT=$(OUT)/gen -f runtime/hook/rt/generate.awk runtime/hook/rt/cudart.table

$(OUT)/obj/runtime/hook/rt/resolve.o: $(OUT)/gen/runtime_names.inc
$(OUT)/obj/runtime/hook/rt/version.o: $(OUT)/gen/runtime_only.inc
# It forwards calls that the sanitizers' own run-times may make: never instrumented.
$(call objects,$(rt_src)): SANFLAGS :=
$(OUT)/obj/gen/runtime_stubs.o: $(OUT)/gen/runtime_stubs.S
	@mkdir -p $(@D)
	$(CC) -c $< -o $@

$(LIBCSAN_RT): $(call objects,$(rt_src)) $(OUT)/obj/gen/runtime_stubs.o $(OUT)/gen/runtime.map $(LIBCSAN) $(GLIBC)
	@mkdir -p $(@D)
	$(CC) $(GLIBC_LINK) -shared -o $@.new -Wl,-soname,libcsan_rt.so.0 -Wl,--version-script=$(OUT)/gen/runtime.map \
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

# A program that is not built with a sanitizer gets its run-time preloaded.
CUDART_SANITIZER :=
ifneq ($(SANITIZE),)
  CUDART_SANITIZER := LD_PRELOAD=$(shell $(CC) -print-file-name=$(if $(filter thread,$(SANITIZE)),libtsan,libasan).so) \
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0:exitcode=99
endif

# Its tests: a program linked as users link theirs; and the runtime API's program (tests/data/cudart),
# which checks the version that it gets, built for both versions and linked in the ways there are. Of
# `host` the compiler made no kernel.
TRAMPOLINE_PROGRAM := $(OUT)/tests/data/trampoline_program
$(TRAMPOLINE_PROGRAM): tests/data/cudart/trampoline_program.c $(LIBCSAN_RT) $(LIBDIR)/libcsan.so
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(CUDA_INCLUDE) $< -o $@ -Wl,--as-needed -L$(LIBDIR) -lcsan -lpthread -ldl

LINKED_VERSIONS := 13 $(if $(wildcard $(CUDA12_HOME)/bin/nvcc),12)
LINKED_PROGRAMS := $(foreach v,$(LINKED_VERSIONS),$(addprefix $(OUT)/tests/data/linked$(v)_,static shared host))
linked_nvcc = $(if $(findstring linked12,$@),$(NVCC12),$(NVCC)) -L$(LIBDIR) -lcsan $< -o $@
$(OUT)/tests/data/linked%_static: build/obj/runtime_api/%_plain.o $(LIBCSAN_RT) $(LIBDIR)/libcsan.so
	@mkdir -p $(@D)
	$(linked_nvcc) -arch=sm_90
$(OUT)/tests/data/linked%_shared: build/obj/runtime_api/%_plain.o $(LIBCSAN_RT) $(LIBDIR)/libcsan.so
	@mkdir -p $(@D)
	$(linked_nvcc) -arch=sm_90 -cudart shared -Xlinker --no-as-needed
$(OUT)/tests/data/linked%_host: tests/data/cudart/host_only.cpp $(LIBCSAN_RT) $(LIBDIR)/libcsan.so
	@mkdir -p $(@D)
	$(linked_nvcc) -std=c++17 -Xcompiler -Wno-deprecated-declarations

$(OUT)/tests/unit/test_cudart_trampolines: $(TRAMPOLINE_PROGRAM) $(LINKED_PROGRAMS) $(EMBEDDED_CUDART) \
	$(EMBEDDED_CUDART12) $(EMBEDDED_CUDA)
$(OUT)/tests/unit/test_cudart_trampolines: CUDA_INCLUDE += -DLIBDIR='"$(abspath $(LIBDIR))"' \
	-DCHECK_TABLE='"$(CURDIR)/scripts/check-cudart-table"' -DTRAMPOLINE_PROGRAM='"$(abspath $(TRAMPOLINE_PROGRAM))"' \
	-DSANITIZER='"$(CUDART_SANITIZER) "' -DPROGRAMS='"$(abspath $(OUT)/tests/data)"' -DCUDA12_LIB='"$(CUDA12_HOME)/lib"' -DCUDA_LIB='"$(CUDA_LIB)"'
