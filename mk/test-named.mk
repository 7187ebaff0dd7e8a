# make test T=NAME: what has that name, whatever kind of test it is; and no more is built than that
# needs. scripts/tests-named knows the names.

named   := $(shell scripts/tests-named '$(T)' 2>/dev/null | sed 's/ /:/; s/ /_/g')
named_of = $(patsubst $(1):%,%,$(filter $(1):%,$(named)))

named_unit    := $(filter $(addprefix %/,$(call named_of,unit)),$(UNIT) $(PARITY))
named_shell   := $(patsubst %,tests/shell/%.sh,$(call named_of,shell))
named_program := $(call named_of,program)

# A shell test names the programs that it runs, and the other files that it needs. A name may have two
# parts: that of a variable, and an ending, as ${sample}_fixed has.
named_words   := $(if $(named_shell),$(sort $(shell grep -ohE '[A-Za-z0-9_]+' $(named_shell))))
named_words   += $(foreach ending,$(filter _%,$(named_words)),$(addsuffix $(ending),$(named_words)))
if_named       = $(if $(filter $(1),$(named_words)),$(2))
shell_files   := $(foreach w,static plain,$(patsubst %,$(PROGRAM_OUT)/$w/%,$(filter $(program),$(named_words)))) \
	$(call if_named,oracle mutants,$(ORACLE)) $(call if_named,litmus,$(LITMUS)) \
	$(call if_named,classics,$(CLASSICS) $(TRITON)) $(call if_named,schema_check,$(SCHEMA_CHECK)) \
	$(call if_named,mpich,$(MPI_PROGRAMS)) \
	$(call if_named,program_kernels,$(PROGRAM_OBJ)/units/program_kernels.o) \
	$(call if_named,libparity,$(PARITY_SHARED)) $(call if_named,kernels,$(kernels_files)) \
	$(call if_named,fuzz_kernels,$(FUZZ)/fuzz_kernels $(fuzz_fixed))

.PHONY: test-named
test: test-named
test-named: $(named_unit) $(shell_files) $(if $(filter-out unit:%,$(named)),build) \
		$(foreach w,static shared plain,$(named_program:%=$(PROGRAM_OUT)/$w/%)) \
		$(if $(call named_of,rule),$(LITMUS)) $(if $(call named_of,mutant),$(ORACLE))
	@scripts/run-named-tests --root $(OUT) --jobs $(JOBS) '$(T)'
