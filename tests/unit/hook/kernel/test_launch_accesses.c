/* From access sets to the detector's accesses: bases, cuts, bounds, levels, what is asked of memory
 * and what is forgotten. The set is what the test says; all around the file under test that is not
 * the detector is played. */
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/kernel/image.h"
#include "runtime/hook/state/object_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- The set ---- */

static struct access_base bases[4];
static struct access_range ranges[128];
static struct access_set set;
static void (*at_find)(const struct access_launch *launch); /* the analysis asks for memory */
static struct access_launch asked;
static int finds;

struct access_kernel *access_kernel_create(const struct ptx_function *function)
{
    return (struct access_kernel *)function;
}
void access_kernel_release(struct access_kernel *kernel)
{
    (void)kernel;
}
const struct access_set *access_set_find(struct access_kernel *kernel,
                                         const struct access_launch *launch)
{
    (void)kernel;
    asked = *launch;
    finds++;
    if (at_find)
        at_find(launch);
    return &set;
}

struct dependent_launch access_dependent_launch(struct access_kernel *kernel)
{
    (void)kernel;
    return (struct dependent_launch){.waits = true};
}

size_t access_set_pieces(const struct access_kernel *kernel, const struct access_set *found,
                         struct access_piece *pieces)
{
    (void)kernel;
    pieces[0] = (struct access_piece){found, sizeof *found};
    pieces[1] = (struct access_piece){ranges, sizeof ranges}; /* more than is kept */
    return 2;
}

/* ---- What is played ---- */

uint8_t driver_unmodelled_called;
static csan_context *context;
static CUcontext current = (CUcontext)0xc0;
static int locked, asked_driver;
static struct session_options options;
static char note[512];

void *driver_function_cached(void **slot, const char *symbol)
{
    (void)symbol;
    return *slot;
}

static driver_trace_subscribe_function *embedded; /* NULL: a GPU */
driver_trace_subscribe_function *driver_trace_subscribe(void)
{
    return embedded;
}

csan_context *session_context(void)
{
    return context;
}
const struct session_options *session_options(void)
{
    return &options;
}
void session_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
}
void guard_lock_object(enum lock_kind kind, pthread_mutex_t *mutex)
{
    (void)kind;
    pthread_mutex_lock(mutex);
    locked++;
}
void guard_unlock_object(enum lock_kind kind, pthread_mutex_t *mutex)
{
    (void)kind;
    locked--;
    pthread_mutex_unlock(mutex);
}
CUcontext stream_current_context(void)
{
    assert_int_equal(locked, 0); /* the driver is asked under no lock */
    return current;
}
void counters_unmodelled(const char *what);
void counters_unmodelled(const char *what)
{
    (void)what;
}
struct image *image_retain(struct image *image)
{
    return image;
}
void image_release(struct image *image)
{
    (void)image;
}

/* The parameters: see the kernel below. */
static struct {
    uint64_t pointer;
    uint32_t number;
    struct {
        uint64_t words[4];
    } box;
} values;

/* What lies under every object. */
static enum object_answer answer;
static struct object_memory under;

uint32_t object_name_bytes(uint8_t kind)
{
    return kind == INSTRUCTION_ACCESS_OBJECT_TEXTURE ? OBJECT_HANDLE_BYTES : 0;
}
enum object_answer object_find(uint8_t kind, const void *name, struct object_memory *found)
{
    assert_int_equal(kind, INSTRUCTION_ACCESS_OBJECT_TEXTURE);
    assert_ptr_equal(name, &values.pointer);
    *found = under;
    return answer;
}

/* Variables lie at 0x50000, in steps of the context's handle. */
static bool find_variable(void *module, bool library, const char *name, uint64_t *address,
                          uint64_t *bytes)
{
    (void)module;
    (void)library;
    assert_int_equal(locked, 0);
    asked_driver++;
    if (strcmp(name, "absent") == 0)
        return false;
    *address = 0x50000 + ((uintptr_t)current << 12) + (name[0] == 'v' ? 0 : 0x800);
    *bytes = 64;
    return true;
}

/* ---- The kernel ---- */

/* (pointer, int, struct of 32 bytes) */
static struct ptx_param params[3] = {{.type = PTX_U64, .size = 8, .offset = 0},
                                     {.type = PTX_U32, .size = 4, .offset = 8},
                                     {.type = PTX_B8, .size = 32, .offset = 16}};
