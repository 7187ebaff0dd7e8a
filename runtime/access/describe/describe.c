/* What a kernel touches, in words. See describe.h and describer.h. */
#include "runtime/access/describe/describer.h"
#include "runtime/access/direction.h"
#include "runtime/access/instruction_accesses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 100000, /* nodes looked at, for one kernel */
    PLACES = 32      /* accesses that are described as one */
};

/* The addresses of accesses that are described as one: the same offset, plus each of these. */
struct place {
    const char *rest;
    bool cut;
    unsigned count;
    int64_t constants[PLACES];
};

/* What an address is relative to: its one pointer; the rest goes to *offset. */
static const char *split_address(struct describer *d, const struct symbolic_sum *sum,
                                 const struct symbolic_sum **offset)
{
    const struct symbolic_sum_term *pointer = NULL;
    unsigned pointers = 0;
    for (uint8_t want = SYMBOLIC_SUM_POINTER; !pointers && want >= SYMBOLIC_SUM_MAYBE_POINTER;
         want--)
        for (uint32_t i = 0; i < sum->count; i++)
            if (sum->terms[i].pointer == want && sum->terms[i].coefficient == 1) {
                pointer = &sum->terms[i];
                pointers++;
            }
    *offset = sum;
    if (pointers != 1)
        return "?";
    *offset = symbolic_sum_add(&d->scratch, sum, symbolic_sum_term(&d->scratch, *pointer), -1);
    if (pointer->cut) { /* equal texts are not known to be equal values: take it out by hand */
        struct symbolic_sum *rest = symbolic_sum_constant(&d->scratch, sum->constant);
        for (uint32_t i = 0; i < sum->count; i++)
            if (&sum->terms[i] != pointer)
                rest = symbolic_sum_add(&d->scratch, rest,
                                        symbolic_sum_term(&d->scratch, sum->terms[i]), 1);
        *offset = rest;
    }
    size_t length = strlen(pointer->text);
    if (pointer->text[0] == '{' && pointer->text[length - 1] == '}' && !strchr(pointer->text, ' '))
        return symbolic_sum_print(&d->scratch, NULL, "%.*s", (int)length - 2, pointer->text + 1);
    return pointer->text;
}

static void say_unknown(struct describe_access *to, const char *reason, uint32_t line)
{
    to->known = DESCRIBE_UNKNOWN;
    to->reason = reason;
    to->reason_line = line;
}

static void say_bounded(struct describe_access *to, struct taint taint, const char *data,
                        const char *shape)
{
    if (to->known != DESCRIBE_EXACT || !taint.bound)
        return;
    to->known = DESCRIBE_BOUNDED;
    to->reason = taint.bound == ACCESS_BOUND_DATA ? data : shape;
    to->reason_line = taint.line;
}

static void classify_access(struct describer *d, const struct value_graph_access *access,
                            struct describe_access *to)
{
    const struct value_graph *graph = d->graph;
    struct taint guard = describe_taint_of_block(d, access->block), rounds = {0};
    for (uint32_t loop = graph->nodes[access->address].loop; loop; loop = graph->loops[loop].parent)
        if (value_graph_loop_contains(graph, loop, graph->blocks[access->block].loop))
            describe_taint_by(&rounds, describe_taint_of_exits(d, loop));
    describe_taint_by(&guard, d->taints[access->guard]);
    describe_taint_by(&guard, rounds);
    describe_taint_by(&guard, d->taints[access->size]);
    bool none = strcmp(to->base, "?") == 0;
    bool is_loaded = to->base[0] == '*' || strncmp(to->base, "<loaded>", 8) == 0 ||
                     d->taints[access->address].bound == ACCESS_BOUND_DATA;
    if (none && !is_loaded)
        say_unknown(to, "its address derives from no pointer that is known", to->line);
    else if (none || to->base[0] == '*' || strncmp(to->base, "<loaded>", 8) == 0)
        say_unknown(to, "the pointer is read from memory", d->taints[access->address].line);
    say_bounded(to, d->taints[access->address], "the address depends on what memory holds",
                "the address has no form that is followed");
    if (strstr(to->offset, "<varies"))
        say_bounded(to, (struct taint){ACCESS_BOUND_SHAPE, to->line}, "",
                    "it grows by another amount from round to round");
    say_bounded(to, guard, "whether it happens depends on what memory holds",
                "whether it happens depends on what is not followed");
}

