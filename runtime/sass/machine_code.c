/* Reading cubins. See machine_code.h. */
#include "runtime/sass/machine_code.h"
#include "csan/base/array.h"
#include "runtime/ptx/cubin.h"
#include "runtime/sass/branches.h"
#include "runtime/sass/instruction.h"
#include "runtime/sass/value_search.h"

#include <stdlib.h>
#include <string.h>

struct kernel_code {
    char *name;
    bool blind;     /* whatever it copies through tensor maps */
    bool copies;    /* through tensor maps */
    bool indexes;   /* its parameters */
    uint32_t words; /* of its parameters, as the file says */
    uint32_t *read; /* a bit for each of their bytes; NULL: it may read any */
    /* Until it is asked for, its maps if it copies, else its branches: */
    uint8_t *instructions;
    uint64_t bytes;
    uint32_t architecture, params_at, param_bytes;
    struct map_uses *maps;  /* NULL: not known, or not yet */
    struct reads *branches; /* NULL: they narrow nothing beyond `read`, or not yet; if the code
                               indexes parameters: the indices are not known */
};

struct machine_code {
    bool unreadable;  /* the file is damaged, or memory was short */
    bool reads_all;   /* instructions are not understood, or a function may read any parameter */
    bool calls_blind; /* some function has such accesses; which kernel calls it is not looked at */
    uint32_t architecture;
    uint32_t params_at; /* where kernels of that architecture have parameters */
    size_t count, room;
    struct kernel_code *kernels;
    const char *only; /* while it is read: of this kernel; NULL: of all */
};

/* What instruction.h knows. Before ENCODING_FIRST instructions are encoded otherwise. */
enum { ENCODING_FIRST = 70, ARCHITECTURE_FIRST = 75, ARCHITECTURE_LAST = 121 };
/* What step.h knows of branches, and map_uses.h of copies through tensor maps, which there are not
 * before. */
enum { BRANCHES_LAST = 121, MAPS_ARCHITECTURE = 90 };
/* Code is kept until it is looked at, for that takes milliseconds a kernel, and few of a library's
 * are ever launched; not without end. Branches are looked at where a kernel reads more than a few
 * words: other structures have no room for what a launch leaves unread. */
enum { KEPT_COPYING_MOST = 64 << 20, KEPT_OTHER_MOST = 128 << 20, WORDS_FEW = 16 };
/* Bytes of all modules; atomic. Apart, so that there is room for kernels that copy: without their
 * maps nothing is learned of them. */
static struct {
    uint64_t copying, other;
} kept;

/* ---- Code ---- */

/* The driver's own constants lie before the parameters. One is a generic address of the bank:
 * through it a kernel reads a parameter whose address it takes (PTX ISA, cvta.param), or passes
 * that on. These are the others, as far as CUDA 13's compiler and libraries read them: the launch's
 * dimensions, the windows of shared and local memory and of constant variables, the stack's end,
 * sizes of shared memory, the grid's barrier, clusters, descriptors. */
static bool is_driver_constant(uint32_t params_at, uint32_t offset)
{
    static const struct {
        uint32_t params_at, from, to;
    } ranges[] = {{0x160, 0x000, 0x030}, {0x160, 0x050, 0x058}, {0x160, 0x08c, 0x094},
                  {0x160, 0x114, 0x120}, {0x210, 0x000, 0x030}, {0x210, 0x044, 0x04c},
                  {0x210, 0x0d0, 0x0d8}, {0x210, 0x114, 0x118}, {0x210, 0x140, 0x148},
                  {0x210, 0x188, 0x18c}, {0x210, 0x208, 0x210}, {0x380, 0x120, 0x128},
                  {0x380, 0x16c, 0x170}, {0x380, 0x2f8, 0x300}, {0x380, 0x358, 0x380}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].params_at == params_at && offset >= ranges[i].from && offset < ranges[i].to)
            return true;
    return false;
}

/* What the constant is of the parameters. False: it may be any of them, whatever indices are. */
static bool constant_note(struct kernel_code *kernel, const struct cubin_code *code,
                          struct constant constant)
{
    kernel->indexes |= constant.kind == CONSTANT_INDEXED;
    if (constant.kind != CONSTANT_KNOWN)
        return constant.kind != CONSTANT_ANY;
    for (uint32_t at = constant.offset; at < constant.offset + constant.bytes; at++) {
        if (at < code->params_at && !is_driver_constant(code->params_at, at))
            return false;
        const uint32_t byte = at - code->params_at; /* one before them is behind the last */
        if (byte / 4 < kernel->words)
            kernel->read[byte / 32] |= 1u << byte % 32;
    }
    return true;
}

