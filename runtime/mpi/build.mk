# libcsan_mpi.so.0: stands in front of MPI's functions, for both families of MPI. It needs the C library
# alone: what it calls of MPI it finds in the process, and csan by csan.h.

mpi_src := $(wildcard runtime/mpi/*.c)
LIBMPI  := $(LIBDIR)/libcsan_mpi.so.0

$(LIBMPI): $(call objects,$(mpi_src)) $(GLIBC)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(GLIBC_LINK) -shared -Wl,-soname,libcsan_mpi.so.0 -Wl,-z,relro -Wl,-z,now -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -Wl,-Bsymbolic -Wl,--as-needed -o $@ $(filter %.o,$^) -ldl -lpthread
$(LIBDIR)/libcsan_mpi.so: $(LIBMPI)
	ln -sf libcsan_mpi.so.0 $@

PRODUCTS += $(LIBMPI) $(LIBDIR)/libcsan_mpi.so
