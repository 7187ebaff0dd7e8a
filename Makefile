# csan: one Makefile, one build tree. `make help` lists the targets.
#
#   csan/*.c                   -> libcsan_core.a  \
#   runtime/ptx/*.c            -> libptx.a         > lib/libcsan.so.0     (driver hooks, csan_*)
#   runtime/access/*.c         -> libaccess.a     /
#   runtime/sass/*.c           -> libsass.a      /
#   runtime/learn/*.c          -> liblearn.a     /
#   runtime/hook/*.c           -> /
#   runtime/tracer/*.c         -> /
#   runtime/python/*.c         -> /
#   runtime/hook/rt/*.c        -> lib/libcsan_rt.so.0                     (runtime-API trampolines)
#   runtime/threads/*.c        -> lib/libcsan_threads.so.0                (pthread, for host_order=threads)
#   runtime/mpi/*.c            -> lib/libcsan_mpi.so.0                    (in front of MPI)
#   runtime/device/*.c         -> lib/csan/embedded/libcuda.so.1          (the embedded device)
#   runtime/device/cudart/*.c  -> lib/csan/embedded/libcudart.so.13 and libcudart.so.12
#   runtime/device/library/*.c -> lib/csan/embedded/libraries/libcublas.so.13 and others
#   runtime/cli/*.c            -> bin/csan
#   tests/unit/ROOM/test_X.c   -> tests/unit/test_X, linked with the archives of the room (mk/tests.mk)
#
# SANITIZE=1 builds everything with ASan+UBSan, SANITIZE=thread with TSan, each in its own tree.

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := build
SHELL := /bin/bash

# All processors, unless the user says how many: by -j, which make puts before what is set here, or
# by MAKEFLAGS in the environment. A make within make shares the jobs of the one that called it.
PROCESSORS := $(shell nproc)
ifeq ($(MAKELEVEL)$(filter -j% --jobs%,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),0)
  MAKEFLAGS += -j$(PROCESSORS)
endif
# How many jobs that are, for scripts that run programs. Only a recipe knows it.
JOBS = $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(PROCESSORS))

# V=1 shows the commands.
ifndef V
.SILENT:
endif

SANITIZE ?=
ifeq ($(SANITIZE),)
  OUT := build
else ifeq ($(SANITIZE),thread)
  OUT := build/tsan
  SANFLAGS := -fsanitize=thread -Wno-tsan # it does not follow fences, and gcc says so
else
  OUT := build/asan
  SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
endif

# CROSS=aarch64 builds what runs there, in a tree of its own: see mk/aarch64.mk.
CROSS ?=
ifneq ($(CROSS),)
  OUT := build/$(CROSS)
  CC  := $(CROSS)-linux-gnu-gcc
  CXX := $(CROSS)-linux-gnu-g++
endif
# Objects of nvcc, which the sanitizers' trees share.
UNSANITIZED := $(if $(CROSS),$(OUT),build)
STRIP := $(CROSS:%=%-linux-gnu-)strip
OBJCOPY := $(CROSS:%=%-linux-gnu-)objcopy
CC ?= gcc
ifeq ($(origin CC),default)
  CC := gcc
endif
# The order of locks is checked where speed does not count (csan/base/lock_order.h), and variables
# that nobody set begin as a pattern, which no test takes for a value.
ifneq ($(SANITIZE),)
  CHECKS := -DCSAN_CHECK_LOCKS \
	$(shell $(CC) -ftrivial-auto-var-init=pattern -xc -c -o /dev/null /dev/null 2>/dev/null && echo -ftrivial-auto-var-init=pattern)
endif
OPT ?= -O2
CFLAGS_ALL := -std=c11 -D_GNU_SOURCE $(OPT) -g -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
	-Wall -Wextra -Wshadow -Werror -Wno-missing-field-initializers \
	-Iinclude -I. $(SANFLAGS) $(CHECKS) $(CFLAGS)

# What setup found: CUDA_HOME, CUDA12_HOME. Made by scripts/setup.sh, which installs or explains what is missing.
ifeq ($(filter clean help distclean,$(MAKECMDGOALS)),)
  include build/config.mk
endif
build/config.mk: scripts/setup.sh
	@scripts/setup.sh

ifneq ($(CROSS),)
  CUDA_LIB := $(CURDIR)/build/$(CROSS)-root/cuda/lib
  NVCC := $(CUDA_HOME)/bin/nvcc -ccbin $(CXX) -I$(CUDA_HOME)/include -isystem $(CUDA_HOME)/include/cccl -L$(CUDA_LIB)
endif
NVCC ?= $(CUDA_HOME)/bin/nvcc
# Compiles for CUDA 12; not there where setup could not get it.
NVCC12 := $(CUDA12_HOME)/bin/nvcc
CUDA_INCLUDE := -isystem $(CUDA_HOME)/include

include mk/rooms.mk
-include mk/tests.mk
-include mk/corpus.mk
-include mk/fuzz.mk
-include mk/explore.mk
-include mk/dist.mk
-include mk/aarch64.mk
ifdef T
  include mk/test-named.mk
endif

.PHONY: build help clean distclean
build: $(PRODUCTS)