/* ---- Objects ---- */

static const char *object_word(const struct value_graph_access *access)
{
    static const char *const words[] = {
        [INSTRUCTION_ACCESS_OBJECT_NONE] = "?",
        [INSTRUCTION_ACCESS_OBJECT_TEXTURE] = "texture",
        [INSTRUCTION_ACCESS_OBJECT_SURFACE] = "surface",
        [INSTRUCTION_ACCESS_OBJECT_TENSOR_MAP] = "tensor map",
    };
    struct instruction_access touched[INSTRUCTION_ACCESS_MAX];
    const char *unknown;
    int count = instruction_accesses_find(access->instruction, touched, &unknown);
    for (int i = 0; i < count; i++)
        if (touched[i].object && touched[i].kinds == access->kinds)
            return words[touched[i].object];
    return words[INSTRUCTION_ACCESS_OBJECT_NONE];
}

static bool is_this_one(void *user, const struct ptx_function *function,
                        const struct ptx_instruction *instruction)
{
    (void)function;
    return instruction == user;
}

/* "arg0" or "arg1+8". */
static const char *object_source(struct describer *d, const struct access_pointer *pointer)
{
    uint32_t index = pointer->param_index;
    uint32_t inside = pointer->param_offset - d->graph->kernel->params[index].offset;
    return inside ? symbolic_sum_print(&d->scratch, NULL, "arg%" PRIu32 "+%" PRIu32, index, inside)
                  : symbolic_sum_print(&d->scratch, NULL, "arg%" PRIu32, index);
}

/* Where the handle comes from; `pointers` are the parameters that it may be. */
static const char *object_base(struct describer *d, const char *word,
                               const struct access_pointer *pointers, uint32_t count)
{
    const char *sources = count ? object_source(d, &pointers[0]) : NULL;
    bool same = count > 0, guessed = count > DESCRIBE_EITHER;
    for (uint32_t i = 0; i < count; i++) {
        same = same && pointers[i].param_index == pointers[0].param_index;
        guessed = guessed || pointers[i].guessed;
    }
    if (guessed && same)
        return symbolic_sum_print(&d->scratch, NULL, "%s in arg%" PRIu32, word,
                                  pointers[0].param_index);
    if (guessed || count == 0)
        return symbolic_sum_print(&d->scratch, NULL, "<%s>", word);
    for (uint32_t i = 1; i < count; i++)
        sources = symbolic_sum_print(&d->scratch, NULL, "%s, %s", sources,
                                     object_source(d, &pointers[i]));
    return symbolic_sum_print(&d->scratch, NULL, count > 1 ? "%s either(%s)" : "%s %s", word,
                              sources);
}

/* An access through a handle: the directions of this instruction say of which parameter. */
static void describe_object(struct describer *d, const struct value_graph_access *access,
                            struct describe_access *to)
{
    struct access_pointer pointers[DESCRIBE_EITHER + 1];
    uint32_t count = 0;
    const struct access_directions *directions = access_directions_find_some(
        d->graph->kernel, is_this_one, (void *)(uintptr_t)access->instruction);
    bool complete = directions && directions->complete;
    for (uint32_t i = 0; directions && i < directions->count; i++)
        if (directions->pointers[i].source == ACCESS_SOURCE_OBJECT) {
            /* They are sorted: if there are too many, the first ones and the last suffice. */
            pointers[count <= DESCRIBE_EITHER ? count : DESCRIBE_EITHER] = directions->pointers[i];
            count += count <= DESCRIBE_EITHER;
        }
    access_directions_release(directions); /* before anything that may jump out of here */
    to->base = object_base(d, object_word(access), pointers, count);
    to->known = DESCRIBE_BOUNDED;
    to->reason = "which part of its memory is not known";
    if (!complete)
        say_unknown(to, "its handle may come from elsewhere than the parameters", to->line);
}