static const struct ptx_function function = {
    .name = "k", .is_entry = true, .params = params, .param_count = 3, .param_bytes = 48};

static void *parameters[3] = {&values.pointer, &values.number, &values.box};

static struct kernel *kernel;
static struct launch_accesses_touched touched;
static struct launch_accesses_launch launch;

static struct access_range *range_add(uint32_t base, int kind, int bound, int64_t offset,
                                      uint64_t bytes)
{
    struct access_range *range = &ranges[set.range_count++];
    *range = (struct access_range){.base = base,
                                   .kind = (uint8_t)kind,
                                   .bound = (uint8_t)bound,
                                   .offset = offset,
                                   .bytes = bytes};
    set.exact = set.exact && bound == ACCESS_EXACT;
    return range;
}

static void begin(void)
{
    launch_accesses_prefetch(kernel);
    launch_accesses_begin(kernel, &launch, &touched);
}

static void end(void)
{
    launch_accesses_end(kernel, &touched);
    assert_int_equal(locked, 0);
}

static void memory(uint64_t base, uint64_t bytes)
{
    assert_int_equal(csan_memory_create(context, CSAN_MEMORY_DEVICE, base, bytes, CSAN_HOST, 0), 0);
}

static int setup(void **state)
{
    (void)state;
    context = csan_context_create(NULL, NULL, NULL, note, sizeof note);
    assert_non_null(context);
    memory(0x10000, 0x1000);
    memory(0x20000, 0x1000);
    memset(bases, 0, sizeof bases);
    bases[0] = (struct access_base){.kind = ACCESS_BASE_PARAM};
    bases[1] =
        (struct access_base){.kind = ACCESS_BASE_PARAM, .param_index = 2, .param_offset = 24};
    set = (struct access_set){.bases = bases,
                              .ranges = ranges,
                              .base_count = 1,
                              .complete = true,
                              .exact = true,
                              .reason = ""};
    at_find = NULL;
    finds = asked_driver = 0;
    note[0] = '\0';
    current = (CUcontext)0xc0;
    memset(&values, 0, sizeof values);
    values.pointer = 0x10100;
    values.box.words[1] = 0x20000;
    launch = (struct launch_accesses_launch){
        .grid = {2, 3, 4}, .block = {5, 6, 7}, .shared = 9, .parameters = parameters};
    struct kernel_source source = {
        .name = "k", .ptx = &function, .module = &values, .find = find_variable};
    kernel = kernel_description_create(&source, NULL);
    assert_non_null(kernel);
    known_contents_addresses_changed();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kernel_description_release(kernel);
    csan_context_destroy(context);
    return 0;
}

/* ---- Tests ---- */

static void subscribe(device_trace_done *done, void *user)
{
    (void)done;
    (void)user;
}

/* The embedded device traces the heap of kernels; on a GPU the ranges are all there is. */
static void a_kernel_with_a_heap_is_not_exact_where_it_is_traced(void **state)
{
    (void)state;
    const struct ptx_function heap = {.name = "malloc", .is_prototype = true};
    const struct ptx_function *functions[] = {&heap};
    struct ptx_module module = {.functions = (void *)functions, .function_count = 1};
    struct ptx_function with_heap = function;
    with_heap.module = &module;
    const struct kernel_source source = {.name = "heap", .ptx = &with_heap};
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        embedded = on_gpu ? NULL : subscribe;
        kernel_description_release(kernel);
        kernel = kernel_description_create(&source, NULL);
        range_add(0, ACCESS_WRITE, ACCESS_EXACT, 0, 4);
        begin();
        assert_int_equal(touched.exact, on_gpu);
        assert_int_equal(touched.level, CSAN_LEVEL_RANGES);
        end();
    }
}

