/* Directions from provenance: which 8 bytes of the parameters are surely pointers, and which of
 * them each access derives from. */
#include "runtime/access/direction.h"
#include "runtime/access/instruction_accesses.h"
#include "runtime/access/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The result with its storage; the public struct comes first. */
struct result {
    struct access_directions directions;
    struct arena arena;
};

struct finder {
    struct result *result;
    struct arena *scratch;
    struct provenance provenance;
    bool *is_pointer; /* by byte of the parameter buffer: a pointer surely starts here */
    struct access_pointer *pointers;
    size_t count, capacity;
    uint16_t *charged;                /* by set: the kinds already charged to all its sources; 3
                                         bits each for addresses and for each kind of object */
    access_directions_wanted *wanted; /* NULL: all instructions are */
    void *user;
    uint64_t budget;
};

/* ---- what is not known ---- */

static void give_up(struct finder *finder, const struct ptx_function *function,
                    const struct ptx_instruction *instruction, const char *why)
{
    struct access_directions *directions = &finder->result->directions;
    if (!directions->complete)
        return;
    directions->complete = false;
    directions->reason_line = instruction ? instruction->line : 0;
    if (!instruction)
        snprintf(directions->reason, sizeof directions->reason, "%s", why);
    else
        snprintf(directions->reason, sizeof directions->reason, "%s: PTX line %u, %.60s%s%.60s",
                 why, instruction->line, instruction->mnemonic,
                 function == finder->provenance.kernel ? "" : " in ",
                 function == finder->provenance.kernel ? "" : function->name);
}

/* ---- which parameters are pointers ---- */

static void mark_pointers(struct finder *finder, source_set set)
{
    const struct source_table *sources = finder->provenance.sources;
    for (uint32_t i = 0; i < source_set_count(sources, set); i++) {
        struct source_item item = source_set_item(sources, set, i);
        const struct source *source = source_get(sources, item.source);
        if (item.mode == MODE_WHOLE && source->kind == SOURCE_PARAM)
            finder->is_pointer[source->offset] = true;
    }
}

/* A value that goes alone into cvta, or alone is an address, is a pointer. A sum of two parameters
 * does not show which of them is one. */
static void find_pointers(struct finder *finder)
{
    struct provenance *p = &finder->provenance;
    const char *unknown;
    struct instruction_access touched[INSTRUCTION_ACCESS_MAX];
    for (uint32_t i = 0; i < p->kernel->param_count; i++)
        if (p->kernel->params[i].is_ptr && p->kernel->params[i].size == 8)
            finder->is_pointer[p->kernel->params[i].offset] = true;
    for (size_t f = 0; f < p->function_count; f++) {
        const struct provenance_function *in = &p->functions[f];
        for (uint32_t i = 0; i < in->function->instruction_count; i++) {
            const struct ptx_instruction *instruction = &in->function->instructions[i];
            if (instruction->opcode == PTX_OP_CVTA)
                mark_pointers(finder, provenance_address(p, in, &instruction->operands[1]));
            int count = instruction_accesses_find(instruction, touched, &unknown);
            for (int e = 0; e < count; e++)
                if (!touched[e].object) /* a handle is no pointer */
                    mark_pointers(finder, provenance_address(p, in, touched[e].address));
        }
    }
}

/* ---- charging accesses ---- */

static uint32_t param_at(const struct ptx_function *kernel, int64_t offset)
{
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct ptx_param *param = &kernel->params[i];
        if (offset >= param->offset && offset < (int64_t)param->offset + param->size)
            return i;
    }
    return 0;
}

/* The entry that is the same as this one but for what was charged to it, made when there is none.
 */
static struct access_pointer *find_pointer(struct finder *finder, struct access_pointer wanted)
{
    for (size_t i = 0; i < finder->count; i++) {
        struct access_pointer *pointer = &finder->pointers[i];
        if (pointer->source == wanted.source && pointer->object == wanted.object &&
            pointer->param_offset == wanted.param_offset && pointer->variable == wanted.variable)
            return pointer;
    }
    finder->pointers = ptx_arena_grow(finder->scratch, finder->pointers, finder->count,
                                      &finder->capacity, sizeof *finder->pointers);
    struct access_pointer *pointer = &finder->pointers[finder->count++];
    *pointer = wanted;
    pointer->guessed = true;
    if (wanted.source != ACCESS_SOURCE_VARIABLE)
        pointer->param_index = param_at(finder->provenance.kernel, wanted.param_offset);
    return pointer;
}