static const char *access_guard(struct describer *d, const struct value_graph_access *access)
{
    const char *guard = describe_path(d, VALUE_GRAPH_NO_BLOCK, access->block, access->block, 0);
    if (access->guard)
        guard =
            describe_both(d, guard, describe_predicate(d, access->guard, access->guard_negated, 0));
    return guard;
}

static void describe_one(struct describer *d, const struct value_graph_access *access,
                         struct describe_access *to, struct place *place)
{
    *to = (struct describe_access){.kinds = access->kinds,
                                   .bytes = access->size ? 0 : access->bytes,
                                   .line = access->instruction->line,
                                   .offset = "?",
                                   .loops = "",
                                   .reason = ""};
    to->guard = access_guard(d, access);
    if (!access->address) {
        to->base = object_word(access);
        if (to->base[0] == '?')
            say_unknown(to, "it is an instruction that is not followed", to->line);
        else
            describe_object(d, access, to);
        return;
    }
    const struct symbolic_sum *offset;
    to->base = split_address(d, describe_node(d, access->address), &offset);
    to->offset = symbolic_sum_text(&d->scratch, offset, NULL);
    place->rest = symbolic_sum_text(
        &d->scratch,
        symbolic_sum_add(&d->scratch, offset, symbolic_sum_constant(&d->scratch, -offset->constant),
                         1),
        &place->cut);
    place->constants[place->count++] = offset->constant;
    to->loops = describe_loops(d, access->block, to->offset, to->guard);
    classify_access(d, access, to);
}

/* But for the offset. */
static bool same_access(const struct describe_access *a, const struct describe_access *b)
{
    return a->kinds == b->kinds && a->bytes == b->bytes && a->known == b->known &&
           strcmp(a->base, b->base) == 0 && strcmp(a->loops, b->loops) == 0 &&
           strcmp(a->guard, b->guard) == 0;
}

/* Unrolled loops and members of a struct: the same offset plus another constant. */
static bool merge_place(struct place *into, const struct place *from)
{
    if (from->cut || into->cut || !from->count || !into->count ||
        strcmp(from->rest, into->rest) != 0)
        return false;
    for (unsigned i = 0; i < into->count; i++)
        if (into->constants[i] == from->constants[0])
            return true;
    if (into->count == PLACES)
        return false;
    into->constants[into->count++] = from->constants[0];
    return true;
}

static const char *keep(struct describer *d, const char *text)
{
    return ptx_arena_text(d->arena, text, strlen(text));
}

static void add_access(struct describer *d, const struct value_graph_access *access)
{
    struct describe_access one;
    struct place place = {.count = 0};
    describe_one(d, access, &one, &place);
    for (size_t i = d->count; i-- > 0 && d->count - i < 64;)
        if (same_access(&d->accesses[i], &one) &&
            (strcmp(d->accesses[i].offset, one.offset) == 0 || merge_place(&d->places[i], &place)))
            return;
    one.base = keep(d, one.base);
    one.offset = keep(d, one.offset);
    one.loops = keep(d, one.loops);
    one.guard = keep(d, one.guard);
    d->places =
        ptx_arena_grow(&d->scratch, d->places, d->count, &d->place_capacity, sizeof *d->places);
    d->accesses =
        ptx_arena_grow(d->arena, d->accesses, d->count, &d->capacity, sizeof *d->accesses);
    d->places[d->count] = place;
    d->accesses[d->count++] = one;
}

