# libcsan_threads.so.0: interposes pthread's functions, for host_order=threads. It needs the C
# library alone, and does nothing until libcsan.so.0 registers its functions.

threads_src := $(wildcard runtime/threads/*.c)
LIBTHREADS  := $(LIBDIR)/libcsan_threads.so.0

# The sanitizers' run-times interpose the same functions.
$(call objects,$(threads_src)): CFLAGS_ALL := $(filter-out $(SANFLAGS),$(CFLAGS_ALL))

$(LIBTHREADS): $(call objects,$(threads_src)) $(GLIBC)
	@mkdir -p $(@D)
	$(CC) $(filter-out $(SANFLAGS),$(CFLAGS_ALL)) $(GLIBC_LINK) -shared -Wl,-soname,libcsan_threads.so.0 -Wl,-z,relro -Wl,-z,now \
		-Wl,-z,nodelete -Wl,-z,defs -Wl,--as-needed -o $@ $(filter %.o,$^) -lpthread -ldl
$(LIBDIR)/libcsan_threads.so: $(LIBTHREADS)
	ln -sf libcsan_threads.so.0 $@

PRODUCTS += $(LIBTHREADS) $(LIBDIR)/libcsan_threads.so
