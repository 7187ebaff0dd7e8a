# The MPI tests: one program of all cases, a Jacobi solver, a halo exchange and a ping-pong, for each MPI
# that is installed. Kernels are compiled once; the rest is C.

MPI_TESTS := $(OUT)/tests/mpi
mpis      := $(if $(CROSS),,$(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$m),$m)))
mpi_shared := $(MPI_TESTS)/kernels.o
mpi_cases := $(wildcard tests/mpi/*_cases.c) tests/mpi/main.c
mpi_alone := jacobi halo ping_pong dies touches abi_check layout_check shared spawn

# Of a compiler's wrapper: what it would add. Its own name for the compiler is left out.
mpi_flags = $(shell mpicc.$(1) -show | sed 's/^[^ ]* //')

$(MPI_TESTS)/kernels.o: tests/mpi/kernels.cu tests/mpi/kernels.h
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	$(NVCC) -g -std=c++14 -c $< -o $@

define mpi_program
$(MPI_TESTS)/$(1)/cases: $(mpi_cases) tests/mpi/cases.h include/csan/csan.h $(mpi_shared)
	@mkdir -p $$(@D)
	@echo "  CC  tests/mpi/*_cases.c ($(1))"
	$(CC) -g -O1 -std=c11 -D_GNU_SOURCE -Wall -Wno-stringop-overflow -Iinclude $(CUDA_INCLUDE) $(mpi_cases) $(mpi_shared) -o $$@ \
		$$(call mpi_flags,$(1)) -L$(CUDA_LIB) -lcudart -lstdc++ -lm
$(MPI_TESTS)/$(1)/shared: tests/mpi/shared_orders.h
$(MPI_TESTS)/$(1)/abi_check: runtime/mpi/abi.c runtime/mpi/abi.h
$(MPI_TESTS)/$(1)/layout_check: runtime/mpi/abi.c runtime/mpi/layout.c runtime/mpi/layout.h runtime/mpi/abi.h
$(mpi_alone:%=$(MPI_TESTS)/$(1)/%): $(MPI_TESTS)/$(1)/%: tests/mpi/%.c tests/mpi/kernels.h $(mpi_shared)
	@mkdir -p $$(@D)
	@echo "  CC  $$< ($(1))"
	$(CC) -g -O1 -std=c11 -D_GNU_SOURCE -Wall -Wno-stringop-overflow -Iinclude -I. $(CUDA_INCLUDE) $$< \
		$$(if $$(filter abi_check layout_check,$$*),runtime/mpi/abi.c) $$(if $$(filter layout_check,$$*),runtime/mpi/layout.c) $(mpi_shared) -o $$@ \
		$$(call mpi_flags,$(1)) -L$(CUDA_LIB) -lcudart -lstdc++ -lm -ldl
$(MPI_TESTS)/$(1)/linked: tests/mpi/halo.c $(mpi_shared) | $(PRODUCTS)
	@echo "  CC  $$< ($(1), linked with csan)"
	$(CC) -g -O1 -std=c11 -D_GNU_SOURCE -Wall -Wno-stringop-overflow -Iinclude -I. $(CUDA_INCLUDE) $$< $(mpi_shared) -o $$@ \
		-L$(LIBDIR) -lcsan -lcsan_mpi $$(call mpi_flags,$(1)) -L$(CUDA_LIB) -lcudart -lstdc++ -lm \
		-Wl,-rpath,'$$$$ORIGIN/../../../lib' -Wl,-rpath,'$$$$ORIGIN/../../../lib/csan'
$(MPI_TESTS)/$(1)/fortran: tests/mpi/fortran.f90 $(mpi_shared)
	@echo "  FC  $$< ($(1))"
	mpif90.$(1) -g $$< $(mpi_shared) -J $$(@D) -o $$@ -L$(CUDA_LIB) -lcudart -lstdc++
endef
$(foreach m,$(mpis),$(eval $(call mpi_program,$m)))

# Fortran's modules are those of one compiler.
fortran := $(if $(shell command -v gfortran),fortran)
MPI_PROGRAMS := $(foreach m,$(mpis),$(addprefix $(MPI_TESTS)/$m/,cases linked $(mpi_alone) \
	$(if $(shell command -v mpif90.$m),$(fortran))))
shell-needs: $(MPI_PROGRAMS)

# With the newest Open MPI and MPICH of Python's packages, too.
.PHONY: test-mpi-versions
test-mpi-versions: build $(MPI_TESTS)/kernels.o
	@scripts/test-mpi-versions $(OUT) $(OUT)/mpi-versions

# What csan adds to a message; with CSAN_DEVICE=embedded on a machine without GPU.
.PHONY: bench-mpi
bench-mpi: build $(foreach m,$(mpis),$(MPI_TESTS)/$m/ping_pong)
	@scripts/bench-mpi $(OUT)
