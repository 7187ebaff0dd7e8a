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

test shell: $(ORACLE)

# What make fuzz plays, from SEED on. Its disagreement is in the output, and in the seed it names.
ORACLE_PROGRAMS ?= 10000000

.PHONY: fuzz-oracle
fuzz: fuzz-oracle
fuzz-oracle: build $(ORACLE)
	@$(ORACLE) --programs=$(ORACLE_PROGRAMS) --seed=$(SEED)
