# csan's own CUDA libraries for the embedded device: libcublas.so.13 and the others, with the sonames
# and symbol versions of CUDA 13 and 12, of the same objects. `csan run` puts their folder on
# LD_LIBRARY_PATH. They find the embedded driver in the folder above, and OpenBLAS and FFTW at run time.

EMBEDDED_LIBRARIES := $(EMBEDDED)/libraries
library_dir  := runtime/device/library
library_made := $(OUT)/gen/device/library
library_each := $(addprefix $(library_dir)/,work.c cpu.c number.c)

# The parts of each; `code` is what a function that is not built returns.
parts_cublas   := $(addprefix $(library_dir)/,extent.c multiply.c) $(wildcard $(library_dir)/blas*.c)
code_cublas    := 15
parts_cublasLt := $(addprefix $(library_dir)/,multiply.c attributes.c blas_status.c lt.c lt_run.c)
code_cublasLt  := 15
parts_cufft    := $(addprefix $(library_dir)/,fft.c fft_run.c)
code_cufft     := 16
parts_curand   := $(library_dir)/rand.c
code_curand    := 204
parts_cusparse := $(wildcard $(library_dir)/sparse*.c)
code_cusparse  := 10
parts_cusolver := $(addprefix $(library_dir)/,extent.c solver.c solver_run.c)
code_cusolver  := 9

# The entries of cuBLAS and cuSOLVER, by the rows that say what calls touch.
$(library_made)/%_extents.c: $(library_table) runtime/hook/library/generate.awk
	@mkdir -p $(@D)
	awk -v OUT=$(@D) -v EXTENT=$* -f runtime/hook/library/generate.awk $(library_table)
made_cublas   := $(library_made)/cublas_extents.o
made_cusolver := $(library_made)/cusolver_extents.o

$(library_made)/%.o: $(library_made)/%.c
	$(CC) $(CFLAGS_ALL) -fno-builtin -fwrapv -MMD -MP -c $< -o $@
$(OUT)/obj/$(library_dir)/%.o: EXTRA_CFLAGS += -fwrapv

# embedded_library,NAME,MAJOR,CUDA VERSION
define embedded_library
$(library_made)/$(1).$(3).c: $(library_dir)/missing.sh $(library_dir)/symbols/$(1) \
		$$(call objects,$$(parts_$(1))) $$(made_$(1))
	@mkdir -p $$(@D)
	$(library_dir)/missing.sh $(library_dir)/symbols/$(1) $(3) $(2) $$(code_$(1)) \
		$$(call objects,$$(parts_$(1))) $$(made_$(1)) > $$@.new
	mv $$@.new $$@
$(EMBEDDED_LIBRARIES)/lib$(1).so.$(2): $$(call objects,$$(library_each) $$(parts_$(1))) $$(made_$(1)) \
		$(library_made)/$(1).$(3).o $(EMBEDDED_CUDA) $(GLIBC)
	@mkdir -p $$(@D)
	{ echo 'lib$(1).so.$(2) { global:'; sed 's/#.*//; /./s/\([^ ]*\).*/\1;/' $(library_dir)/symbols/$(1); \
		echo 'csan_library_traces; local: *; };'; } > $(library_made)/$(1).$(2).map
	$(CC) $(GLIBC_LINK) -shared $(SANFLAGS) -o $$@.new -Wl,-soname,lib$(1).so.$(2) -Wl,-z,nodelete \
		$(if $(SANITIZE),,-Wl,-z,defs) -static-libgcc -Wl,-rpath,'$$$$ORIGIN/..' \
		-Wl,--version-script=$(library_made)/$(1).$(2).map $$(filter %.o,$$^) $(EMBEDDED_CUDA) \
		-Wl,--as-needed -lpthread -ldl -lm
	mv $$@.new $$@
PRODUCTS += $(EMBEDDED_LIBRARIES)/lib$(1).so.$(2)
endef
$(eval $(call embedded_library,cublas,13,13))
$(eval $(call embedded_library,cublas,12,12))
$(eval $(call embedded_library,cublasLt,13,13))
$(eval $(call embedded_library,cublasLt,12,12))
$(eval $(call embedded_library,cufft,12,13))
$(eval $(call embedded_library,cufft,11,12))
$(eval $(call embedded_library,curand,10,13))
$(eval $(call embedded_library,cusparse,12,13))
$(eval $(call embedded_library,cusolver,12,13))
$(eval $(call embedded_library,cusolver,11,12))

# Their unit tests link the parts that they test. library_parts,TEST,PARTS
define library_parts
$$(OUT)/tests/unit/test_$(1): $$(call objects,$$(addprefix $$(library_dir)/,$(2)))
library_tests += $$(OUT)/tests/unit/test_$(1)
endef
$(eval $(call library_parts,number,number.c))
$(eval $(call library_parts,attributes,attributes.c))
$(eval $(call library_parts,multiply,multiply.c number.c cpu.c))
$(eval $(call library_parts,extent,extent.c number.c))
$(OUT)/tests/unit/test_extent: $(made_cublas) $(OUT)/obj/gen/library_touch.o $(call objects,$(foreach o,touch blas workspace lt fft sparse \
	communicator compiler linker,runtime/hook/library/$(o).c) $(foreach o,compiled_ptx identity image_place,runtime/hook/kernel/$(o).c)) \
	$(OUT)/libptx.a $(OUT)/libcsan_core.a
$(library_tests): $(OUT)/tests/unit/%: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -MF $@.d $(unit_source) $(filter %.o %.a,$^) -o $@ -lcmocka $(UNPACK) -lpthread -ldl -lm
