# What the PTX and access tests read: tests/data/ptx/*.cu compiled by the toolkit's nvcc, in every
# form that programs carry PTX in. The sanitizers' builds share it.

PTX_DATA  := build/data/ptx
ptx_names := language cooperative library
ptx_corpus := $(foreach n,$(ptx_names),$(foreach a,75 90 100,$(PTX_DATA)/$(n).sm_$(a).ptx)) \
	$(PTX_DATA)/language.debug.ptx $(PTX_DATA)/language.lines.ptx
ptx_fatbins := $(foreach m,none size speed balance,$(PTX_DATA)/fatbin.$(m).fatbin) \
	$(PTX_DATA)/fatbin.several.fatbin $(PTX_DATA)/fatbin.library.fatbin
access_corpus := $(foreach n,directions objects,$(foreach a,75 90 100,$(PTX_DATA)/$(n).sm_$(a).ptx))
describe_corpus := $(foreach a,75 90 100,$(PTX_DATA)/describe.sm_$(a).ptx)
range_corpus := $(foreach a,75 90 100,$(PTX_DATA)/ranges.sm_$(a).ptx)
ptx_cubins := $(addprefix $(PTX_DATA)/,fatbin.lines.cubin fatbin.lines.ptx fatbin.bare.cubin linked.cubin)
ptx_units := $(PTX_DATA)/unit_a.relfatbin $(PTX_DATA)/unit_b.relfatbin
# C++14 where it will do: its headers take nvcc half the time, and the PTX is the same.
ptx_language = $(if $(filter cooperative directions library,$(basename $(<F))),,-std=c++14)
PTX_NVCC  = @mkdir -p $(PTX_DATA) && $(NVCC) -w $(ptx_language)

$(PTX_DATA)/%.sm_75.ptx: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=compute_75 -ptx $< -o $@
$(PTX_DATA)/%.sm_90.ptx: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=compute_90 -ptx $< -o $@
$(PTX_DATA)/%.sm_100.ptx: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=compute_100 -ptx $< -o $@
$(PTX_DATA)/%.debug.ptx: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=compute_90 -G -ptx $< -o $@
$(PTX_DATA)/%.lines.ptx: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=compute_90 -lineinfo -rdc=true -ptx $< -o $@
$(PTX_DATA)/fatbin.several.fatbin: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -gencode arch=compute_75,code=[sm_75,compute_75] \
		-gencode arch=compute_90,code=[sm_90,compute_90] \
		-gencode arch=compute_100,code=compute_100 -fatbin $< -o $@
$(PTX_DATA)/fatbin.library.fatbin: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=compute_90 -fatbin $< -o $@
$(PTX_DATA)/fatbin.%.fatbin: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -arch=sm_90 --compress-mode=$* -fatbin $< -o $@
$(PTX_DATA)/fatbin.lines.cubin: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -arch=sm_90 -lineinfo -cubin $< -o $@
$(PTX_DATA)/fatbin.lines.ptx: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -arch=sm_90 -lineinfo -ptx $< -o $@
$(PTX_DATA)/fatbin.bare.cubin: tests/data/ptx/fatbin.cu
	$(PTX_NVCC) -arch=sm_90 -cubin $< -o $@
$(PTX_DATA)/unit_%.cubin: tests/data/ptx/unit_%.cu
	$(PTX_NVCC) -arch=sm_90 -rdc=true -lineinfo -cubin $< -o $@
$(PTX_DATA)/linked.cubin: $(PTX_DATA)/unit_a.cubin $(PTX_DATA)/unit_b.cubin
	$(dir $(firstword $(NVCC)))nvlink -arch=sm_90 $^ -o $@
$(PTX_DATA)/%.relfatbin: tests/data/ptx/%.cu
	$(PTX_NVCC) -arch=sm_90 -rdc=true -c $< -o $@.o
	@$(OBJCOPY) -O binary --only-section=__nv_relfatbin --set-section-flags __nv_relfatbin=alloc $@.o $@

