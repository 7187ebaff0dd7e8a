# The corpus: programs whose kernels show how exactly csan knows what a kernel touches. classics are
# hand-written, triton launches the PTX that scripts/triton-corpus made of kernels.py: both are part
# of `make test`. cccl instantiates Thrust and CUB, which takes nvcc a while, and is built by
# `make corpus` alone, which runs every program of the tree and writes the table. PTX for one
# architecture only: no assembler runs. CORPUS_ARCH=90 or 120 shows how another generation of the
# compiler fares; each has its own objects.

CORPUS_ARCH ?= 75
CORPUS_OBJ  := $(UNSANITIZED)/obj/cuda/corpus-$(CORPUS_ARCH)
CORPUS_OUT  := $(OUT)/tests/corpus-$(CORPUS_ARCH)
TRITON      := $(CORPUS_OUT)/triton/launch
CLASSICS    := $(patsubst tests/corpus/%.cu,$(CORPUS_OUT)/%,$(wildcard tests/corpus/classics/*.cu))
CCCL        := $(patsubst tests/corpus/%.cu,$(CORPUS_OUT)/%,$(wildcard tests/corpus/cccl/*.cu))

# C++14 where it will do: its headers take nvcc half the time.
corpus_language = $(if $(filter classics/reduction triton/% cccl/%,$*),-std=c++17,-std=c++14)

$(CORPUS_OBJ)/%.o: tests/corpus/%.cu
	@mkdir -p $(@D)
	$(NVCC) -g $(corpus_language) -gencode arch=compute_$(CORPUS_ARCH),code=compute_$(CORPUS_ARCH) \
		-DCORPUS_SOURCE='"$(CURDIR)/tests/corpus"' -MMD -MF $(@:.o=.d) -c $< -o $@
$(CORPUS_OUT)/%: $(CORPUS_OBJ)/%.o | $(PRODUCTS)
	@mkdir -p $(@D)
	$(NVCC) -cudart shared $< -o $@ -L$(LIBDIR) -lcsan \
		-Xlinker -rpath='$$ORIGIN/../../../lib' -Xlinker -rpath='$$ORIGIN/../../../lib/csan'
.SECONDARY: $(TRITON:$(CORPUS_OUT)/%=$(CORPUS_OBJ)/%.o) $(CLASSICS:$(CORPUS_OUT)/%=$(CORPUS_OBJ)/%.o) $(CCCL:$(CORPUS_OUT)/%=$(CORPUS_OBJ)/%.o)
-include $(wildcard $(CORPUS_OBJ)/*/*.d)

# tests/shell/test_classics.sh runs them.
shell-needs: $(CLASSICS) $(TRITON)

# Writes to a file beside the table first: a table that failed replaces none.
.PHONY: corpus
corpus: build $(CLASSICS) $(TRITON) $(CCCL) $(INTEGRATION)
	@scripts/corpus-table --root $(OUT) --arch $(CORPUS_ARCH) >$(CORPUS_OUT)/TABLE.md || \
		{ cat $(CORPUS_OUT)/TABLE.md; exit 1; }
	@[ $(CORPUS_ARCH) = 75 ] && cp $(CORPUS_OUT)/TABLE.md tests/corpus/TABLE.md || true
	@sed -n '/^| group/,$$p' $(CORPUS_OUT)/TABLE.md | sed '/^| all/q'