/* What the code does; `kernel` has room for it, cleared. False: it may read any parameter. */
static bool code_scan(const struct cubin_code *code, struct kernel_code *kernel)
{
    struct instruction instruction;
    bool known = true;
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= code->bytes; at += INSTRUCTION_BYTES) {
        memcpy(&instruction, code->instructions + at, sizeof instruction);
        kernel->copies |= instruction_copies_tensor(instruction);
        kernel->blind |=
            instruction_is_unseen(instruction) && !instruction_copies_tensor(instruction);
        known = known && constant_note(kernel, code, instruction_constant(instruction));
    }
    return known;
}

/* ---- The file ---- */

static struct kernel_code *kernel_add(struct machine_code *code, const char *name)
{
    if (!array_room(&code->kernels, code->count, &code->room, 16, SIZE_MAX, sizeof *code->kernels))
        return NULL;
    struct kernel_code *kernel = &code->kernels[code->count];
    *kernel = (struct kernel_code){.name = strdup(name)};
    code->count += kernel->name != NULL;
    return kernel->name ? kernel : NULL;
}

static uint64_t *kept_with(const struct kernel_code *kernel)
{
    return kernel->copies ? &kept.copying : &kept.other;
}

/* Whether there is room for so many bytes more. */
static bool is_room(const struct kernel_code *kernel, uint64_t bytes)
{
    const uint64_t most = kernel->copies ? KEPT_COPYING_MOST : KEPT_OTHER_MOST;
    return __atomic_load_n(kept_with(kernel), __ATOMIC_RELAXED) + bytes <= most;
}

static void instructions_drop(struct kernel_code *kernel)
{
    if (kernel->instructions)
        __atomic_fetch_sub(kept_with(kernel), kernel->bytes, __ATOMIC_RELAXED);
    free(kernel->instructions);
    kernel->instructions = NULL;
}

/* Which bytes of that word it reads, a bit for each. */
static uint32_t bytes_read(const struct kernel_code *kernel, uint32_t word)
{
    return kernel->read[word / 8] >> word % 8 * 4 & 0xf;
}

static uint32_t words_read(const struct kernel_code *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; kernel->read && i < kernel->words; i++)
        count += bytes_read(kernel, i) != 0;
    return count;
}

/* Into the instructions that name them. */
static void numbers_put(uint8_t *instructions, const struct cubin_code *of)
{
    struct instruction instruction;
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= of->bytes; at += INSTRUCTION_BYTES) {
        memcpy(&instruction, instructions + at, sizeof instruction);
        instruction = instruction_resolved(instruction, of->numbers, of->number_bytes);
        memcpy(instructions + at, &instruction, sizeof instruction);
    }
}

/* Whether the instruction calls __assertfail: its target registers hold the address of that
 * function. */
static bool is_assertion(struct value_search *search, uint32_t place, uint32_t assertfail_at)
{
    const struct instruction instruction = value_search_instruction(search, place);
    const uint32_t reg = instruction_bits(instruction.low, 24, 8);
    if (instruction_opcode(instruction) != OPCODE_CALL_ABS || instruction_form(instruction) != 1)
        return false;
    const struct value low = value_search_before(search, reg, place),
                       high = value_search_before(search, reg + 1, place);
    return low.kind == VALUE_WORD && low.value == assertfail_at && high.kind == VALUE_WORD &&
           high.value == assertfail_at + 4;
}

/* Control does not come back from an assertion that failed: EXIT, by the same guard. Else all
 * registers would be unknown behind it. */
static void assertions_end(uint8_t *instructions, const struct cubin_code *of,
                           uint32_t architecture)
{
    enum { GUARD = 0xf000, EXIT_LOW = 0x94d, EXIT_HIGH = 0x3800000 };
    struct value_search search;
    const bool known = value_search_open(&search, of->instructions, of->bytes, architecture);
    for (uint32_t place = 0; known && place < search.count; place++) {
        struct instruction instruction = value_search_instruction(&search, place);
        if (!is_assertion(&search, place, of->assertfail_at))
            continue;
        instruction = (struct instruction){EXIT_LOW | (instruction.low & GUARD), EXIT_HIGH};
        memcpy(instructions + (size_t)place * INSTRUCTION_BYTES, &instruction, sizeof instruction);
    }
    value_search_close(&search);
}