static int compare_numbers(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* "4*threadIdx.x + 4*(0..3)", or "4*threadIdx.x + {0, 4, 12}" where the steps differ. */
static void name_places(struct describer *d, struct describe_access *access, struct place *place)
{
    int64_t *at = place->constants, step = 0;
    bool even = true;
    if (place->count < 2)
        return;
    qsort(at, place->count, sizeof *at, compare_numbers);
    step = (int64_t)((uint64_t)at[1] - (uint64_t)at[0]);
    const char *list = symbolic_sum_print(&d->scratch, NULL, "%" PRId64, at[0]);
    for (unsigned i = 1; i < place->count; i++) {
        even &= (int64_t)((uint64_t)at[i] - (uint64_t)at[i - 1]) == step;
        list = symbolic_sum_print(&d->scratch, NULL, "%s, %" PRId64, list, at[i]);
    }
    bool none = strcmp(place->rest, "0") == 0;
    const char *rest = none ? "" : place->rest, *plus = none ? "" : " + ";
    if (!even)
        list = symbolic_sum_print(&d->scratch, NULL, "%s%s{%s}", rest, plus, list);
    else if (at[0] == 0)
        list = symbolic_sum_print(&d->scratch, NULL, "%s%s%" PRId64 "*(0..%u)", rest, plus, step,
                                  place->count - 1);
    else
        list = symbolic_sum_print(&d->scratch, NULL, "%s%s%" PRId64 " + %" PRId64 "*(0..%u)", rest,
                                  at[0] < 0 && !none ? " - " : plus,
                                  at[0] < 0 && !none ? (int64_t) - (uint64_t)at[0] : at[0], step,
                                  place->count - 1);
    access->offset = keep(d, list);
}

/* ---- All ---- */

static void describe_all(struct describer *d, struct description *description)
{
    const struct value_graph *graph = d->graph;
    d->sums = ptx_arena_array(&d->scratch, graph->node_count, sizeof *d->sums);
    d->taints = ptx_arena_array(&d->scratch, graph->node_count, sizeof *d->taints);
    d->loops = ptx_arena_array(&d->scratch, graph->loop_count, sizeof *d->loops);
    d->budget = BUDGET;
    describe_find_taints(d);
    for (uint32_t i = 0; i < graph->access_count; i++)
        add_access(d, &graph->accesses[i]);
    for (size_t i = 0; i < d->count; i++)
        name_places(d, &d->accesses[i], &d->places[i]);
    description->accesses = d->accesses;
    description->count = (uint32_t)d->count;
}

/* The one frame that is jumped to. */
static bool describe_protected(struct describer *d, struct description *description)
{
    if (setjmp(d->out_of_memory))
        return false;
    d->scratch.out_of_memory = description->arena.out_of_memory = &d->out_of_memory;
    describe_all(d, description);
    return true;
}

struct description *describe_create(const struct ptx_function *kernel)
{
    struct description *description = calloc(1, sizeof *description);
    struct describer *d = calloc(1, sizeof *d);
    struct value_graph *graph = description && d ? value_graph_create(kernel) : NULL;
    bool made = graph != NULL;
    if (made && graph->failure) {
        description->failure = graph->failure;
        description->failure_line = graph->failure_line;
    } else if (made) {
        description->has_calls = graph->has_calls;
        d->arena = &description->arena;
        d->graph = graph;
        made = describe_protected(d, description);
        description->arena.out_of_memory = NULL;
        ptx_arena_release(&d->scratch);
    }
    value_graph_release(graph);
    free(d);
    if (!made) {
        describe_release(description);
        return NULL;
    }
    return description;
}

void describe_release(struct description *description)
{
    if (!description)
        return;
    ptx_arena_release(&description->arena);
    free(description);
}

char *describe_line(const struct describe_access *access)
{
    static const char *const kinds[] = {"touch",  "read",   "write",  "read and write",
                                        "atomic", "atomic", "atomic", "atomic"};
    char *line = NULL;
    bool no_place = strcmp(access->offset, "?") == 0;
    if (asprintf(&line, "%s %s%s%s%s%s%s%s%s", kinds[access->kinds & 7], access->base,
                 no_place ? "" : "[", no_place ? "" : access->offset, no_place ? "" : "]",
                 *access->loops ? " " : "", access->loops, *access->guard ? " if " : "",
                 access->guard) < 0)
        return NULL;
    return line;
}
