# What a person does with the products: see the demo, install them, carry them away; and lint.

VERSION := $(shell awk '/define CSAN_VERSION_MAJOR/ { a = $$3 } /define CSAN_VERSION_MINOR/ { b = $$3 } END { print a "." b }' include/csan/csan.h)

.PHONY: demo install uninstall wheel deb dist lint lint-words lint-format lint-tidy lint-cppcheck

demo: build $(PROGRAM_OUT)/static/example_error $(PROGRAM_OUT)/static/example_error_fixed
	@scripts/demo.sh $(OUT)

# ---- Documents ----------------------------------------------------------------------------------
# tests/shell/test_reference.sh fails when they are older than what they are made from.

.PHONY: docs
docs: build
	@scripts/make-reference $(CSAN)

# ---- Install ------------------------------------------------------------------------------------
# Everything finds everything else relative to itself, so a tree may also be moved afterwards.

PREFIX ?= /usr/local
DESTDIR ?=
INSTALL_ROOT := $(DESTDIR)$(PREFIX)

# Where build tools find csan: fill_in,TEMPLATE,FILE.
PACKAGE := scripts/package
define fill_in
	sed 's/@VERSION@/$(VERSION)/g' $(PACKAGE)/$(1) >$(2)
endef

# install_tree,DIRECTORY: bin, lib and include as users see them
define install_tree
	@mkdir -p $(1)/bin $(1)/lib/pkgconfig $(1)/lib/cmake/csan $(1)/include $(1)/share/man/man1 \
		$(1)/share/bash-completion/completions $(1)/share/zsh/site-functions $(1)/share/csan
	cp -a $(OUT)/bin/csan $(1)/bin/
	cp -a $(OUT)/lib/. $(1)/lib/
	cp -a include/csan $(1)/include/
	$(call fill_in,csan.pc.in,$(1)/lib/pkgconfig/csan.pc)
	$(call fill_in,csan-config-version.cmake.in,$(1)/lib/cmake/csan/csan-config-version.cmake)
	cp $(PACKAGE)/csan-config.cmake $(1)/lib/cmake/csan/
	cp $(PACKAGE)/mpi.supp $(1)/share/csan/
	$(1)/bin/csan help --man >$(1)/share/man/man1/csan.1
	$(1)/bin/csan help --completion=bash >$(1)/share/bash-completion/completions/csan
	$(1)/bin/csan help --completion=zsh >$(1)/share/zsh/site-functions/_csan
endef

install: build
	$(call install_tree,$(INSTALL_ROOT))
	@rm -f $(INSTALL_ROOT)/lib/csan/libcudart.so.13
	cp -L $(CUDA_LIB)/libcudart.so.13 $(INSTALL_ROOT)/lib/csan/

uninstall:
	rm -f $(INSTALL_ROOT)/bin/csan $(INSTALL_ROOT)/lib/libcsan*
	rm -rf $(INSTALL_ROOT)/lib/csan $(INSTALL_ROOT)/lib/cmake/csan $(INSTALL_ROOT)/include/csan $(INSTALL_ROOT)/share/csan
	rm -f $(INSTALL_ROOT)/lib/pkgconfig/csan.pc
	rm -f $(INSTALL_ROOT)/share/man/man1/csan.1 $(INSTALL_ROOT)/share/bash-completion/completions/csan \
		$(INSTALL_ROOT)/share/zsh/site-functions/_csan

# What the products contain of other people's: linked statically, and compiled from headers. NOTICES
# has their licenses; a package that has copies of further libraries adds theirs.
CONTAINED := $(patsubst -l%,lib%.a,$(filter -l%,$(UNPACK) $(CLI_LIBS) $(JSON_LIBS))) /usr/include/uthash.h
NOTICES   := THIRD-PARTY-NOTICES

# ---- The wheel ----------------------------------------------------------------------------------
# csan-cuda: the installed tree in a Python package, and csan_torch. Debug information stays here.

WHEEL_TREE   := $(OUT)/wheel
WHEEL_OLDEST := $(GLIBC_OLDEST)