help:
	@echo "A contributor's first hour is in CONTRIBUTING.md."
	@echo
	@echo "make                       build the libraries and the csan command into $(OUT)/, with all processors (-jN:"
	@echo "                           with N)"
	@echo "make demo                  set up, build, and watch csan find the race in samples/example_error.cu"
	@echo "make install               PREFIX=/usr/local DESTDIR=; make uninstall"
	@echo "make dist                  a relocatable tarball in dist/"
	@echo "make deb                   a Debian package, in $(OUT)/; make rpm: an RPM package"
	@echo "make wheel                 the wheel csan-cuda for pip, in $(OUT)/: the command, its libraries, csan_torch"
	@echo "make docs                  the pages of docs/reference that repeat what the code says: options, commands,"
	@echo "                           keys of reports, the C API"
	@echo "make clean                 delete what was built; make distclean: what setup fetched, too"
	@echo
	@echo "make test                  all tests that need no GPU (SANITIZE=1: under ASan+UBSan; SANITIZE=thread: TSan)"
	@echo "make test T=NAME           the tests of that name: T=queue, T=install, T=event_wait_chain; or all whose names"
	@echo "                           match: T='event_*'; begin so: T=event_wait; or of a room: T=detector"
	@echo "make unit                  of these the unit tests; make shell: those of the command line;"
	@echo "                           make integration: the small programs on the embedded device"
	@echo "make test-cuda12           the integration programs built for CUDA 12 (make test: the samples)"
	@echo "make test-cuda-matrix      the samples, built by toolkits from NVIDIA's wheels: CUDA_VERSIONS='12.4 13.5'"
	@echo "make test-aarch64          detector, hooks, embedded device and command, built for aarch64 and run by qemu-user"
	@echo "                           make CROSS=aarch64 aarch64-unit, aarch64-programs, aarch64-shell: its parts"
	@echo "make test-wheel            the wheel in a root with Python alone (as root: debootstrap): SUITE=bullseye"
	@echo "make test-mpi-versions     the MPI tests with newer versions, from Python's packages"
	@echo "make test-torch-versions   the adapter with PyTorch 2.3 to the newest: TORCH_VERSIONS='2.8.0 newest'"
	@echo "make fuzz                  random kernels, host programs and damaged inputs: RUNS=1000000 SEED=1"
	@echo "                           FUZZ_SECONDS=60 ORACLE_PROGRAMS=10000000; one of them alone: make fuzz-kernels,"
	@echo "                           fuzz-inputs, fuzz-oracle; a million host programs: make fuzz-oracle-million"
	@echo "make fuzz-compiled         random kernels on the embedded device, interpreted and compiled: RUNS=1000000 SEED=1 COMPILER=tcc"
	@echo "make test-mutants          breaks csan on purpose: does the oracle find each mistake?"
	@echo "make litmus                each rule of CUDA's order: what is promised, seen on this machine, and said by csan"
	@echo "make explore-samples       confirm the samples' races; a thousand schedules of each fix"
	@echo "make explore-programs      csan explore over every integration program: EXPLORE_RUNS=20"
	@echo "make compare-access        the integration programs' verdicts by PTX and learned: the same, or listed"
	@echo "make compare-guard         the integration programs without and with host=guard: the same, or listed"
	@echo "make compare-traces        what every launch touched, against its PTX and from run to run"
	@echo "make compare-machine-code  what machine code reads of its parameters and accesses, against nvdisasm"
	@echo "                           (make compare-machine-code-of-programs: of the kernels of all programs)"
	@echo "                           (NVDISASM=PATH; with -of-programs behind it: of the cubins of all integration programs)"
	@echo "make compare-instruction-access   what instructions of the host access, against objdump: FILES='PATH...'"
	@echo "make compare-aarch64-access   the same of an AArch64 host, for random instructions: RUNS=1000000 SEED=1"
	@echo "make corpus                how exactly csan knows what every kernel of the tree touches"
	@echo "make lint                  retired words, clang-format, clang-tidy, cppcheck; one alone: make lint-words,"
	@echo "                           lint-format, lint-tidy, lint-cppcheck"
	@echo "make lint-packages         the recipes for containers and conda, and the packages of make deb and make rpm"
	@echo
	@echo "make test-gpu              the integration programs on a real GPU; skips where there is none"
	@echo "make test-gpu-access       there, too: what launches touch, and what is known of it"
	@echo
	@echo "make bench                 speed and memory figures"
	@echo "make bench-reports         what a report costs the program"
	@echo "make bench-launch          what a launch costs with csan and without, on a GPU"
	@echo "make bench-mpi             what csan adds to a message of MPI, within one run"
	@echo "make bench-ranks           what csan merge --order takes for 64 ranks and a million entries"
	@echo "make bench-torch           a PyTorch training step with csan, and with what else there is"
	@echo "make bench-torch-engine    csan's engine against PyTorch's EventHandler"

clean:
	rm -rf $(OUT)/obj $(OUT)/lib $(OUT)/bin $(OUT)/tests $(OUT)/gen $(OUT)/*.a
distclean:
	rm -rf build dist