static void exact_ranges_stay_as_they_are(void **state)
{
    (void)state;
    static const struct access_dim dims[2] = {{256, 4}, {-16, 2}};
    struct access_range *range = range_add(0, ACCESS_WRITE, ACCESS_EXACT, 64, 8);
    range->dims = dims;
    range->dim_count = 2;
    begin();
    assert_int_equal(touched.level, CSAN_LEVEL_RANGES);
    assert_true(touched.exact);
    assert_int_equal(touched.access_count, 1);
    assert_int_equal(touched.accesses[0].base, 0x10140);
    assert_int_equal(touched.accesses[0].bytes, 8);
    assert_ptr_equal(touched.accesses[0].dims, dims);
    assert_int_equal(touched.accesses[0].dim_count, 2);
    assert_int_equal(touched.accesses[0].kind, CSAN_WRITE);
    assert_int_equal(touched.accesses[0].bound, CSAN_EXACT);
    assert_string_equal(kernel->arguments[touched.accesses[0].argument], "0");
    assert_int_equal(asked.grid[2], 4);
    assert_int_equal(asked.block[0], 5);
    assert_int_equal(asked.dynamic_shared, 9);
    assert_ptr_equal(asked.parameters[1], &values.number);
    end();
}

/* Traces of a GPU have no loads from them, so what PTX says of them is kept beside a trace. */
static void loads_from_constants_are_recognized(void **state)
{
    (void)state;
    static const struct ptx_variable constant = {.name = "v", .space = PTX_SPACE_CONST, .size = 64};
    static const struct ptx_variable global = {.name = "w", .space = PTX_SPACE_GLOBAL, .size = 64};
    bases[1] = (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = &constant};
    bases[2] = (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = &global};
    set.base_count = 3;
    range_add(0, ACCESS_READ, ACCESS_EXACT, 0, 4);
    range_add(1, ACCESS_READ, ACCESS_BOUND_GUARD, 60, 4);
    range_add(2, ACCESS_READ, ACCESS_EXACT, 0, 4);
    begin();
    assert_int_equal(touched.access_count, 3);
    assert_false(launch_accesses_is_constant(&touched, &touched.accesses[0]));
    assert_true(launch_accesses_is_constant(&touched, &touched.accesses[1]));
    assert_false(launch_accesses_is_constant(&touched, &touched.accesses[2]));
    end();
}

static void parameters_come_in_a_buffer(void **state)
{
    (void)state;
    uint8_t buffer[48] = {0};
    uint64_t pointer = 0x20010;
    size_t bytes = 24; /* the struct is not all there */
    memcpy(buffer, &pointer, sizeof pointer);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    launch.parameters = NULL;
    launch.extra = extra;
    set.base_count = 2;
    range_add(0, ACCESS_READ, ACCESS_EXACT, 0, 4);
    range_add(1, ACCESS_READ, ACCESS_EXACT, 0, 4);
    begin();
    assert_int_equal(touched.access_count, 1);
    assert_int_equal(touched.accesses[0].base, 0x20010);
    assert_ptr_equal(asked.parameters[1], buffer + 8);
    assert_null(asked.parameters[2]);
    assert_int_equal(touched.level, CSAN_LEVEL_UNKNOWN); /* a pointer is not known */
    assert_false(touched.exact);
    end();
}

static void pointers_in_structs_are_named_by_their_byte(void **state)
{
    (void)state;
    set.base_count = 2;
    range_add(1, ACCESS_READ, ACCESS_EXACT, 0, 4);
    begin();
    assert_int_equal(touched.accesses[0].base, 0x20000);
    assert_string_equal(kernel->arguments[touched.accesses[0].argument], "2+8");
    end();
}

static void null_pointers_touch_nothing(void **state)
{
    (void)state;
    values.pointer = 0;
    range_add(0, ACCESS_WRITE, ACCESS_EXACT, 64, 8);
    range_add(0, ACCESS_WRITE, ACCESS_BOUND_DIRECTION, 0, ACCESS_TO_END);
    begin();
    assert_int_equal(touched.access_count, 0);
    assert_int_equal(touched.level, CSAN_LEVEL_RANGES);
    end();
}

static void guesses_count_where_there_is_memory(void **state)
{
    (void)state;
    bases[0].guessed = true;
    range_add(0, ACCESS_READ, ACCESS_BOUND_DIRECTION, 0, ACCESS_TO_END);
    begin();
    assert_int_equal(touched.access_count, 1);
    end();
    values.pointer = 12345;
    begin();
    assert_int_equal(touched.access_count, 0);
    end();
}