static void instructions_keep(struct machine_code *code, struct kernel_code *kernel,
                              const struct cubin_code *of)
{
    const bool is_followed = kernel->copies
                                 ? !kernel->blind && code->architecture == MAPS_ARCHITECTURE
                                 : (words_read(kernel) > WORDS_FEW || kernel->indexes) &&
                                       code->architecture >= ARCHITECTURE_FIRST &&
                                       code->architecture <= BRANCHES_LAST;
    if (!is_followed || of->is_relocated || of->params_at != code->params_at ||
        !is_room(kernel, of->bytes))
        return;
    kernel->instructions = malloc(of->bytes);
    if (!kernel->instructions)
        return;
    memcpy(kernel->instructions, of->instructions, of->bytes);
    if (of->numbers)
        numbers_put(kernel->instructions, of);
    if (of->assertfail_at != CUBIN_NOWHERE)
        assertions_end(kernel->instructions, of, code->architecture);
    kernel->bytes = of->bytes;
    kernel->architecture = code->architecture;
    kernel->params_at = of->params_at;
    kernel->param_bytes = of->param_bytes;
    __atomic_fetch_add(kept_with(kernel), of->bytes, __ATOMIC_RELAXED);
}

static void visit(void *user, const struct cubin_code *of)
{
    struct machine_code *code = user;
    struct kernel_code function = {0};
    if (!of->is_kernel) {
        struct cubin_code called = *of;
        called.params_at = code->params_at;
        code->reads_all |= !code_scan(&called, &function) || function.indexes;
        code->calls_blind |= function.blind || function.copies;
        return;
    }
    if (code->only && strcmp(of->name, code->only) != 0)
        return;
    struct kernel_code *kernel = kernel_add(code, of->name);
    if (!kernel) {
        code->unreadable = true;
        return;
    }
    uint32_t words = (of->param_bytes + 3) / 4;
    kernel->read = calloc(words / 8 + 1, sizeof *kernel->read);
    kernel->words = kernel->read ? words : 0;
    if (!code_scan(of, kernel)) {
        free(kernel->read);
        kernel->read = NULL;
    }
    instructions_keep(code, kernel, of);
}

static int by_name(const void *left, const void *right)
{
    const struct kernel_code *a = left, *b = right;
    return strcmp(a->name, b->name);
}

struct machine_code *machine_code_read(const void *cubin, size_t bytes)
{
    return machine_code_read_kernel(cubin, bytes, NULL);
}

struct machine_code *machine_code_read_kernel(const void *data, size_t bytes, const char *kernel)
{
    char message[128];
    struct machine_code *code = calloc(1, sizeof *code);
    if (!code)
        return NULL;
    code->only = kernel;
    uint32_t architecture = cubin_architecture(data, bytes);
    code->reads_all = architecture < ARCHITECTURE_FIRST || architecture > ARCHITECTURE_LAST;
    code->architecture = architecture;
    code->params_at = architecture < 90 ? 0x160 : architecture < 100 ? 0x210 : 0x380;
    if (cubin_codes(data, bytes, visit, code, message, sizeof message) < 0)
        code->unreadable = true;
    if (code->count)
        qsort(code->kernels, code->count, sizeof *code->kernels, by_name);
    code->only = NULL;
    return code;
}

void machine_code_free(struct machine_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->count; i++) {
        free(code->kernels[i].name);
        free(code->kernels[i].read);
        instructions_drop(&code->kernels[i]);
        free(code->kernels[i].maps);
        free(code->kernels[i].branches);
    }
    free(code->kernels);
    free(code);
}

static struct kernel_code *kernel_find(const struct machine_code *code, const char *name)
{
    if (!code || code->unreadable || !code->count || !name)
        return NULL;
    const struct kernel_code key = {.name = (char *)name};
    return bsearch(&key, code->kernels, code->count, sizeof key, by_name);
}

enum {
    PARAMETER_BYTES_MOST = 1 << 15
}; /* CUDA C++ Programming Guide, "__global__ Function Parameters" */