$(OUT)/tests/unit/test_ptx_corpus: $(ptx_corpus)
$(OUT)/tests/unit/test_ptx_damage: $(ptx_corpus)
$(OUT)/tests/unit/test_ptx_outline: $(ptx_corpus)
$(OUT)/tests/unit/test_image_ptx: | $(ptx_fatbins) $(ptx_units) $(ptx_cubins)
$(OUT)/tests/unit/test_ptx_link: $(ptx_units)
$(OUT)/tests/unit/test_fatbin: $(ptx_fatbins) $(ptx_units) $(ptx_cubins)
$(OUT)/tests/unit/test_describe: $(describe_corpus) $(access_corpus) $(ptx_corpus)
$(OUT)/tests/unit/test_access_set: $(range_corpus)
$(OUT)/tests/unit/test_access_direction: $(access_corpus) $(ptx_corpus)

# What tests/shell/test_kernels.sh reads: the same kernels in every form that a file can have.
KERNELS_DATA := $(UNSANITIZED)/data/kernels
kernels_src  := tests/data/kernels/scale.cu
kernels_part := tests/data/kernels/part.cu
KERNELS_NVCC  = @mkdir -p $(KERNELS_DATA) && $(NVCC) -w -std=c++14 -arch=sm_90
kernels_files := $(addprefix $(KERNELS_DATA)/,static shared separate library.so whole.o unit.o \
	part.o text.ptx code.cubin code_100.cubin lines.cubin both.fatbin no_ptx fixed stripped archive.a)

$(kernels_files): tests/data/kernels/part.h
$(KERNELS_DATA)/static: $(kernels_src)
	$(KERNELS_NVCC) $< -o $@
$(KERNELS_DATA)/shared: $(kernels_src)
	$(KERNELS_NVCC) -cudart shared $< -o $@
$(KERNELS_DATA)/separate: $(kernels_src) $(kernels_part)
	$(KERNELS_NVCC) -rdc=true $(kernels_src) $(kernels_part) -o $@
$(KERNELS_DATA)/library.so: $(kernels_src)
	$(KERNELS_NVCC) -shared -Xcompiler -fPIC $< -o $@
$(KERNELS_DATA)/whole.o: $(kernels_src)
	$(KERNELS_NVCC) -c $< -o $@
$(KERNELS_DATA)/unit.o: $(kernels_src)
	$(KERNELS_NVCC) -rdc=true -c $< -o $@
$(KERNELS_DATA)/part.o: $(kernels_part)
	$(KERNELS_NVCC) -rdc=true -c $< -o $@
$(KERNELS_DATA)/text.ptx: $(kernels_src)
	$(KERNELS_NVCC) -ptx $< -o $@
$(KERNELS_DATA)/code.cubin: $(kernels_src)
	$(KERNELS_NVCC) -cubin $< -o $@
$(KERNELS_DATA)/lines.cubin: $(kernels_src)
	$(KERNELS_NVCC) -lineinfo -cubin $< -o $@
$(KERNELS_DATA)/code_100.cubin: $(kernels_src)
	@mkdir -p $(KERNELS_DATA)
	$(NVCC) -w -arch=sm_100 -cubin $< -o $@
$(KERNELS_DATA)/both.fatbin: $(kernels_src)
	@mkdir -p $(KERNELS_DATA)
	$(NVCC) -w -gencode arch=compute_75,code=[sm_75,compute_75] \
		-gencode arch=compute_90,code=[sm_90,compute_90] -fatbin $< -o $@
$(KERNELS_DATA)/no_ptx: $(kernels_src)
	@mkdir -p $(KERNELS_DATA)
	$(NVCC) -w -gencode arch=compute_90,code=sm_90 $< -o $@
$(KERNELS_DATA)/fixed: $(kernels_src)
	$(KERNELS_NVCC) -Xcompiler -no-pie -Xlinker -no-pie $< -o $@
$(KERNELS_DATA)/stripped: $(KERNELS_DATA)/static
	$(STRIP) -o $@ $<
$(KERNELS_DATA)/archive.a: $(addprefix $(KERNELS_DATA)/,unit.o part.o whole.o)
	@rm -f $@
	ar rcs $@ $^

shell-needs: $(kernels_files)