static void by_direction_only_is_a_level_of_its_own(void **state)
{
    (void)state;
    set.base_count = 2;
    range_add(0, ACCESS_READ, ACCESS_BOUND_DIRECTION, 0, ACCESS_TO_END);
    begin();
    assert_int_equal(touched.level, CSAN_LEVEL_DIRECTION);
    assert_int_equal(touched.accesses[0].bytes, CSAN_TO_END);
    assert_int_equal(touched.accesses[0].base, 0x10100);
    end();
    range_add(1, ACCESS_READ, ACCESS_BOUND_DATA, 0, 16);
    begin();
    assert_int_equal(touched.level, CSAN_LEVEL_RANGES);
    assert_false(touched.exact);
    end();
    set.complete = false;
    begin();
    assert_int_equal(touched.level, CSAN_LEVEL_UNKNOWN);
    end();
}

static void check_cut(int64_t offset, uint64_t bytes, uint64_t first, uint64_t last)
{
    set.range_count = 0;
    range_add(0, ACCESS_WRITE, ACCESS_BOUND_DATA, offset, bytes);
    begin();
    assert_int_equal(touched.access_count, 1);
    assert_int_equal(touched.accesses[0].base, first);
    assert_int_equal(touched.accesses[0].bytes, last - first + 1);
    assert_int_equal(touched.accesses[0].bound, CSAN_BOUND_DATA);
    end();
}

static void bounded_ranges_are_cut_to_the_allocation(void **state)
{
    (void)state;
    check_cut(16, 64, 0x10110, 0x1014f);
    check_cut(-0x200, 0x400, 0x10000, 0x102ff);
    check_cut(0, 0x10000, 0x10100, 0x10fff);
    check_cut(INT64_MIN, UINT64_MAX - 2, 0x10000, 0x10fff);
    check_cut(8, ACCESS_TO_END, 0x10108, 0x10fff);
    check_cut(8, ACCESS_WHOLE, 0x10000, 0x10fff);
    check_cut(-0x1000, ACCESS_TO_END, 0x10000, 0x10fff);
}

static void strided_ranges_are_cut_to_what_they_span(void **state)
{
    (void)state;
    static const struct access_dim down[] = {{-64, 100}}, up[] = {{64, 4}};
    struct access_range *range = range_add(0, ACCESS_WRITE, ACCESS_BOUND_GUARD, 0, 4);
    range->dims = up;
    range->dim_count = 1;
    begin();
    assert_ptr_equal(touched.accesses[0].dims, up); /* inside: as it is */
    end();
    range->dims = down;
    begin();
    assert_int_equal(touched.accesses[0].dim_count, 0);
    assert_int_equal(touched.accesses[0].base, 0x10000);
    assert_int_equal(touched.accesses[0].bytes, 0x104);
    end();
}

static void what_is_in_no_allocation_stays_and_does_not_wrap(void **state)
{
    (void)state;
    values.pointer = 0x40;
    check_cut(0, 64, 0x40, 0x7f);
    check_cut(-0x80, 0x100, 0, 0xbf);
    values.pointer = UINT64_MAX - 15;
    check_cut(0, 64, UINT64_MAX - 15, UINT64_MAX - 1);
}

static void atomics_have_their_width(void **state)
{
    (void)state;
    range_add(0, ACCESS_ATOMIC, ACCESS_EXACT, 0, 64)->width = 4;
    begin();
    assert_int_equal(touched.accesses[0].kind, CSAN_ATOMIC);
    assert_int_equal(touched.accesses[0].element_bytes, 4);
    end();
}

static void more_than_there_is_room_for(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 128; i++)
        range_add(0, ACCESS_READ, ACCESS_EXACT, i * 8, 4);
    begin();
    assert_int_equal(touched.access_count, 128);
    assert_int_equal(touched.accesses[127].base, 0x10100 + 127 * 8);
    end();
}

/* ---- Variables ---- */

static const struct ptx_variable variable = {.name = "v", .space = PTX_SPACE_GLOBAL, .size = 64},
                                 absent = {.name = "absent", .space = PTX_SPACE_GLOBAL, .size = 64};

