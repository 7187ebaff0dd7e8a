# The oracle: random host programs, judged by brute force. tests/oracle/oracle.c says how.

ORACLE := $(OUT)/tests/oracle/oracle
ORACLE_PTX := build/data/oracle/kernels.ptx
oracle_o := $(call objects,$(wildcard tests/oracle/*.c))

$(ORACLE_PTX): tests/oracle/kernels.cu
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -arch=compute_75 -ptx $< -o $@

$(oracle_o): EXTRA_CFLAGS += $(CUDA_INCLUDE) -DORACLE_KERNELS='"$(CURDIR)/$(ORACLE_PTX)"'

# No rpath: oracle.c says where the libraries are, so that another libcsan can take the place.
$(ORACLE): $(oracle_o) $(ORACLE_PTX) $(LIBCSAN) $(EMBEDDED_CUDA)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(oracle_o) -o $@ -Wl,--no-as-needed $(LIBCSAN) $(EMBEDDED_CUDA) \
		-Wl,-rpath,$(abspath $(LIBDIR)):$(abspath $(EMBEDDED)),--enable-new-dtags -lpthread -ldl

shell-needs: $(ORACLE)

# What make fuzz plays, from SEED on. Its disagreement is in the output, and in the seed it names.
ORACLE_PROGRAMS ?= 10000000

.PHONY: fuzz-oracle
fuzz: fuzz-oracle
fuzz-oracle: build $(ORACLE)
	@$(ORACLE) --programs=$(ORACLE_PROGRAMS) --seed=$(SEED)

# A million, a third of them with plain loads and stores that option host=guard has to see, and a third
# with such that host=content may see. An hour on two processors.
.PHONY: fuzz-oracle-million
fuzz-oracle-million:
	@$(MAKE) --no-print-directory fuzz-oracle ORACLE_PROGRAMS=1000000

# Mistakes made on purpose in the detector and in the hooks' rules, each of which the oracle must find.
.PHONY: test-mutants mutant
test-mutants: build $(ORACLE)
	@scripts/test-mutants $(OUT)

# MUTANT: a directory with changed sources under src; MUTATED: what is to be compiled anew.
ifdef MUTANT
mutant_o := $(MUTATED:%=$(MUTANT)/obj/%.o)
mutant: $(MUTANT)/libcsan.so.0
$(MUTANT)/obj/%.o: $(MUTANT)/src/%.c
	@mkdir -p $(@D)
	$(CC) -I$(MUTANT)/src $(CFLAGS_ALL) $(CUDA_INCLUDE) -I$(OUT)/gen -O1 -w -c $< -o $@
$(MUTANT)/libcsan.so.0: $(mutant_o)
	$(CC) -shared -Wl,-soname,libcsan.so.0 -Wl,--version-script=$(OUT)/gen/libcsan.map -Wl,-z,now \
		-Wl,-Bsymbolic -o $@ $^ \
		$(filter-out $(MUTATED:%=$(OUT)/obj/%.o),$(hook_o) $(call objects,$(core_src))) \
		-Wl,--start-group $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libptx.a -Wl,--end-group $(UNPACK) \
		-lpthread -ldl
endif
