# The execution engine: floating point must do exactly what PTX says, loops over lanes should be
# vectors, and slots hold values of whatever type the instruction at hand gives them.
EXEC_CFLAGS := -O3 -ffp-contract=off -frounding-math -fno-strict-aliasing -fwrapv
$(OUT)/obj/runtime/device/exec/%.o: EXTRA_CFLAGS += $(EXEC_CFLAGS)
