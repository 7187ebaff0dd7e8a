/* libFuzzer: PTX text through the parser and the linker, kernels of it by themselves, and the
 * access sets of random launches of each kernel that comes out. Nothing may crash, and nothing may
 * take long. */
#include "runtime/access/access_set.h"
#include "runtime/ptx/ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    UNITS = 3,        /* of one input */
    KERNELS = 4,      /* the same */
    LAUNCHES = 3,     /* of one kernel */
    LIMIT = 1000,     /* milliseconds for one set: the analysis may take 5 without sanitizers */
    PARAMETERS = 256, /* of one kernel */
    PARAMETER_BYTES = 1 << 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t limit);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed);

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 29;
}

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool reads(void *user, const struct access_base *base, const void *const *parameters,
                  int64_t offset, uint32_t bytes, void *to)
{
    (void)base, (void)parameters;
    uint64_t value = *(const uint64_t *)user + (uint64_t)offset;
    memcpy(to, &value, bytes);
    return value % 3;
}

/* Reads all of a set, so that what lies outside of its memory is seen. */
static uint64_t walk(const struct access_set *set)
{
    uint64_t sum = strlen(set->reason);
    for (uint32_t i = 0; i < set->base_count; i++)
        sum += set->bases[i].param_offset + set->bases[i].address;
    for (uint32_t i = 0; i < set->range_count; i++) {
        const struct access_range *range = &set->ranges[i];
        if (range->base >= set->base_count || range->dim_count > ACCESS_MAX_DIMS)
            abort();
        sum += range->bytes;
        for (uint32_t k = 0; k < range->dim_count; k++)
            sum += range->dims[k].count;
    }
    return sum;
}

static void find_set(struct access_kernel *kernel, const struct ptx_function *function,
                     const struct access_launch *launch)
{
    double start = milliseconds();
    const struct access_set *set = access_set_find(kernel, launch);
    double taken = milliseconds() - start;
    if (taken > LIMIT) {
        fprintf(stderr, "the set of a launch of '%s' took %.0f ms\n", function->name, taken);
        abort();
    }
    if (walk(set) == UINT64_MAX)
        fputs("", stderr);
}

static void launch_kernel(const struct ptx_function *function, uint64_t seed)
{
    static const uint32_t sizes[] = {1, 2, 3, 32, 64, 1000, 65535, 2147483647};
    const void *parameters[PARAMETERS];
    uint64_t memory = seed;
    if (function->param_count > PARAMETERS || function->param_bytes > PARAMETER_BYTES)
        return;
    uint8_t *buffer = malloc(function->param_bytes + 1);
    struct access_kernel *kernel = access_kernel_create(function);
    for (uint32_t i = 0; buffer && i < function->param_count; i++)
        parameters[i] = buffer + function->params[i].offset;
    for (int n = 0; buffer && kernel && n < LAUNCHES; n++) {
        struct access_launch launch = {.parameters = parameters, .user = &memory};
        for (uint32_t i = 0; i < function->param_bytes; i++)
            buffer[i] = next(&seed) % 3 ? 0 : (uint8_t)next(&seed);
        for (int k = 0; k < 3; k++) {
            launch.grid[k] = k ? sizes[next(&seed) % 4] : sizes[next(&seed) % 8];
            launch.block[k] = k ? sizes[next(&seed) % 3] : sizes[next(&seed) % 5];
        }
        launch.read = n % 2 ? reads : NULL;
        launch.memory_version = (uint64_t)n;
        find_set(kernel, function, &launch);
        find_set(kernel, function, &launch);
    }
    access_kernel_release(kernel);
    free(buffer);
}

static void launch_kernels(const struct ptx_module *module, uint64_t seed)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->function_count && count < KERNELS; i++) {
        const struct ptx_function *function = module->functions[i];
        if (function->is_entry && !function->is_prototype) {
            launch_kernel(function, seed + i);
            count++;
        }
    }
}

/* A kernel that is read without the others is what it is among them. */
static void compare_alone(const char *text, size_t bytes, const struct ptx_module *module,
                          uint64_t seed)
{
    struct ptx_error error;
    char name[1 << 10];
    struct outline *outline = outline_read(text, bytes);
    for (uint32_t n = 0; outline && outline->count && n < KERNELS; n++) {
        const size_t index = (seed + n) % outline->count;
        const struct outline_kernel *found = &outline->kernels[index];
        struct ptx_module *one = ptx_parse_kernel(text, bytes, outline, index, &error);
        snprintf(name, sizeof name, "%.*s", (int)found->name_length, found->name);
        const struct ptx_function *whole = module ? ptx_module_function(module, name) : NULL,
                                  *alone = one ? ptx_module_function(one, name) : NULL;
        if (whole && alone && found->name_length < sizeof name &&
            (whole->is_prototype != alone->is_prototype || whole->is_entry != alone->is_entry ||
             whole->param_bytes != alone->param_bytes ||
             whole->register_count != alone->register_count ||
             whole->instruction_count != alone->instruction_count)) {
            fprintf(stderr, "kernel '%s' is another one by itself\n", name);
            abort();
        }
        ptx_module_release(one);
    }
    free(outline);
}