/* Moves the array, which is placed in the bank, to those of its elements that may be maps: among
 * the parameters, and at multiples of 64 bytes in the bank (CUDA Driver API, CUtensorMap: aligned
 * to that). False: there are none, or they are farther apart than parameters may be long. */
static bool array_offset_to_map(struct map_use *use, uint32_t params_at)
{
    const uint32_t step = use->every, before = params_at - use->offset;
    if (step > PARAMETER_BYTES_MOST)
        return false;
    if (before <= INT32_MAX) /* or it begins in them */
        use->offset += (before + step - 1) / step * step;
    for (uint32_t tried = 0; use->offset % MAP_USE_BYTES && tried < MAP_USE_BYTES; tried++)
        use->offset += step;
    while (use->every % MAP_USE_BYTES)
        use->every += step;
    return use->offset % MAP_USE_BYTES == 0;
}

/* From offsets in the bank to those in the parameters. False: one is none of these. */
static bool uses_relocate(struct map_uses *maps, const struct kernel_code *kernel)
{
    for (uint32_t i = 0; i < maps->count; i++) {
        struct map_use *use = &maps->uses[i];
        if (use->every && !array_offset_to_map(use, kernel->params_at))
            return false;
        if (use->offset < kernel->params_at ||
            use->offset - kernel->params_at + MAP_USE_BYTES > kernel->param_bytes)
            return false;
        use->offset -= kernel->params_at;
    }
    return maps->count > 0;
}

static void maps_look(struct kernel_code *kernel)
{
    struct map_uses *maps = malloc(sizeof *maps);
    if (maps && map_uses_find(maps, kernel->instructions, kernel->bytes) &&
        uses_relocate(maps, kernel))
        kernel->maps = maps;
    else
        free(maps);
    instructions_drop(kernel);
}

static void branches_look(struct kernel_code *kernel)
{
    kernel->branches = branches_find(kernel->instructions, kernel->bytes, kernel->architecture,
                                     kernel->params_at, kernel->words);
    instructions_drop(kernel);
}

const struct map_uses *machine_code_maps(struct machine_code *code, const char *name)
{
    struct kernel_code *kernel = kernel_find(code, name);
    if (!kernel || code->calls_blind)
        return NULL;
    if (kernel->instructions && kernel->copies)
        maps_look(kernel);
    return kernel->maps;
}

bool machine_code_is_blind(struct machine_code *code, const char *name)
{
    const struct kernel_code *kernel = kernel_find(code, name);
    if (!kernel || code->calls_blind || kernel->blind || code->architecture < ENCODING_FIRST)
        return true;
    return kernel->copies && !machine_code_maps(code, name);
}

/* Of whatever is given. */
static struct reads *reads_always(const struct kernel_code *kernel)
{
    struct reads *reads = reads_create(&(struct reads){.words = kernel->words, .region_count = 1});
    for (uint32_t i = 0; reads && i < kernel->words; i++)
        reads_region_words(reads, 0)[i / 32] |= (uint32_t)(bytes_read(kernel, i) != 0) << i % 32;
    return reads;
}

/* The words that it reads in part, as far as there is room. Returns how many. */
static uint32_t parts_find(const struct kernel_code *kernel, struct reads_part *parts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->words && count < READS_PARTS_MOST; i++) {
        const uint32_t bytes = bytes_read(kernel, i);
        if (bytes != 0 && bytes != 0xf)
            parts[count++] = (struct reads_part){i, reads_mask(bytes)};
    }
    return count;
}

struct reads *machine_code_reads(struct machine_code *code, const char *name, uint32_t words)
{
    struct kernel_code *kernel = kernel_find(code, name);
    if (!kernel || !kernel->read || code->reads_all || kernel->words != words ||
        words > READS_WORDS_MOST)
        return NULL;
    if (kernel->instructions && !kernel->copies)
        branches_look(kernel);
    if (kernel->indexes && !kernel->branches)
        return NULL;
    struct reads_part parts[READS_PARTS_MOST];
    struct reads *always = kernel->branches ? NULL : reads_always(kernel);
    const struct reads *whole = kernel->branches ? kernel->branches : always;
    struct reads *reads = whole ? reads_narrow(whole, parts, parts_find(kernel, parts)) : NULL;
    free(always);
    return reads;
}
