# The integration programs: every tests/integration/*.cu and samples/*.cu, compiled once and linked
# in the four ways a program can meet csan. What a program expects is in the comment lines at its
# top; scripts/run-integration documents them.
#
#   static  nvcc x.o -lcsan                     plain         nvcc -cudart shared x.o, for csan run
#   shared  nvcc -cudart shared x.o -lcsan      plain-static  nvcc x.o, for csan run on a GPU
#
# The samples, and what has relocatable device code, are compiled and linked by nvcc as a user does
# it. The others take three short cuts, which save two thirds of the time. They are C++14, whose headers
# are smaller. The host compiler compiles those 480 that launch no other kernels than program.h's,
# which nvcc would compile again for each (scripts/host-programs). The host compiler links them, with
# gold where it is installed: without relocatable device code nvcc would add an empty table to that.
#
# Programs find csan's libraries relative to themselves, so that the tree can be moved.

# Programs with libraries whose headers this toolkit lacks are left out.
header_cublas   := cublas_v2.h
header_cublasLt := cublasLt.h
header_cufft    := cufft.h
header_nccl     := cuda.h
header_curand   := curand.h
header_cusparse := cusparse.h
header_cusolver := cusolverDn.h
lacking     := $(foreach l,cublas cublasLt cufft curand cusparse cusolver nccl,$(if $(wildcard $(CUDA_HOME)/include/$(header_$(l))),,$(l)))
lacking_nvrtc := $(if $(wildcard $(CUDA_HOME)/include/nvrtc.h),,$(shell grep -l '^// link:.* -lnvrtc' tests/integration/*.cu))
lacking_nvjitlink := $(if $(wildcard $(CUDA_HOME)/include/nvJitLink.h),,$(shell grep -l '^// link:.* -lnvJitLink' tests/integration/*.cu))
program_src := $(filter-out $(lacking_nvrtc) $(lacking_nvjitlink),$(filter-out $(foreach l,$(lacking),$(shell grep -lE '^// (library|libraries):.* $(l)( .*)?$$' tests/integration/*.cu samples/*.cu)), \
	$(wildcard tests/integration/*.cu samples/*.cu)))
program     := $(notdir $(program_src:.cu=))
PROGRAM_OBJ := $(UNSANITIZED)/obj/cuda
PROGRAM_OUT := $(OUT)/tests/programs
INTEGRATION := $(foreach way,static shared plain,$(program:%=$(PROGRAM_OUT)/$(way)/%))
INTEGRATION_GPU := $(program:%=$(PROGRAM_OUT)/plain-static/%)
host_program := $(filter $(program),$(shell scripts/host-programs tests/integration))

# directive,FILE: the rest of the file's line "// directive: ..."
directive = $$(sed -n 's|^// $(1): ||p' $(2))

cuda_home = $(if $(filter $(NVCC12),$(NVCC)),$(CUDA12_HOME),$(CUDA_HOME))
host_compile = $(CXX) -x c++ -isystem $(cuda_home)/include

# compile_program,LANGUAGE: one that the program's own flags name comes first.
define compile_program
	@[ -d $(@D) ] || mkdir -p $(@D); echo "  $(if $(filter $*,$(host_program)),CXX ,NVCC)  $<"; \
	flags="$(call directive,flags,$<)"; case $$flags in *-std=*) ;; *) flags="$(1) $$flags" ;; esac; \
	$(if $(filter $*,$(host_program)),$(host_compile),$(NVCC)) -g -Iinclude -Itests/integration $$flags \
		-MMD -MF $(@:.o=.d) -c $< -o $@
endef
$(PROGRAM_OBJ)/%.o: tests/integration/%.cu
	$(call compile_program,-std=c++14)
$(PROGRAM_OBJ)/%.o: samples/%.cu
	$(call compile_program,)
$(PROGRAM_OBJ)/units/%.o: tests/integration/units/%.cu
	@mkdir -p $(@D)
	$(NVCC) -g -rdc=true -c $< -o $@
$(PROGRAM_OBJ)/relocatable_device_code.o: $(PROGRAM_OBJ)/units/relocatable_part.o
$(PROGRAM_OBJ)/units/program_kernels.o: tests/integration/units/program_kernels.cu
	$(call compile_program,-std=c++14)
$(foreach way,static shared plain plain-static,$(host_program:%=$(PROGRAM_OUT)/$(way)/%)): $(PROGRAM_OBJ)/units/program_kernels.o

# Stand-ins for NVIDIA's libraries, which bring no PTX: a program's "// library: cublas" links it with
# libcublas.so.13, and finds this one but where LD_LIBRARY_PATH says otherwise.
STAND_INS := $(OUT)/tests/libraries
stand_in_cublas := libcublas.so.13
stand_in_cublasLt := libcublasLt.so.13
stand_in_cufft  := libcufft.so.12
stand_in_nccl   := libnccl.so.2
stand_ins := $(patsubst %,$(STAND_INS)/lib%.so,$(filter-out $(lacking),cublas cublasLt cufft nccl))

$(STAND_INS)/lib%.so: tests/integration/libraries/%.cu tests/integration/libraries/blind.h
	@mkdir -p $(@D)
	echo '$(if $(filter nccl,$*),,$(stand_in_$*)) { global: $**; local: *; };' >$(@:.so=.map)
	$(NVCC) -g -shared -cudart shared -Xcompiler -fPIC -Itests/integration $< -o $(@D)/$(stand_in_$*) \
		-Xlinker -soname=$(stand_in_$*) -Xlinker --version-script=$(@:.so=.map) \
		-Xlinker -rpath='$$ORIGIN/../../lib/csan'
	ln -sf $(stand_in_$*) $@

# A program's "// libraries: cublas cufft" links it with csan's own ones for the embedded device, which
# it finds by LD_LIBRARY_PATH or `csan run`; on a GPU it finds NVIDIA's, of the same sonames.
own_libraries := cublas.so.13 cublasLt.so.13 cufft.so.12 curand.so.10 cusparse.so.12 cusolver.so.12

# Programs that nvcc links, or whose first lines name what they are linked with. For the others no shell
# asks for that: it takes as long as to link them.
directed_program := $(notdir $(basename $(wildcard samples/*.cu) \
	$(shell grep -lE '^// (link|library|libraries|unit): |^// flags: .*-rdc=true' tests/integration/*.cu)))

# link_program,RUNTIME,LIBRARIES: an object and its further units and libraries. There may be no
# libcuda.so to link with on this machine: the embedded device's stands in for it, under the same name.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
PROGRAM_RPATH := -Xlinker -rpath='$$ORIGIN/../../../lib' -Xlinker -rpath='$$ORIGIN/../../../lib/csan' \
	-Xlinker -rpath='$$ORIGIN/../../lib'
link_begin = $< $(filter %/program_kernels.o,$^) -o $@ -L$(LIBDIR) $(CROSS:%=-L$(CURDIR)/build/%-root/link) $(2)
link_end   = $(PROGRAM_RPATH) $(if $(filter $(NVCC12),$(NVCC)),-Xlinker -rpath=$(CUDA12_HOME)/lib)
runtime_static := -lcudart_static -lrt
runtime_shared := -lcudart
cuda_lib = $(if $(filter $(NVCC12),$(NVCC)),$(CUDA12_HOME)/lib,$(CUDA_LIB))
define link_program
	@[ -d $(@D) ] || mkdir -p $(@D); $(if $(filter $*,$(directed_program)),$(link_directed),$(link_plainly))
endef
link_plainly = $(CXX) $(GOLD) $(link_begin) $(link_end) -L$(cuda_lib) $(runtime_$(1)) -lpthread -ldl
define link_directed
source=$$(ls tests/integration/$*.cu samples/$*.cu 2>/dev/null); \
	libraries=$(call directive,link,$$source); stand_in=$(call directive,library,$$source); units=$(call directive,unit,$$source); \
	own=; for name in $(call directive,libraries,$$source); do for file in $(own_libraries); do \
	case $$file in $$name.so.*) own="$$own -l:lib$$file" ;; esac; done; done; \
	case $$source:$$units:$(call directive,flags,$$source) in \
	samples/* | *:?*:* | *-rdc=true*) link="$(NVCC) $(call directive,flags,$$source) -cudart $(1)" runtime= ;; \
	*) link="$(CXX) $(GOLD)" runtime="-L$(cuda_lib) $(runtime_$(1))" ;; \
	esac; \
	$$link $(link_begin) $${units:+$(<D)/units/$${units%.cu}.o} \
		$${stand_in:+-L$(STAND_INS) -l$$stand_in -Xlinker -rpath='$$ORIGIN/../../libraries'} \
		$${own:+-L$(EMBEDDED_LIBRARIES) $$own -Xlinker -rpath-link=$(EMBEDDED)} \
		$${libraries/-lcuda/$(EMBEDDED)/libcuda.so.1} $(link_end) $$runtime -lpthread -ldl
endef
$(PROGRAM_OUT)/static/%: $(PROGRAM_OBJ)/%.o | $(PRODUCTS) $(stand_ins)
	$(call link_program,static,-lcsan)
$(PROGRAM_OUT)/shared/%: $(PROGRAM_OBJ)/%.o | $(PRODUCTS) $(stand_ins)
	$(call link_program,shared,-lcsan)
$(PROGRAM_OUT)/plain/%: $(PROGRAM_OBJ)/%.o | $(PRODUCTS) $(stand_ins)
	$(call link_program,shared,)
$(PROGRAM_OUT)/plain-static/%: $(PROGRAM_OBJ)/%.o | $(PRODUCTS) $(stand_ins)
	$(call link_program,static,)

# The same programs built for CUDA 12, where setup could get its headers: those that need no library of
# NVIDIA's and no function that CUDA 12 lacks. A root of their own, whose bin and lib are the build's.
CUDA12_ROOT := $(OUT)/tests/cuda12
CUDA12_OBJ  := build/obj/cuda12
program12   := $(if $(wildcard $(NVCC12)),$(notdir $(patsubst %.cu,%,$(filter-out \
	$(shell grep -lE '^// (cuda: 13|librar(y|ies): .*)$$' tests/integration/*.cu samples/*.cu),$(program_src)))))
INTEGRATION12 := $(foreach way,static shared plain,$(program12:%=$(CUDA12_ROOT)/tests/programs/$(way)/%))
SAMPLES12   := $(filter $(addprefix %/,$(notdir $(basename $(wildcard samples/*.cu)))),$(INTEGRATION12))
SAMPLES12_GPU := $(SAMPLES12) $(subst /plain/,/plain-static/,$(foreach p,$(SAMPLES12),$(if $(findstring /plain/,$p),$p)))

$(CUDA12_OBJ)/%: private NVCC := $(NVCC12)
$(CUDA12_ROOT)/%: private NVCC := $(NVCC12)
$(CUDA12_OBJ)/%.o: tests/integration/%.cu
	$(call compile_program,-std=c++14)
$(CUDA12_OBJ)/%.o: samples/%.cu
	$(call compile_program,)
$(CUDA12_OBJ)/units/%.o: tests/integration/units/%.cu
	@mkdir -p $(@D)
	$(NVCC) -g -rdc=true -c $< -o $@
$(CUDA12_OBJ)/relocatable_device_code.o: $(CUDA12_OBJ)/units/relocatable_part.o
$(CUDA12_OBJ)/units/program_kernels.o: tests/integration/units/program_kernels.cu
	$(call compile_program,-std=c++14)
$(foreach way,static shared plain plain-static,$(host_program:%=$(CUDA12_ROOT)/tests/programs/$(way)/%)): $(CUDA12_OBJ)/units/program_kernels.o
$(CUDA12_ROOT)/tests/programs/static/%: $(CUDA12_OBJ)/%.o | $(PRODUCTS)
	$(call link_program,static,-lcsan)
$(CUDA12_ROOT)/tests/programs/shared/%: $(CUDA12_OBJ)/%.o | $(PRODUCTS)
	$(call link_program,shared,-lcsan)
$(CUDA12_ROOT)/tests/programs/plain/%: $(CUDA12_OBJ)/%.o | $(PRODUCTS)
	$(call link_program,shared,)
$(CUDA12_ROOT)/tests/programs/plain-static/%: $(CUDA12_OBJ)/%.o | $(PRODUCTS)
	$(call link_program,static,)

# run_cuda12,SOURCE DIRECTORIES: the verdicts of CUDA 13's programs.
define run_cuda12
	@mkdir -p $(CUDA12_ROOT)/tests $(OUT)/tests
	@ln -sfn ../../bin $(CUDA12_ROOT)/bin
	@ln -sfn ../../lib $(CUDA12_ROOT)/lib
	@$(if $(program12),scripts/run-integration --root $(CUDA12_ROOT) --device embedded --jobs $(JOBS) --cuda 12 --verify $(1); \
		status=$$?; cp $(CUDA12_ROOT)/tests/integration.count $(OUT)/tests/cuda12.count; exit $$status,\
		echo "skipped programs of CUDA 12: setup could not get its headers (build/setup.log)"; \
		echo "0 0" >$(OUT)/tests/cuda12.count)
endef
.PHONY: test-cuda12 test-cuda12-samples
test-cuda12: build $(INTEGRATION12)
	$(call run_cuda12,tests/integration samples)
test-cuda12-samples: build $(SAMPLES12)
	$(call run_cuda12,samples)

.SECONDARY: $(PROGRAM_OBJ)/units/program_kernels.o $(CUDA12_OBJ)/units/program_kernels.o $(stand_ins) $(program:%=$(PROGRAM_OBJ)/%.o) $(program12:%=$(CUDA12_OBJ)/%.o)
-include $(wildcard $(foreach o,$(PROGRAM_OBJ) $(CUDA12_OBJ),$o/*.d $o/units/*.d))

.PHONY: integration test-gpu
integration: build $(INTEGRATION)
	@scripts/run-integration --root $(OUT) --device embedded --jobs $(JOBS) --verify tests/integration samples

# Every program by PTX alone, learned, and known from the run before: the same verdicts, or listed.
.PHONY: compare-access compare-guard compare-traces
compare-guard: build $(INTEGRATION)
	@scripts/compare-guard --root $(OUT) --jobs $(JOBS) tests/integration/guard_differences tests/integration samples
compare-access: build $(INTEGRATION)
	@scripts/compare-access --root $(OUT) --jobs $(JOBS) tests/integration/access_differences tests/integration samples

# What every launch touched, judged against its PTX, and the same whatever the schedule.
compare-traces: build $(INTEGRATION) $(CLASSICS) $(TRITON)
	@scripts/compare-traces --root $(OUT) --jobs $(JOBS) tests/gpu/trace_differences tests/integration samples \
		tests/corpus/classics tests/corpus/triton

# On a real GPU, what the tarball runs there; where there is none this says so and succeeds.
.PHONY: test-gpu-access
test-gpu: dist-tree
	@$(DIST)/run-gpu-tests.sh
test-gpu-access: dist-tree
	@$(DIST)/run-gpu-tests.sh --access