/* Where the next unit starts: at a .version directive. */
static size_t unit_end(const char *text, size_t bytes)
{
    static const char start[] = "\n.version";
    const char *next_unit =
        bytes > 64 ? memmem(text + 64, bytes - 64, start, sizeof start - 1) : NULL;
    return next_unit ? (size_t)(next_unit - text) : bytes;
}

/* Several PTX texts one after the other are units to be linked. */
static uint32_t parse_units(const char *text, size_t bytes, struct ptx_module **units,
                            uint64_t seed)
{
    struct ptx_error error;
    uint32_t count = 0;
    while (bytes && count < UNITS) {
        size_t part = unit_end(text, bytes);
        /* exactly as long as the unit is, so that one byte too far is seen */
        char *copy = malloc(part);
        if (!copy)
            break;
        memcpy(copy, text, part);
        units[count] = ptx_parse(copy, part, &error);
        compare_alone(copy, part, units[count], seed);
        free(copy);
        count += units[count] != NULL;
        text += part;
        bytes -= part;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct ptx_module *units[UNITS];
    struct ptx_error error;
    uint64_t seed = bytes;
    for (size_t i = 0; i < bytes; i++)
        seed = seed * 31 + data[i];
    uint32_t count = parse_units((const char *)data, bytes, units, seed);
    if (!count)
        return 0;
    struct ptx_module *linked = ptx_link((const struct ptx_module *const *)units, count, &error);
    launch_kernels(linked ? linked : units[0], seed);
    ptx_module_release(linked);
    for (uint32_t i = 0; i < count; i++)
        ptx_module_release(units[i]);
    return 0;
}

/* ---- Mutations that leave PTX that still parses, mostly ---- */

struct span {
    size_t first, bytes;
};

/* A line somewhere in the text, with its end. */
static struct span any_line(const uint8_t *data, size_t bytes, uint64_t *state)
{
    size_t first = next(state) % bytes, last = first;
    while (first && data[first - 1] != '\n')
        first--;
    while (last < bytes && data[last] != '\n')
        last++;
    last += last < bytes;
    return (struct span){first, last - first};
}

static size_t remove_span(uint8_t *data, size_t bytes, struct span span)
{
    memmove(data + span.first, data + span.first + span.bytes, bytes - span.first - span.bytes);
    return bytes - span.bytes;
}

/* Puts text at `at`; nothing when there is no room. */
static size_t insert(uint8_t *data, size_t bytes, size_t limit, size_t at, const uint8_t *text,
                     size_t text_bytes)
{
    if (text_bytes > limit - bytes)
        return bytes;
    memmove(data + at + text_bytes, data + at, bytes - at);
    memcpy(data + at, text, text_bytes);
    return bytes + text_bytes;
}

static size_t copy_line(uint8_t *data, size_t bytes, size_t limit, uint64_t *state)
{
    uint8_t line[512];
    struct span from = any_line(data, bytes, state), to = any_line(data, bytes, state);
    if (from.bytes > sizeof line)
        return bytes;
    memcpy(line, data + from.first, from.bytes);
    return insert(data, bytes, limit, to.first, line, from.bytes);
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Another number in the place of one: an immediate, a register, a label. */
static size_t change_number(uint8_t *data, size_t bytes, size_t limit, uint64_t *state)
{
    static const char *const numbers[] = {
        "0",    "1",   "-1",  "2",          "4",
        "8",    "31",  "64",  "2147483647", "-2147483648",
        "4096", "256", "255", "4294967296", "9223372036854775807"};
    size_t first = next(state) % bytes;
    while (first < bytes && !is_digit(data[first]))
        first++;
    size_t last = first;
    while (last < bytes && is_digit(data[last]))
        last++;
    if (first == bytes)
        return bytes;
    char small[24];
    const char *number = numbers[next(state) % (sizeof numbers / sizeof *numbers)];
    if (next(state) % 3) { /* most are registers: one of the first */
        snprintf(small, sizeof small, "%u", (unsigned)(next(state) % 40));
        number = small;
    }
    bytes = remove_span(data, bytes, (struct span){first, last - first});
    return insert(data, bytes, limit, first, (const uint8_t *)number, strlen(number));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t limit, unsigned seed)
{
    uint64_t state = seed;
    uint64_t steps = 1 + next(&state) % 4;
    for (uint64_t i = 0; i < steps && bytes; i++) {
        switch (next(&state) % 6) {
        case 0:
            bytes = remove_span(data, bytes, any_line(data, bytes, &state));
            break;
        case 1:
        case 2:
            bytes = copy_line(data, bytes, limit, &state);
            break;
        case 3:
        case 4:
            bytes = change_number(data, bytes, limit, &state);
            break;
        default:
            bytes = LLVMFuzzerMutate(data, bytes, limit);
        }
    }
    return bytes ? bytes : LLVMFuzzerMutate(data, bytes, limit);
}