wheel: build
	@rm -rf $(WHEEL_TREE)
	@$(MAKE) --no-print-directory install PREFIX= DESTDIR=$(WHEEL_TREE)
	@scripts/bundle-libraries.sh $(WHEEL_TREE)/lib/csan libunwind.so.8
	@find $(WHEEL_TREE) -type f \( -name '*.so.*' -o -path '*/bin/*' \) ! -name 'libcudart.so.1[0-9]' -exec strip --strip-debug {} +
	@$(PACKAGE)/notices.sh $(OUT)/$(NOTICES) $(CONTAINED) libunwind.so.8 liblzma.so.5
	@{ cat LICENSE $(OUT)/$(NOTICES); \
		echo "lib/csan/libcudart.so.13 is a part of NVIDIA's CUDA Toolkit, under its license."; } >$(OUT)/gen/wheel-licenses
	@python3 $(PACKAGE)/wheel.py $(WHEEL_TREE) $(PYTHON_DIR) runtime/wheel $(VERSION) $(WHEEL_OLDEST) $(OUT)/gen/wheel-licenses $(OUT)
	@rm -rf $(WHEEL_TREE)

# In a root that has Python and nothing else (as root: debootstrap).
SUITE ?= bullseye
.PHONY: test-wheel
test-wheel: wheel
	@scripts/setup.sh root
	@scripts/test-wheel $(lastword $(sort $(wildcard $(OUT)/csan_cuda-$(VERSION)-*.whl))) $(SUITE)

# ---- Versions of CUDA ---------------------------------------------------------------------------

CUDA_VERSIONS ?= 12.0 12.4 12.8 12.9 13.0 13.5
.PHONY: test-cuda-matrix
test-cuda-matrix: build
	@scripts/test-cuda-matrix $(OUT) $(CUDA_VERSIONS)

# ---- The Debian package -------------------------------------------------------------------------

DEB            := $(OUT)/csan_$(VERSION)_amd64.deb
DEB_TREE       := $(OUT)/deb
DEB_MAINTAINER ?= csan <csan@localhost>
# How hard dpkg-deb compresses, 0 to 9; without it as hard as it does by itself.
DEB_LEVEL ?=

deb: build
	@rm -rf $(DEB_TREE)
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(DEB_TREE)
	@$(PACKAGE)/notices.sh $(OUT)/$(NOTICES) $(CONTAINED)
	@$(PACKAGE)/deb.sh $(DEB_TREE) $(VERSION) '$(DEB_MAINTAINER)' $(DEB) $(OUT)/$(NOTICES) $(DEB_LEVEL)
	@rm -rf $(DEB_TREE)

# ---- The RPM package ----------------------------------------------------------------------------

RPM      := $(OUT)/csan-$(VERSION)-1.$(shell uname -m).rpm
RPM_TREE := $(OUT)/rpm

.PHONY: rpm
rpm: build
	@rm -rf $(RPM_TREE)
	@$(MAKE) --no-print-directory install PREFIX=/opt/csan DESTDIR=$(RPM_TREE)
	@$(PACKAGE)/notices.sh $(OUT)/$(NOTICES) $(CONTAINED)
	@$(PACKAGE)/rpm.sh $(RPM_TREE) $(VERSION) '$(DEB_MAINTAINER)' $(RPM) $(OUT)/$(NOTICES)
	@rm -rf $(RPM_TREE)

# ---- Lint of packages and recipes ---------------------------------------------------------------

.PHONY: lint-packages
lint-packages: deb rpm
	@scripts/lint-packages $(DEB) $(RPM)

# ---- The tarball --------------------------------------------------------------------------------
# For a machine that has nothing installed but a C library (and, to use a GPU, its driver): the
# products, the libraries they open, the samples, and the integration programs ready to run.
# Each program with the static runtime repeats a megabyte of it, which xz finds.

DIST_NAME := csan-$(VERSION)-linux-x86_64
DIST      := dist/$(DIST_NAME)

# The samples for CUDA 12, and its runtime library for those that are linked with it.
define dist_cuda12
	mkdir -p $(DIST)/tests/cuda12 && cp -L $(CUDA12_HOME)/lib/libcudart.so.12 $(DIST)/lib/csan/ && \
		ln -sfn ../../bin $(DIST)/tests/cuda12/bin && ln -sfn ../../lib $(DIST)/tests/cuda12/lib && \
		cd $(CUDA12_ROOT) && cp --parents $(SAMPLES12_GPU:$(CUDA12_ROOT)/%=%) $(abspath $(DIST))/tests/cuda12/ && \
		ln -sfn ../../lib $(abspath $(DIST))/tests/cuda12/tests/lib
endef

.PHONY: dist-tree
dist: dist-tree
	tar -C dist -c $(DIST_NAME) | xz -T0 -3 > dist/$(DIST_NAME).tar.xz
	@ls -sh dist/$(DIST_NAME).tar.xz