static void variables_are_asked_for_once_in_a_context(void **state)
{
    (void)state;
    bases[0] = (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = &variable};
    range_add(0, ACCESS_WRITE, ACCESS_BOUND_DATA, 0, 1 << 20);
    for (int i = 0; i < 3; i++) {
        begin();
        assert_int_equal(touched.accesses[0].base, 0x50000 + (0xc0 << 12));
        assert_int_equal(touched.accesses[0].bytes, 64); /* cut to the variable */
        assert_string_equal(kernel->arguments[touched.accesses[0].argument], "v");
        end();
    }
    assert_int_equal(asked_driver, 1);
    current = (CUcontext)0xd0;
    begin();
    assert_int_equal(touched.accesses[0].base, 0x50000 + (0xd0 << 12));
    end();
    current = (CUcontext)0xc0;
    begin();
    assert_int_equal(touched.accesses[0].base, 0x50000 + (0xc0 << 12));
    end();
    assert_int_equal(asked_driver, 2);
    launch_pointer_addresses_changed();
    begin();
    end();
    assert_int_equal(asked_driver, 3);
}

static void variable_that_the_driver_does_not_know(void **state)
{
    (void)state;
    bases[0] = (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = &absent};
    range_add(0, ACCESS_WRITE, ACCESS_EXACT, 0, 4);
    for (int i = 0; i < 3; i++) {
        begin();
        assert_int_equal(touched.access_count, 0);
        assert_int_equal(touched.level, CSAN_LEVEL_UNKNOWN);
        end();
    }
    assert_int_equal(asked_driver, 1);
}

/* ---- Objects ---- */

static void objects_are_the_memory_under_them(void **state)
{
    (void)state;
    bases[0] = (struct access_base){.kind = ACCESS_BASE_OBJECT,
                                    .object = INSTRUCTION_ACCESS_OBJECT_TEXTURE};
    range_add(0, ACCESS_READ, ACCESS_BOUND_DATA, 0, ACCESS_WHOLE);
    under =
        (struct object_memory){.base = 0x10040, .bytes = 16, .dims = {{256, 4}}, .dim_count = 1};
    answer = OBJECT_MEMORY;
    begin();
    assert_int_equal(touched.accesses[0].base, 0x10040);
    assert_int_equal(touched.accesses[0].bytes, 16);
    assert_int_equal(touched.accesses[0].dim_count, 1);
    assert_int_equal(touched.accesses[0].dims[0].stride, 256);
    assert_int_equal(touched.accesses[0].bound, CSAN_BOUND_DATA);
    assert_string_equal(kernel->arguments[touched.accesses[0].argument], "0");
    end();
    ranges[0].bound = ACCESS_BOUND_DIRECTION; /* of a pointer: no byte of it would be known */
    begin();
    assert_int_equal(touched.accesses[0].bound, CSAN_BOUND_OBJECT);
    assert_int_equal(touched.level, CSAN_LEVEL_DIRECTION);
    end();
    answer = OBJECT_NONE;
    begin();
    assert_int_equal(touched.access_count, 0);
    assert_int_equal(touched.level, CSAN_LEVEL_RANGES);
    end();
    answer = OBJECT_UNKNOWN;
    begin();
    assert_int_equal(touched.level, CSAN_LEVEL_UNKNOWN);
    end();
}

/* ---- Memory ---- */

static uint64_t read_value;
static bool read_known;
static struct access_base read_base;
static int64_t read_offset;

static void read_one(const struct access_launch *what)
{
    read_value = 0;
    read_known = what->read(what->user, &read_base, what->parameters, read_offset, 8, &read_value);
}

static void memory_is_read_through_a_parameter(void **state)
{
    (void)state;
    const uint64_t table[2] = {11, 22};
    known_contents_written(0x10100, sizeof table, table, false);
    at_find = read_one;
    read_base = bases[0];
    read_offset = 8;
    begin();
    assert_true(read_known);
    assert_int_equal(read_value, 22);
    end();
    read_offset = 16;
    begin();
    assert_false(read_known);
    end();
    read_base = (struct access_base){.kind = ACCESS_BASE_ADDRESS, .address = 0x10100};
    read_offset = 0;
    begin();
    assert_int_equal(read_value, 11);
    end();
}

static const uint8_t initial[16] = {1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9};
static const struct ptx_relocation relocation = {
    .offset = 8, .symbol = "v", .variable = &variable, .addend = 4, .bytes = 8};
static const struct ptx_variable constant = {.name = "constant",
                                             .space = PTX_SPACE_CONST,
                                             .size = 16,
                                             .init = initial,
                                             .relocations = &relocation,
                                             .relocation_count = 1};

