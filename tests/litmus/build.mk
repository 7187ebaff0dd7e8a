# The litmus rules: one program, linked as a program that csan checks is. Kernels that depend on the
# end of others need sm_90; the PTX for sm_75 is what older devices take.

litmus_src := $(wildcard tests/litmus/*.cu)
LITMUS_OBJ := $(UNSANITIZED)/obj/litmus
LITMUS     := $(OUT)/tests/programs/litmus/litmus
LITMUS_ARCH := -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=[sm_90,compute_90]

$(LITMUS_OBJ)/%.o: tests/litmus/%.cu
	@mkdir -p $(@D)
	$(NVCC) -g -std=c++14 -Iinclude $(LITMUS_ARCH) -MMD -MF $(@:.o=.d) -c $< -o $@
$(LITMUS): $(litmus_src:tests/litmus/%.cu=$(LITMUS_OBJ)/%.o) | $(PRODUCTS)
	@mkdir -p $(@D)
	$(NVCC) $(LITMUS_ARCH) $^ -o $@ -L$(LIBDIR) -lcsan -lpthread -ldl \
		-Xlinker -rpath='$$ORIGIN/../../../lib' -Xlinker -rpath='$$ORIGIN/../../../lib/csan'
-include $(wildcard $(LITMUS_OBJ)/*.d)

.PHONY: litmus
litmus: build $(LITMUS)
	@tests/gpu/litmus.sh $(OUT)