static void charge(struct access_pointer *pointer, uint8_t kinds, bool guessed)
{
    pointer->reads |= (kinds & INSTRUCTION_ACCESS_READ) != 0;
    pointer->writes |= (kinds & INSTRUCTION_ACCESS_WRITE) != 0;
    pointer->atomics |= (kinds & INSTRUCTION_ACCESS_ATOMIC) != 0;
    pointer->guessed &= guessed;
}

static bool is_surely_address(const struct finder *finder, const struct source *source)
{
    switch (source->kind) {
    case SOURCE_PARAM:
        return finder->is_pointer[source->offset];
    case SOURCE_VARIABLE:
    case SOURCE_FRAME:
    case SOURCE_SHARED:
    case SOURCE_HEAP:
    case SOURCE_HIDDEN:
        return true;
    default:
        return false;
    }
}

/* Of a sum, the operands that are surely addresses are meant, and the others are integers; when
 * none is, any may be meant. */
static bool has_sure_address(const struct finder *finder, source_set set)
{
    const struct source_table *sources = finder->provenance.sources;
    for (uint32_t i = 0; i < source_set_count(sources, set); i++) {
        struct source_item item = source_set_item(sources, set, i);
        if (item.mode != MODE_PIECE && is_surely_address(finder, source_get(sources, item.source)))
            return true;
    }
    return false;
}

static void charge_source(struct finder *finder, const struct ptx_function *function,
                          const struct ptx_instruction *instruction, const struct source *source,
                          uint8_t kinds)
{
    switch (source->kind) {
    case SOURCE_PARAM:
    case SOURCE_INDEXED:
        charge(
            find_pointer(finder, (struct access_pointer){.source = ACCESS_SOURCE_PARAM,
                                                         .param_offset = (uint32_t)source->offset}),
            kinds, !finder->is_pointer[source->offset]);
        break;
    case SOURCE_VARIABLE:
        charge(find_pointer(finder, (struct access_pointer){.source = ACCESS_SOURCE_VARIABLE,
                                                            .variable = source->object}),
               kinds, false);
        break;
    case SOURCE_LOADED:
        give_up(finder, function, instruction, "a pointer loaded from memory");
        break;
    case SOURCE_FUNCTION:
        give_up(finder, function, instruction, "access to code");
        break;
    default:
        break; /* memory that no other kernel sees */
    }
}

/* Whether the address may contain the difference of two pointers: then a pointer may be in it that
 * was scaled on the way, as p is in q + 4 * ((p - q) / 4). */
static bool has_pointer_difference(const struct finder *finder, source_set set)
{
    const struct provenance *p = &finder->provenance;
    for (uint32_t i = 0; i < source_set_count(p->sources, set); i++) {
        const struct source *source =
            source_get(p->sources, source_set_item(p->sources, set, i).source);
        if (source->kind != SOURCE_DIFFERENCE)
            continue;
        const struct ptx_instruction *subtraction = source->object;
        const struct ptx_operand *right = &subtraction->operands[2];
        if (right->kind != PTX_OPERAND_REGISTER ||
            has_sure_address(finder, p->functions[source->offset].registers[right->reg]))
            return true;
    }
    return false;
}

/* Whether this item of the address is what the access goes through. */
static bool is_meant(const struct finder *finder, struct source_item item, bool sure,
                     bool difference)
{
    const struct source *source = source_get(finder->provenance.sources, item.source);
    if (source->kind == SOURCE_DIFFERENCE)
        return false;
    if (difference)
        return true;
    return item.mode == MODE_WHOLE ||
           (item.mode == MODE_MIXED && (!sure || is_surely_address(finder, source)));
}

static void charge_access(struct finder *finder, const struct provenance_function *in,
                          const struct ptx_instruction *instruction,
                          const struct instruction_access *touched)
{
    struct provenance *p = &finder->provenance;
    source_set set = provenance_address(p, in, touched->address);
    if (set && (finder->charged[set] & touched->kinds) == touched->kinds)
        return;
    finder->charged[set] |= touched->kinds;
    bool sure = has_sure_address(finder, set), charged = false;
    bool difference = has_pointer_difference(finder, set);
    for (uint32_t i = 0; i < source_set_count(p->sources, set); i++) {
        struct source_item item = source_set_item(p->sources, set, i);
        if (!is_meant(finder, item, sure, difference))
            continue;
        struct source source = *source_get(p->sources, item.source);
        charged = true;
        charge_source(finder, in->function, instruction, &source, touched->kinds);
    }
    if (!charged)
        give_up(finder, in->function, instruction, "an address of unknown origin");
}

/* ---- objects ---- */

static void charge_object(struct finder *finder, const struct instruction_access *touched,
                          uint32_t offset, bool guessed)
{
    charge(find_pointer(finder, (struct access_pointer){.source = ACCESS_SOURCE_OBJECT,
                                                        .object = touched->object,
                                                        .param_offset = offset}),
           touched->kinds, guessed);
}

