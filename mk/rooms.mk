# The rooms of the house: which sources make which product.

core_src   := $(wildcard csan/*.c csan/*/*.c)
ptx_src    := $(wildcard runtime/ptx/*.c)
access_src := $(wildcard runtime/access/*.c runtime/access/*/*.c)
learn_src  := $(wildcard runtime/learn/*.c)
sass_src   := $(wildcard runtime/sass/*.c)
dump_src   := $(wildcard runtime/coredump/*.c)
hook_src   := $(filter-out runtime/hook/rt/%,$(wildcard runtime/hook/*/*.c))
python_src := $(wildcard runtime/python/*.c)
rt_src     := $(wildcard runtime/hook/rt/*.c)
device_src := $(filter-out runtime/device/cudart/% runtime/device/library/%,$(wildcard runtime/device/*/*.c runtime/device/*/*/*.c)) runtime/trace/fold.c runtime/learn/cache.c
cudart_src := $(wildcard runtime/device/cudart/*.c)
cli_src    := $(wildcard runtime/cli/*.c runtime/cli/*/*.c)

# The unit tests mirror the rooms. Their fragments name them by the file's name alone.
unit_src   := $(wildcard $(addsuffix test_*.c,tests/unit/ $(addprefix tests/unit/,*/ */*/)))
vpath test_%.c $(sort $(dir $(unit_src)))
# The source of the unit test that is made. The first prerequisite may be where it was before it moved
# to another room, which the compiler's list of the last time names.
unit_source = $(filter %/$(@F).c,$(unit_src))

# A comma where make would take one for its own.
, := ,
objects = $(patsubst %.c,$(OUT)/obj/%.o,$(1))

LIBDIR   := $(OUT)/lib
EMBEDDED := $(LIBDIR)/csan/embedded
UNPACK   := -Wl,-Bstatic -lzstd -llz4 -Wl,-Bdynamic
# The symbolizer reads debug information with libdw, linked statically: the command runs anywhere.
CLI_LIBS := -Wl,-Bstatic -ldw -lelf -lz -llzma -lbz2 -Wl,-Bdynamic
# json-c reads csan's own reports again. It is linked statically, too.
JSON_LIBS := -Wl,-Bstatic -ljson-c -Wl,-Bdynamic

$(OUT)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC  $<"
	$(CC) $(CFLAGS_ALL) $(EXTRA_CFLAGS) -MMD -MP -c $< -o $@

# The detector is on the path of every launch: -O3 takes 6% off make bench's hot step.
$(OUT)/obj/csan/%.o: EXTRA_CFLAGS += -O3

$(OUT)/obj/runtime/%.o: EXTRA_CFLAGS += $(CUDA_INCLUDE) -I$(OUT)/gen

$(OUT)/libcsan_core.a: $(call objects,$(core_src))
$(OUT)/libptx.a: $(call objects,$(ptx_src))
$(OUT)/libaccess.a: $(call objects,$(access_src))
$(OUT)/liblearn.a: $(call objects,$(learn_src))
$(OUT)/libsass.a: $(call objects,$(sass_src))
$(OUT)/libcoredump.a: $(call objects,$(dump_src))
$(OUT)/libdevice.a: $(call objects,$(device_src))
ARCHIVES := $(OUT)/libcsan_core.a $(OUT)/libcoredump.a $(OUT)/libsass.a $(OUT)/liblearn.a $(OUT)/libaccess.a $(OUT)/libdevice.a $(OUT)/libptx.a
$(ARCHIVES):
	@mkdir -p $(@D)
	@rm -f $@
	ar rcs $@ $^

# Each product has its own fragment beside its sources, so that a room's build is the room's.
PRODUCTS :=
-include runtime/glibc/build.mk
-include runtime/sass/build.mk
-include runtime/tracer/build.mk
-include runtime/hook/build.mk
-include runtime/hook/rt/build.mk
-include runtime/threads/build.mk
-include runtime/instrumented/build.mk
-include runtime/mpi/build.mk
-include runtime/device/exec/build.mk
-include runtime/device/compile/build.mk
-include runtime/device/build.mk
-include runtime/device/cudart/build.mk
-include runtime/device/library/build.mk
-include runtime/cli/build.mk
-include runtime/torch/build.mk

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
