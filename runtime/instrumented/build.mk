# libcsan_host.so.0: takes the place of ThreadSanitizer's library under code that is compiled with
# -fsanitize=thread, for host=instrumented. It needs the C library alone.

instrumented_src := $(wildcard runtime/instrumented/*.c)
LIBHOST          := $(LIBDIR)/libcsan_host.so.0

# It is on the way of every load and store; what it does itself is announced to nobody. A function that crosses a line
# of 32 bytes costs twice as much. What is linked into programs reaches the library without stubs.
$(call objects,$(instrumented_src)): CFLAGS_ALL := $(filter-out $(SANFLAGS),$(CFLAGS_ALL)) -O3 $(if $(CROSS),,-mcx16) -fomit-frame-pointer -falign-functions=32 -fno-plt

$(LIBHOST): $(call objects,$(instrumented_src)) $(GLIBC)
	@mkdir -p $(@D)
	$(CC) $(filter-out $(SANFLAGS),$(CFLAGS_ALL)) $(GLIBC_LINK) -shared -Wl,-soname,libcsan_host.so.0 -Wl,-z,relro -Wl,-z,now \
		-Wl,-z,nodelete -Wl,-z,defs -Wl,-Bsymbolic -Wl,--as-needed -o $@ $(filter %.o,$^) -ldl
# -lcsan_host finds a linker script: the calls of loads and stores go into the program itself.
$(LIBDIR)/libcsan_host_calls.o: $(call objects,runtime/instrumented/calls.c)
	@mkdir -p $(@D)
	$(STRIP) --strip-debug $< -o $@
$(LIBDIR)/libcsan_host.so: runtime/instrumented/build.mk $(LIBHOST) $(LIBDIR)/libcsan_host_calls.o
	@rm -f $@
	echo 'INPUT(libcsan_host_calls.o libcsan_host.so.0) /* csan: announced loads and stores */' > $@

PRODUCTS += $(LIBHOST) $(LIBDIR)/libcsan_host_calls.o $(LIBDIR)/libcsan_host.so