/* A handle is opaque: no arithmetic makes another. False: it did not come from the parameters. */
static bool charge_handle(struct finder *finder, const struct source_item *item,
                          const struct instruction_access *touched)
{
    const struct source *source = source_get(finder->provenance.sources, item->source);
    if (item->mode != MODE_WHOLE ||
        (source->kind != SOURCE_PARAM && source->kind != SOURCE_INDEXED))
        return false;
    charge_object(finder, touched, (uint32_t)source->offset, source->kind == SOURCE_INDEXED);
    return true;
}

/* A tensor map is used where it lies: among the parameters, if it is to be known as of the launch.
 * Of an array of them, read by index, each may be meant. */
static bool charge_tensor_map(struct finder *finder, const struct source_item *item,
                              const struct instruction_access *touched)
{
    enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64 };
    const struct provenance *p = &finder->provenance;
    const struct source *source = source_get(p->sources, item->source);
    const struct ptx_param *param = NULL;
    for (uint32_t i = 0; source->kind == SOURCE_FRAME && i < p->kernel->param_count; i++)
        if (p->kernel->params[i].variable == source->object)
            param = &p->kernel->params[i];
    if (!param || param->size < TENSOR_MAP_BYTES)
        return false;
    int64_t last = (int64_t)param->size - TENSOR_MAP_BYTES;
    if (source->offset != SOURCE_ANYWHERE) {
        if (source->offset < 0 || source->offset > last)
            return false;
        charge_object(finder, touched, param->offset + (uint32_t)source->offset, false);
        return true;
    }
    for (int64_t at = 0; at <= last; at += TENSOR_MAP_ALIGN)
        charge_object(finder, touched, param->offset + (uint32_t)at, true);
    return true;
}

/* Whatever part of the operand may be no object of the parameters makes the result incomplete. */
static void charge_through_object(struct finder *finder, const struct provenance_function *in,
                                  const struct ptx_instruction *instruction,
                                  const struct instruction_access *touched)
{
    static const char *const reasons[] = {
        [INSTRUCTION_ACCESS_OBJECT_TEXTURE] = "a texture object that is no parameter",
        [INSTRUCTION_ACCESS_OBJECT_SURFACE] = "a surface object that is no parameter",
        [INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP] = "a tensor map that is no parameter",
    };
    struct provenance *p = &finder->provenance;
    source_set set = provenance_address(p, in, touched->address);
    unsigned kinds = (unsigned)touched->kinds << 3 * touched->object;
    bool charged = false, all = true;
    if (set && (finder->charged[set] & kinds) == kinds)
        return;
    finder->charged[set] |= (uint16_t)kinds;
    for (uint32_t i = 0; i < source_set_count(p->sources, set); i++) {
        struct source_item item = source_set_item(p->sources, set, i);
        if (item.mode == MODE_PIECE)
            continue;
        bool known = touched->object == INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP
                         ? charge_tensor_map(finder, &item, touched)
                         : charge_handle(finder, &item, touched);
        charged |= known;
        all &= known;
    }
    if (!charged || !all)
        give_up(finder, in->function, instruction, reasons[touched->object]);
}

/* .local and .param addresses are of this thread, but the analysis must know them to follow what is
 * kept there. */
static void check_frame(struct finder *finder, const struct provenance_function *in,
                        const struct ptx_instruction *instruction,
                        const struct instruction_access *touched)
{
    struct provenance *p = &finder->provenance;
    source_set set = provenance_address(p, in, touched->address);
    for (uint32_t i = 0; i < source_set_count(p->sources, set); i++) {
        struct source_item item = source_set_item(p->sources, set, i);
        if (item.mode != MODE_PIECE && source_get(p->sources, item.source)->kind == SOURCE_FRAME)
            return;
    }
    give_up(finder, in->function, instruction, "a local address of unknown origin");
}

static void charge_instruction(struct finder *finder, const struct provenance_function *in,
                               const struct ptx_instruction *instruction)
{
    const char *unknown;
    struct instruction_access touched[INSTRUCTION_ACCESS_MAX];
    if (finder->wanted && !finder->wanted(finder->user, in->function, instruction))
        return;
    int count = instruction_accesses_find(instruction, touched, &unknown);
    if (unknown)
        give_up(finder, in->function, instruction, unknown);
    for (int e = 0; e < count; e++) {
        if (touched[e].object) {
            charge_through_object(finder, in, instruction, &touched[e]);
            continue;
        }
        switch (touched[e].space) {
        case PTX_SPACE_SHARED:
        case PTX_SPACE_SHARED_CLUSTER:
            break;
        case PTX_SPACE_LOCAL:
        case PTX_SPACE_PARAM:
            check_frame(finder, in, instruction, &touched[e]);
            break;
        default:
            charge_access(finder, in, instruction, &touched[e]);
        }
    }
}