dist-tree: build $(INTEGRATION) $(INTEGRATION_GPU) $(SAMPLES12_GPU) $(BENCH_PROGRAMS) $(NULL_HOOK) $(LITMUS) $(CLASSICS) $(TRITON) $(CUPTI_COUNTS)
	@rm -rf $(DIST)
	$(call install_tree,$(DIST))
	@rm -f $(DIST)/lib/csan/libcudart.so.13
	@cp -L $(CUDA_LIB)/libcudart.so.13 $(DIST)/lib/csan/
	@scripts/bundle-libraries.sh $(DIST)/lib/csan libunwind.so.8
	@scripts/bundle-libraries.sh $(DIST)/tests/lib libcmocka.so.0
	@mkdir -p $(DIST)/scripts $(DIST)/tests/integration $(DIST)/tests/programs
	@cp -a $(PROGRAM_OUT)/. $(DIST)/tests/programs/
	@cp -a $(STAND_INS) $(DIST)/tests/
	$(if $(SAMPLES12_GPU),@$(call dist_cuda12))
	@mkdir -p $(DIST)/tests/bench
	@cp -a $(OUT)/tests/bench/static $(OUT)/tests/bench/plain $(OUT)/tests/bench/plain-static $(NULL_HOOK) $(DIST)/tests/bench/
	@cp -a tests/integration/*.cu tests/integration/*.h tests/integration/units $(DIST)/tests/integration/
	@cp -a tests/integration/access_differences tests/integration/guard_differences $(DIST)/tests/integration/
	@cp -a tests/gpu tests/python $(DIST)/tests/
	@mkdir -p $(DIST)/tests/corpus $(DIST)/$(CORPUS_OUT:$(OUT)/%=%)
	@cp -a tests/corpus/classics tests/corpus/triton $(DIST)/tests/corpus/
	@cp -a $(CORPUS_OUT)/classics $(CORPUS_OUT)/triton $(DIST)/$(CORPUS_OUT:$(OUT)/%=%)/
	@mkdir -p $(DIST)/tests/torch
	@cp -a tests/bench/torch $(DIST)/tests/bench/
	@cp -a tests/torch/*.py tests/torch/programs $(DIST)/tests/torch/
	@cp -a samples $(DIST)/
	@cp -a $(addprefix scripts/,run-integration bench-launch gpu-present sarif-valid compare-access compare-guard compare-traces program-ways.sh) $(DIST)/scripts/
	@mkdir -p $(DIST)/runtime/hook/interpose
	@cp -a runtime/hook/interpose/driver.table $(DIST)/runtime/hook/interpose
	@cp -a scripts/run-gpu-tests.sh $(DIST)/
	@cp -a LICENSE $(wildcard *.md docs) $(DIST)/
	@$(PACKAGE)/notices.sh $(DIST)/$(NOTICES) $(CONTAINED) libunwind.so.8 liblzma.so.5 libcmocka.so.0
	@echo "libcudart.so.* and the CUDA runtime in programs are parts of NVIDIA's CUDA Toolkit, under its license." \
		>>$(DIST)/$(NOTICES)

# ---- Lint ---------------------------------------------------------------------------------------

LINT_C   := $(glibc_src) runtime/glibc/start.c $(mpi_src) $(threads_src) $(python_src) $(core_src) $(ptx_src) $(access_src) $(learn_src) $(sass_src) $(hook_src) $(tracer_src) $(rt_src) $(device_src) $(cudart_src) $(cli_src)
LINT_ALL  = $(shell git ls-files '*.c' '*.h' '*.cu')
LINT_FLAGS := -std=c11 -D_GNU_SOURCE -Iinclude -I. $(CUDA_INCLUDE) -I$(OUT)/gen \
	$(addprefix -isystem ,$(SANITIZER_INCLUDE)) -DTRACER_PATCHES= -DTRACER_FIRST_LAUNCH=

# Where this cppcheck is known to be wrong: values set through a pointer, checks inside of macros.
CPPCHECK_SUPPRESS := missingIncludeSystem uninitvar uninitStructMember legacyUninitvar \
	nullPointerRedundantCheck autoVariables unknownEvaluationOrder

lint: lint-words lint-format lint-cppcheck lint-tidy
lint-words:
	scripts/lint-words --self-check
	scripts/lint-words
lint-format:
	clang-format --dry-run -Werror $(LINT_ALL)
lint-cppcheck:
	cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
		$(CPPCHECK_SUPPRESS:%=--suppress=%) -Iinclude -I. -I$(OUT)/gen -j$(JOBS) $(LINT_C) $(unit_src)
lint-tidy: build
	printf '%s\n' $(LINT_C) | xargs -P$(JOBS) -n4 sh -c 'clang-tidy --quiet "$$@" -- $(LINT_FLAGS)' lint