static void constants_hold_what_their_module_says(void **state)
{
    (void)state;
    uint64_t at = 0x50000 + (0xc0 << 12) + 0x800, version;
    at_find = read_one;
    read_base = (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = &constant};
    read_offset = 0;
    begin();
    assert_true(read_known); /* after its address was asked for */
    assert_int_equal(read_value, 1);
    version = asked.memory_version;
    end();
    read_offset = 8;
    begin();
    assert_int_equal(read_value, 0x50000 + (0xc0 << 12) + 4);
    end();
    read_offset = 4; /* half of the address */
    begin();
    assert_false(read_known);
    end();
    read_offset = 12; /* beyond its end */
    begin();
    assert_false(read_known);
    end();
    const uint64_t later = 7;
    known_contents_written(at, 8, &later, true);
    read_offset = 0;
    begin();
    assert_int_equal(read_value, 7);
    assert_true(asked.memory_version > version);
    end();
    known_contents_forget(at, 8);
    begin();
    assert_false(read_known); /* what it was at first does not come back */
    end();
}

static void what_is_written_is_forgotten(void **state)
{
    (void)state;
    const uint64_t value = 5;
    uint64_t got;
    known_contents_written(0x10100, 8, &value, false);
    known_contents_written(0x20000, 8, &value, false);
    range_add(0, ACCESS_READ, ACCESS_EXACT, 0, 64);
    begin();
    end();
    assert_true(known_contents_read(0x10100, 8, &got));
    range_add(0, ACCESS_ATOMIC, ACCESS_BOUND_DIRECTION, 0, ACCESS_TO_END);
    begin();
    end();
    assert_false(known_contents_read(0x10100, 8, &got));
    assert_int_equal(finds, 2);
    set.range_count = 0;
    set.complete = false;
    begin();
    end();
    assert_false(known_contents_any()); /* it may have written anywhere */
}

static void kernel_that_writes_to_its_own_table(void **state)
{
    (void)state;
    const uint64_t value = 0x20000;
    known_contents_written(0x10100, 8, &value, false);
    at_find = read_one;
    read_base = bases[0];
    read_offset = 0;
    set.reads_memory = true;
    range_add(0, ACCESS_WRITE, ACCESS_EXACT, 0, 8);
    begin();
    assert_int_equal(finds, 2);
    assert_false(read_known); /* when it was asked for the last time */
    end();
}

/* ---- Reasons ---- */

static void reasons_are_reported_once(void **state)
{
    (void)state;
    set.base_count = 2;
    set.reason = "the index is data";
    set.reason_line = 17;
    range_add(0, ACCESS_READ, ACCESS_EXACT, 0, 4);
    range_add(1, ACCESS_WRITE, ACCESS_BOUND_DATA, 0, 16);
    begin();
    launch_accesses_explain(kernel, &touched);
    assert_string_equal(note, "kernel k: argument 2+8 is bounded: the index is data (PTX line 17)");
    note[0] = '\0';
    launch_accesses_explain(kernel, &touched);
    assert_string_equal(note, "");
    end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(exact_ranges_stay_as_they_are),
        TEST(loads_from_constants_are_recognized),
        TEST(parameters_come_in_a_buffer),
        TEST(pointers_in_structs_are_named_by_their_byte),
        TEST(null_pointers_touch_nothing),
        TEST(guesses_count_where_there_is_memory),
        TEST(by_direction_only_is_a_level_of_its_own),
        TEST(bounded_ranges_are_cut_to_the_allocation),
        TEST(strided_ranges_are_cut_to_what_they_span),
        TEST(what_is_in_no_allocation_stays_and_does_not_wrap),
        TEST(atomics_have_their_width),
        TEST(more_than_there_is_room_for),
        TEST(variables_are_asked_for_once_in_a_context),
        TEST(variable_that_the_driver_does_not_know),
        TEST(a_kernel_with_a_heap_is_not_exact_where_it_is_traced),
        TEST(objects_are_the_memory_under_them),
        TEST(memory_is_read_through_a_parameter),
        TEST(constants_hold_what_their_module_says),
        TEST(what_is_written_is_forgotten),
        TEST(kernel_that_writes_to_its_own_table),
        TEST(reasons_are_reported_once),
    };
    return cmocka_run_group_tests_name("direct", tests, NULL, NULL);
}