static void report_unresolved(struct finder *finder)
{
    const struct provenance *p = &finder->provenance;
    char why[128];
    if (!p->unresolved_call)
        return;
    if (p->unresolved)
        snprintf(why, sizeof why, "call of '%.80s', whose code is not there", p->unresolved->name);
    else
        snprintf(why, sizeof why, "call through a pointer of unknown value");
    give_up(finder, p->unresolved_in, p->unresolved_call, why);
}

/* ---- the result ---- */

static int compare_pointers(const void *left, const void *right)
{
    const struct access_pointer *a = left, *b = right;
    if (a->param_offset != b->param_offset)
        return a->param_offset < b->param_offset ? -1 : 1;
    return (int)a->source != (int)b->source ? (int)a->source - (int)b->source
                                            : (int)a->object - (int)b->object;
}

/* Parameters and objects in them by offset; variables stay in the order of first use, which does
 * not depend on where memory lies. */
static void keep_pointers(struct finder *finder)
{
    struct access_pointer *kept =
        ptx_arena_array(&finder->result->arena, finder->count, sizeof *kept);
    size_t params = 0, at;
    for (size_t i = 0; i < finder->count; i++)
        if (finder->pointers[i].source != ACCESS_SOURCE_VARIABLE)
            kept[params++] = finder->pointers[i];
    if (params)
        qsort(kept, params, sizeof *kept, compare_pointers);
    at = params;
    for (size_t i = 0; i < finder->count; i++)
        if (finder->pointers[i].source == ACCESS_SOURCE_VARIABLE)
            kept[at++] = finder->pointers[i];
    finder->result->directions.pointers = kept;
    finder->result->directions.count = (uint32_t)finder->count;
}

static void find(struct finder *finder, const struct ptx_function *kernel)
{
    struct provenance *p = &finder->provenance;
    bool finished = provenance_find(p, kernel, finder->budget, finder->scratch);
    finder->result->directions.visits = (uint32_t)p->visits;
    if (!finished) {
        give_up(finder, NULL, NULL, "the kernel is too large to analyse within the budget");
        return;
    }
    finder->is_pointer =
        ptx_arena_array(finder->scratch, (size_t)kernel->param_bytes + 1, sizeof(bool));
    finder->charged = ptx_arena_array(finder->scratch, source_set_limit(), sizeof(uint16_t));
    find_pointers(finder);
    for (size_t f = 0; f < p->function_count; f++)
        for (uint32_t i = 0; i < p->functions[f].function->instruction_count; i++)
            charge_instruction(finder, &p->functions[f],
                               &p->functions[f].function->instructions[i]);
    report_unresolved(finder);
    keep_pointers(finder);
}

/* The one frame that is jumped to when memory is short. */
static bool find_protected(struct finder *finder, const struct ptx_function *kernel)
{
    jmp_buf out_of_memory;
    if (setjmp(out_of_memory))
        return false;
    finder->scratch->out_of_memory = &out_of_memory;
    finder->result->arena.out_of_memory = &out_of_memory;
    find(finder, kernel);
    finder->result->arena.out_of_memory = NULL;
    return true;
}

static const struct access_directions *find_within(const struct ptx_function *kernel,
                                                   access_directions_wanted *wanted, void *user,
                                                   uint64_t budget)
{
    struct arena scratch = {0};
    struct finder finder = {.scratch = &scratch,
                            .result = calloc(1, sizeof *finder.result),
                            .wanted = wanted,
                            .user = user,
                            .budget = budget};
    if (!finder.result)
        return NULL;
    finder.result->directions.complete = true;
    bool found = find_protected(&finder, kernel);
    ptx_arena_release(&scratch);
    if (found)
        return &finder.result->directions;
    access_directions_release(&finder.result->directions);
    return NULL;
}

const struct access_directions *access_directions_find_some(const struct ptx_function *kernel,
                                                            access_directions_wanted *wanted,
                                                            void *user)
{
    return find_within(kernel, wanted, user, DIRECTION_BUDGET_LAUNCH);
}

const struct access_directions *access_directions_find(const struct ptx_function *kernel)
{
    return find_within(kernel, NULL, NULL, DIRECTION_BUDGET);
}

void access_directions_release(const struct access_directions *directions)
{
    struct result *result = (struct result *)directions;
    if (!result)
        return;
    ptx_arena_release(&result->arena);
    free(result);
}
