/* See lower.h. A segment becomes loops over the lanes, each of which holds as many operations as
 * possible, so that values stay in registers; between the loops are calls for what accesses memory.
 * An operation is moved up, over accesses whose values it does not need: what an access that fails
 * leaves in registers nobody sees. So there are few loops, each of which takes the C compiler some
 * milliseconds. All 32 lanes are computed, and lanes outside the mask keep what their slots hold.
 *
 * Each loop is a function, and those that differ in their slots alone share one. What is between is
 * compiled without optimization, with its variables in registers: it takes the compiler a third of
 * the time, and the kernel no more than a tenth longer. */
#include "runtime/device/compile/lower.h"
#include "runtime/device/compile/lane_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* `prelude`, which every text begins with: types, exec_compiled.h and alu_lane.h. */
#include "device/kernel_prelude.inc"

/* A loop's text names slots by their order in it, r0 at P0, and some of its constants K0. */
struct loop {
    char *body;
    uint32_t *slots; /* of P0, P1 */
    uint32_t slot_count;
    uint64_t *constants;
    uint32_t constant_count;
    uint32_t same; /* the first loop with this body */
    uint32_t uses; /* of that one: how many there are */
    size_t at;     /* where in the text of the kernel it stands */
};

struct writer {
    const struct plan *plan;
    FILE *out;
    uint64_t *live;  /* behind the segment that is written */
    uint8_t *done;   /* by pc: PLACE_... */
    uint8_t *state;  /* by number of a slot: STATE_... */
    uint32_t *named; /* slots with a variable in the loop */
    uint32_t *names; /* by number of a slot: its place in `named` */
    uint32_t named_count;
    uint32_t first;      /* pc of the segment that is written */
    uint64_t *constants; /* of the loop */
    uint32_t constant_count;
    struct loop *loops;
    uint32_t loop_count;
    bool failed;
    const uint8_t *accesses; /* by pc: enum access_form */
};
enum { STATE_LOADED = 1, STATE_WRITTEN = 2, STATE_KEPT = 4 };
enum { PLACE_OPEN, PLACE_LOOP /* in the loop that is written */, PLACE_DONE };

/* ---- values --------------------------------------------------------------------------------- */

static uint32_t number_of(const struct writer *writer, uint32_t slot)
{
    return writer->plan->numbers[slot / 4];
}

static uint8_t width_of(const struct writer *writer, uint32_t slot)
{
    return writer->plan->widths[number_of(writer, slot)];
}

/* Of its variable in the loop. */
static uint32_t name_of(const struct writer *writer, uint32_t slot)
{
    return writer->names[number_of(writer, slot)];
}

/* The value of a constant slot, which is the same in every lane. */
static uint64_t constant_of(const struct writer *writer, uint32_t slot, uint8_t width)
{
    uint64_t value = 0;
    memcpy(&value, writer->plan->program->constants + (slot & ~SLOT_CONSTANT),
           width == WIDTH_PREDICATE ? 4 : width);
    return width == WIDTH_PREDICATE ? value & 1 : value;
}

static uint8_t bytes_of(const char *type)
{
    return !strcmp(type, "float")    ? 4
           : !strcmp(type, "double") ? 8
           : strstr(type, "16")      ? 2
           : strstr(type, "32")      ? 4
                                     : 8;
}

/* The bits of a source: a variable, or a number. */
static void write_bits(struct writer *writer, uint32_t slot, uint8_t width)
{
    if (slot & SLOT_CONSTANT)
        fprintf(writer->out, "0x%" PRIx64 "%s", constant_of(writer, slot, width),
                width == 8 ? "ul" : "u");
    else
        fprintf(writer->out, "r%u", name_of(writer, slot));
}

/* The same, but that loops may differ in it and still be alike: nothing is gained from knowing it.
 */
static void write_free_bits(struct writer *writer, uint32_t slot, uint8_t width)
{
    if (!(slot & SLOT_CONSTANT) || width == WIDTH_PREDICATE) {
        write_bits(writer, slot, width);
        return;
    }
    fprintf(writer->out, "K%u", writer->constant_count);
    writer->constants[writer->constant_count++] = constant_of(writer, slot, width);
}

/* const float a = float_from_bits(r128); */
static void write_source(struct writer *writer, const char *type, char name, uint32_t slot,
                         bool is_free)
{
    const char *conversion = !strcmp(type, "float")    ? "float_from_bits"
                             : !strcmp(type, "double") ? "double_from_bits"
                                                       : "";
    fprintf(writer->out, "%s %c = ", type, name);
    if (*conversion)
        fprintf(writer->out, "%s(", conversion);
    else
        fprintf(writer->out, "(%s)(", type);
    if (is_free || *conversion)
        write_free_bits(writer, slot, bytes_of(type));
    else
        write_bits(writer, slot, bytes_of(type));
    fprintf(writer->out, "); ");
}

/* ---- one operation in the loop -------------------------------------------------------------- */

static bool has_read(const struct step *step, uint32_t slot)
{
    for (uint32_t k = 0; k < step->read_count; k++)
        if (step->reads[k].slot == slot)
            return true;
    return slot & SLOT_CONSTANT;
}

/* "MODE_FLUSH:a + b": sources are entered and the result is left in that mode. */
static const char *mode_of(const char *expression, char *mode, size_t bytes)
{
    const char *colon = strncmp(expression, "MODE_", 5) ? NULL : strchr(expression, ':');
    mode[0] = 0;
    if (!colon)
        return expression;
    snprintf(mode, bytes, "%.*s", (int)(colon - expression), expression);
    return colon + 1;
}

static void write_sources(struct writer *writer, const struct step *step, const struct micro *op,
                          const char *mode)
{
    const struct lowering *entry = step->entry;
    const char *types[] = {entry->a, entry->b, entry->c};
    const uint32_t slots[] = {op->a, op->b, op->c};
    for (int k = 0; k < 3; k++) {
        if (!types[k] || !has_read(step, slots[k]))
            continue;
        write_source(writer, types[k], "abc"[k], slots[k], !strcmp(entry->expression, "a + b"));
        if (*mode)
            fprintf(writer->out, "%c = enter_32(%c, %s); ", "abc"[k], "abc"[k], mode);
        fprintf(writer->out, "(void)%c; ", "abc"[k]);
    }
}

static void write_lanes(struct writer *writer, const struct step *step, const struct micro *op)
{
    char mode[24];
    const char *type = step->entry->d;
    const char *expression = mode_of(step->entry->expression, mode, sizeof mode);
    const char *bits = !strcmp(type, "float")    ? "float_bits"
                       : !strcmp(type, "double") ? "double_bits"
                                                 : "";
    fprintf(writer->out, "{ ");
    write_sources(writer, step, op, mode);
    fprintf(writer->out, "r%u = ", name_of(writer, op->d));
    if (*mode)
        fprintf(writer->out, "float_bits(leave_32(%s, %s)); }\n", expression, mode);
    else if (*bits)
        fprintf(writer->out, "%s((%s)(%s)); }\n", bits, type, expression);
    else
        fprintf(writer->out, "(uint%u_t)(%s)(%s); }\n", bytes_of(type) * 8u, type, expression);
}

static void write_select(struct writer *writer, const struct step *step, const struct micro *op)
{
    const uint8_t width = bytes_of(step->entry->d);
    fprintf(writer->out, "r%u = SELECT(uint%u_t, ", name_of(writer, op->d), width * 8u);
    write_bits(writer, op->c, WIDTH_PREDICATE);
    fprintf(writer->out, ", ");
    write_bits(writer, op->a, width);
    fprintf(writer->out, ", ");
    write_bits(writer, op->b, width);
    fprintf(writer->out, ");\n");
}

/* A predicate of one lane is 0 or 1. */
static void write_predicate(struct writer *writer, const struct step *step, const struct micro *op)
{
    fprintf(writer->out, "{ const uint32_t a = ");
    write_bits(writer, op->a, WIDTH_PREDICATE);
    if (has_read(step, op->b) && strchr(step->entry->expression, 'b')) {
        fprintf(writer->out, ", b = ");
        write_bits(writer, op->b, WIDTH_PREDICATE);
    }
    fprintf(writer->out, "; r%u = (%s) & 1; }\n", name_of(writer, op->d), step->entry->expression);
}

static void write_combined(struct writer *writer, uint32_t to, const char *result, uint8_t combine)
{
    fprintf(writer->out, "r%u = %s", name_of(writer, to), result);
    if (combine)
        fprintf(writer->out, " %c c",
                combine == PTX_BOOL_AND  ? '&'
                : combine == PTX_BOOL_OR ? '|'
                                         : '^');
    fprintf(writer->out, "; ");
}

static void write_setp(struct writer *writer, const struct step *step, const struct micro *op)
{
    const struct lowering_comparison *comparison = &step->comparison;
    const struct lowering *compare = comparison->compare;
    fprintf(writer->out, "{ ");
    write_source(writer, compare->a, 'a', op->a, true);
    write_source(writer, compare->b, 'b', op->b, true);
    if (comparison->flush)
        fprintf(writer->out, "a = half_flush(a); b = half_flush(b); ");
    if (comparison->combine) {
        fprintf(writer->out, "const uint32_t c = ");
        write_bits(writer, op->c, WIDTH_PREDICATE);
        fprintf(writer->out, "; ");
    }
    fprintf(writer->out, "const uint32_t x = (%s) ? 1 : 0; ", compare->expression);
    write_combined(writer, op->d, "x", comparison->combine);
    if (comparison->second)
        write_combined(writer, op->q, "(x ^ 1)", comparison->combine);
    fprintf(writer->out, "}\n");
}

/* What a source of its own gives, as `k` and the place in the segment: read before the loop. */
static void write_constant(struct writer *writer, uint32_t pc)
{
    const struct micro *op = &writer->plan->program->code[pc];
    const uint8_t kind = writer->plan->steps[pc].entry->kind;
    const uint32_t place = pc - writer->first;
    const struct lowering_special *special =
        kind == LOWERING_SPECIAL ? lowering_special_of(op) : NULL;
    if (kind == LOWERING_PARAM)
        fprintf(writer->out, "const uint%u_t k%u = *(const uint%u_t *)(c->params + %" PRId64 ");\n",
                op->bytes * 8u, place, op->bytes * 8u, op->imm);
    else if (kind == LOWERING_WINDOW)
        fprintf(writer->out, "const uint64_t k%u = c->window + 0x%" PRIx64 "ul;\n", place,
                (uint64_t)op->imm);
    else if (special)
        fprintf(writer->out, "const uint32_t %sk%u = %s;\n", special->by_lane ? "*const " : "",
                place, special->text);
}

static void write_constants(struct writer *writer, const struct segment *segment)
{
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        if (writer->done[pc] == PLACE_LOOP)
            write_constant(writer, pc);
}

/* Of what has such a source. */
static void write_sourced(struct writer *writer, const struct micro *op, uint32_t pc, uint8_t kind)
{
    if (kind == LOWERING_WINDOW) {
        fprintf(writer->out, "r%u = ", name_of(writer, op->d));
        write_bits(writer, op->a, 8);
        fprintf(writer->out, " %c k%u;\n", op->option ? '-' : '+', pc - writer->first);
    } else {
        const bool by_lane = kind == LOWERING_SPECIAL && lowering_special_of(op)->by_lane;
        fprintf(writer->out, "r%u = k%u%s;\n", name_of(writer, op->d), pc - writer->first,
                by_lane ? "[l]" : "");
    }
}

static void write_step(struct writer *writer, uint32_t pc)
{
    const struct step *step = &writer->plan->steps[pc];
    const struct micro *op = &writer->plan->program->code[pc];
    if (step->entry->kind == LOWERING_SETP)
        write_setp(writer, step, op);
    else if (step->entry->kind == LOWERING_PREDICATE)
        write_predicate(writer, step, op);
    else if (step->entry->kind == LOWERING_SELECT)
        write_select(writer, step, op);
    else if (!step->entry->expression)
        write_sourced(writer, op, pc, step->entry->kind);
    else
        write_lanes(writer, step, op);
}

/* ---- a loop --------------------------------------------------------------------------------- */

static void name_slot(struct writer *writer, uint32_t slot, uint8_t state)
{
    uint8_t *at = &writer->state[number_of(writer, slot)];
    if (!*at) {
        writer->names[number_of(writer, slot)] = writer->named_count;
        writer->named[writer->named_count++] = slot;
    }
    if (state == STATE_WRITTEN || !(*at & STATE_WRITTEN))
        *at |= state;
}

static void name_slots(struct writer *writer, const struct segment *segment)
{
    writer->named_count = 0;
    for (uint32_t pc = segment->first; pc < segment->end; pc++) {
        const struct step *step = &writer->plan->steps[pc];
        if (writer->done[pc] != PLACE_LOOP)
            continue;
        for (uint32_t k = 0; k < step->read_count; k++)
            name_slot(writer, step->reads[k].slot, STATE_LOADED);
        for (uint32_t k = 0; k < step->write_count; k++)
            name_slot(writer, step->writes[k].slot, STATE_WRITTEN);
    }
}

static bool reads_slot(const struct step *step, uint32_t slot)
{
    for (uint32_t k = 0; k < step->read_count; k++)
        if (step->reads[k].slot == slot)
            return true;
    return false;
}

/* Whether somebody reads the slot behind the loop: in the segment, or behind that. */
static bool is_needed(const struct writer *writer, const struct segment *segment, uint32_t slot)
{
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        if (writer->done[pc] == PLACE_OPEN && reads_slot(&writer->plan->steps[pc], slot))
            return true;
    return plan_is_live(writer->plan, writer->live, slot);
}

/* Settles which of the loop's slots are written back. */
static void keep_slots(struct writer *writer, const struct segment *segment)
{
    for (uint32_t k = 0; k < writer->named_count; k++) {
        uint8_t *state = &writer->state[number_of(writer, writer->named[k])];
        if (*state & STATE_WRITTEN && is_needed(writer, segment, writer->named[k]))
            *state |= STATE_KEPT;
    }
}

static bool is_kept(const struct writer *writer, uint32_t slot)
{
    return writer->state[number_of(writer, slot)] & STATE_KEPT;
}

/* Predicates are words of 32 bits: read before the loop, and collected behind it. */
static void write_words(struct writer *writer)
{
    for (uint32_t k = 0; k < writer->named_count; k++) {
        const uint32_t slot = writer->named[k];
        if (width_of(writer, slot) != WIDTH_PREDICATE)
            continue;
        if (writer->state[number_of(writer, slot)] & STATE_LOADED)
            fprintf(writer->out, "const uint32_t w%u = WORD(P%u);\n", k, k);
        if (is_kept(writer, slot))
            fprintf(writer->out, "uint32_t o%u[32] __attribute__((aligned(64)));\n", k);
    }
}

static void write_variables(struct writer *writer)
{
    for (uint32_t k = 0; k < writer->named_count; k++) {
        const uint32_t slot = writer->named[k], width = width_of(writer, slot);
        const bool loaded = writer->state[number_of(writer, slot)] & STATE_LOADED;
        fprintf(writer->out, "uint%u_t r%u", width ? width * 8 : 32, k);
        if (loaded && width)
            fprintf(writer->out, " = LANE%u(P%u)", width, k);
        else if (loaded)
            fprintf(writer->out, " = w%u >> l & 1", k);
        fprintf(writer->out, ";\n");
    }
}

static void write_results(struct writer *writer)
{
    for (uint32_t k = 0; k < writer->named_count; k++) {
        const uint32_t slot = writer->named[k], width = width_of(writer, slot);
        if (!is_kept(writer, slot))
            continue;
        if (width)
            fprintf(writer->out, "KEEP%u(P%u, r%u);\n", width, k, k);
        else
            fprintf(writer->out, "o%u[l] = r%u << 31;\n", k, k);
    }
}

/* The text of the micro-operations that are PLACE_LOOP. */
static void write_body(struct writer *writer, const struct segment *segment)
{
    write_words(writer);
    write_constants(writer, segment);
    fprintf(writer->out, "#pragma omp simd\nfor (int l = 0; l < 32; l++) {\n");
    write_variables(writer);
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        if (writer->done[pc] == PLACE_LOOP)
            write_step(writer, pc);
    write_results(writer);
    fprintf(writer->out, "}\n");
    for (uint32_t k = 0; k < writer->named_count; k++)
        if (width_of(writer, writer->named[k]) == WIDTH_PREDICATE &&
            is_kept(writer, writer->named[k]))
            fprintf(writer->out, "WORD(P%u) = (WORD(P%u) & ~n) | (collect(o%u) & n);\n", k, k, k);
}

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    if (copy && bytes)
        memcpy(copy, from, bytes);
    return copy;
}

/* Keeps the loop, to be put into the text here. */
static void keep_loop(struct writer *writer, char *body)
{
    struct loop *loop = &writer->loops[writer->loop_count];
    fflush(writer->out);
    *loop = (struct loop){
        .body = body,
        .slots = copy_of(writer->named, writer->named_count * sizeof *writer->named),
        .slot_count = writer->named_count,
        .constants = copy_of(writer->constants, writer->constant_count * sizeof(uint64_t)),
        .constant_count = writer->constant_count,
        .same = writer->loop_count++,
        .at = (size_t)ftell(writer->out)};
    writer->failed |= !loop->slots || !loop->constants;
    for (uint32_t k = 0; k < loop->same; k++)
        if (!strcmp(writer->loops[k].body, body))
            loop->same = k;
    writer->loops[loop->same].uses++;
}

static void write_loop(struct writer *writer, const struct segment *segment)
{
    FILE *const out = writer->out;
    char *body = NULL;
    size_t bytes;
    writer->first = segment->first;
    writer->constant_count = 0;
    name_slots(writer, segment);
    keep_slots(writer, segment);
    writer->out = open_memstream(&body, &bytes);
    if (writer->out)
        write_body(writer, segment);
    writer->failed |= !writer->out || fclose(writer->out) != 0;
    writer->out = out;
    if (!writer->failed)
        keep_loop(writer, body);
    else
        free(body);
    for (uint32_t k = 0; k < writer->named_count; k++)
        writer->state[number_of(writer, writer->named[k])] = 0;
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        if (writer->done[pc] == PLACE_LOOP)
            writer->done[pc] = PLACE_DONE;
}

/* Where the slots and the constants of a loop are that stands alone. */
static void write_places(FILE *out, const struct loop *loop)
{
    fprintf(out, "unsigned char *const t = __builtin_assume_aligned(s, 64);\n");
    for (uint32_t k = 0; k < loop->slot_count; k++)
        fprintf(out, "#define P%u (t + %u)\n", k, loop->slots[k]);
    for (uint32_t k = 0; k < loop->constant_count; k++)
        fprintf(out, "#define K%u 0x%" PRIx64 "ul\n", k, loop->constants[k]);
}

static void forget_places(FILE *out, const struct loop *loop)
{
    for (uint32_t k = 0; k < loop->slot_count; k++)
        fprintf(out, "#undef P%u\n", k);
    for (uint32_t k = 0; k < loop->constant_count; k++)
        fprintf(out, "#undef K%u\n", k);
}

/* The same of loops that are alike: they are parameters. */
static void write_parameters(FILE *out, const struct loop *loop)
{
    for (uint32_t k = 0; k < loop->slot_count; k++)
        fprintf(out, ", const uint64_t O%u", k);
    for (uint32_t k = 0; k < loop->constant_count; k++)
        fprintf(out, ", const uint64_t K%u", k);
}

static void write_pointers(const struct writer *writer, FILE *out, const struct loop *loop)
{
    for (uint32_t k = 0; k < loop->slot_count; k++)
        fprintf(out,
                width_of(writer, loop->slots[k])
                    ? "unsigned char *const P%u = __builtin_assume_aligned(s + O%u, 64);\n"
                    : "unsigned char *const P%u = s + O%u;\n",
                k, k);
}

static void write_loop_function(const struct writer *writer, FILE *out, uint32_t number)
{
    const struct loop *loop = &writer->loops[number];
    fprintf(out, "LOOP f%u(struct compiled_call *const c, unsigned char *const s, const uint32_t n",
            number);
    if (loop->uses > 1)
        write_parameters(out, loop);
    fprintf(out, ")\n{\n");
    if (loop->uses > 1)
        write_pointers(writer, out, loop);
    else
        write_places(out, loop);
    fprintf(out, "%sCLEAN;\n}\n", loop->body);
    if (loop->uses == 1)
        forget_places(out, loop);
}

static void write_loop_call(FILE *out, const struct loop *loop, bool shared)
{
    fprintf(out, "f%u(c, s, m", loop->same);
    for (uint32_t k = 0; shared && k < loop->slot_count; k++)
        fprintf(out, ", %u", loop->slots[k]);
    for (uint32_t k = 0; shared && k < loop->constant_count; k++)
        fprintf(out, ", 0x%" PRIx64 "ul", loop->constants[k]);
    fprintf(out, ");\n");
}

static void free_loops(struct writer *writer)
{
    for (uint32_t k = 0; k < writer->loop_count; k++) {
        free(writer->loops[k].body);
        free(writer->loops[k].slots);
        free(writer->loops[k].constants);
    }
    free(writer->loops);
}

/* ---- segments ------------------------------------------------------------------------------- */

static bool writes_any(const struct step *step, const struct operand *operands, uint32_t count)
{
    for (uint32_t k = 0; k < step->write_count; k++)
        for (uint32_t i = 0; i < count; i++)
            if (step->writes[k].slot == operands[i].slot)
                return true;
    return false;
}

/* Whether the two must stay in their order. */
static bool are_ordered(const struct step *a, const struct step *b)
{
    return writes_any(a, b->reads, b->read_count) || writes_any(a, b->writes, b->write_count) ||
           writes_any(b, a->reads, a->read_count);
}

/* Whether what comes before it in the segment is done, or may as well be done later. */
static bool may_go(const struct writer *writer, const struct segment *segment, uint32_t pc)
{
    const struct step *steps = writer->plan->steps;
    for (uint32_t before = segment->first; before < pc; before++)
        if (writer->done[before] == PLACE_OPEN && are_ordered(&steps[before], &steps[pc]))
            return false;
    return true;
}

/* Puts all into the loop that may go there. False: it would be empty. */
static bool fill_loop(struct writer *writer, const struct segment *segment)
{
    bool any = false;
    for (uint32_t pc = segment->first; pc < segment->end; pc++) {
        const struct step *step = &writer->plan->steps[pc];
        if (writer->done[pc] == PLACE_OPEN && step->kind == STEP_LANES && !step->alone &&
            may_go(writer, segment, pc)) {
            writer->done[pc] = PLACE_LOOP;
            any = true;
        }
    }
    return any;
}

/* Of rows the engine has a fast path. */
static bool may_be_row(const struct micro *op)
{
    return op->count == 1 && op->bytes == op->width2 && op->bytes <= 8;
}

static const char *way_of(const struct writer *writer, uint32_t pc)
{
    if (!may_be_row(&writer->plan->program->code[pc]))
        return "access";
    switch (writer->accesses[pc]) {
    case ACCESS_FORM_ROW:
        return "affine";
    case ACCESS_FORM_UNIFORM:
        return "uniform";
    default:
        return "row";
    }
}

/* Weak accesses of shared memory have a faster way. */
static bool may_be_shared(const struct micro *op)
{
    return op->space == PTX_SPACE_SHARED && !(op->option & ACCESS_STRONG) && op->bytes >= 4;
}

static bool write_shared(struct writer *writer, uint32_t pc)
{
    const struct micro *op = &writer->plan->program->code[pc];
    const bool constant = op->a & SLOT_CONSTANT, load = !(op->option & ACCESS_WRITES);
    const uint8_t form = writer->accesses[pc];
    if (!may_be_shared(op) || !may_be_row(op))
        return false;
    if (form == ACCESS_FORM_UNIFORM && load && constant) {
        const uint64_t at = constant_of(writer, op->a, op->width) + (uint64_t)op->imm;
        fprintf(writer->out, "if ((flow = c->load_same[%d](c, %u, 0x%" PRIx64 "ul, s + %u, m)))",
                op->bytes == 8, pc, op->width == 4 ? (uint32_t)at : at, op->d);
    } else if (form == ACCESS_FORM_ROW && !constant && op->width == 4 && !(op->d & SLOT_CONSTANT)) {
        fprintf(writer->out, "if ((flow = c->%s_row[%d](c, %u, s + %u, 0x%xu, s + %u, m)))",
                load ? "load" : "store", op->bytes == 8, pc, op->a, (uint32_t)op->imm, op->d);
    } else {
        return false;
    }
    fprintf(writer->out, " return flow;\n");
    return true;
}

static void write_access(struct writer *writer, uint32_t pc)
{
    if (!write_shared(writer, pc))
        fprintf(writer->out, "if ((flow = c->%s(c, %u))) return flow;\n", way_of(writer, pc), pc);
}

/* The others run the next segment, where the branch does not lead. */
static void write_part(struct writer *writer, const struct segment *segment)
{
    const struct segment *next = segment + 1;
    const uint32_t pc = segment->end - 1;
    fprintf(writer->out,
            "if (taken && !(m = c->part(c, taken, %u, left))) return c->jump(c, %u, left); }\n",
            next->end - next->first, pc);
}

static void write_branch(struct writer *writer, const struct segment *segment)
{
    const uint32_t pc = segment->end - 1;
    const struct micro *op = &writer->plan->program->code[pc];
    const struct step *step = &writer->plan->steps[pc];
    const bool back = op->e <= pc;
    fprintf(writer->out, "{ const uint32_t taken = ");
    if (step->kind == STEP_JUMP)
        fprintf(writer->out, "m;\n");
    else if (op->a & SLOT_CONSTANT)
        fprintf(writer->out, "%s0x%xu & m;\n", step->negated ? "~" : "",
                constant_of(writer, op->a, WIDTH_PREDICATE) ? ALL_LANES : 0);
    else
        fprintf(writer->out, "%sWORD(s + %u) & m;\n", step->negated ? "~" : "", op->a);
    fprintf(writer->out, "if (taken == m && c->alone && left > 0%s) { %sgoto s%u; }\n",
            back ? " && !STRONG" : "", back ? "SPINS = 0; " : "", op->e);
    if (plan_skips(writer->plan, segment))
        write_part(writer, segment);
    else
        fprintf(writer->out, "if (taken) return c->jump(c, %u, left); }\n", pc);
}

/* With whichever warp goes on then. */
static void write_barrier(struct writer *writer, const struct segment *segment)
{
    fprintf(writer->out, "if ((flow = c->wait(c, %u, %u, left))) return flow; goto next;\n",
            segment->first,
            (uint32_t)constant_of(writer, writer->plan->program->code[segment->first].a, 4));
}

static bool has_access(const struct plan *plan, const struct segment *segment)
{
    for (uint32_t pc = segment->first; pc < segment->end; pc++)
        if (plan->steps[pc].kind == STEP_ACCESS)
            return true;
    return false;
}

static void write_segment(struct writer *writer, const struct segment *segment)
{
    const struct plan *plan = writer->plan;
    const uint32_t count = segment->end - segment->first;
    fprintf(writer->out, "case %u: s%u: ", segment->first, segment->first);
    if (segment - plan->segments > 1 && plan_skips(plan, segment - 2))
        fprintf(writer->out, "if (m != c->mask) m = c->meet(c, left);\n");
    fprintf(writer->out, "if (left < %u || c->stop < %u) { c->pc = %u; goto stops; }\n", count,
            segment->end, segment->first);
    if (segment->called) {
        fprintf(writer->out,
                "c->left = left; if ((flow = c->interpret(c, %u, %u))) return flow; "
                "left = c->left;\n",
                segment->first, segment->end);
        return;
    }
    if (plan->steps[segment->first].kind == STEP_BARRIER) {
        write_barrier(writer, segment);
        return;
    }
    fprintf(writer->out, has_access(plan, segment) ? "c->left = left -= %u;\n" : "left -= %u;\n",
            count);
    plan_live_after(plan, segment, writer->live);
    for (uint32_t pc = segment->first; pc < segment->end; pc++) {
        if (writer->done[pc] != PLACE_OPEN)
            continue;
        if (fill_loop(writer, segment))
            write_loop(writer, segment);
        if (writer->done[pc] != PLACE_OPEN)
            continue;
        if (plan->steps[pc].kind == STEP_LANES) { /* alone */
            writer->done[pc] = PLACE_LOOP;
            write_loop(writer, segment);
        } else if (plan->steps[pc].kind == STEP_ACCESS) {
            writer->done[pc] = PLACE_DONE;
            write_access(writer, pc);
        } else {
            write_branch(writer, segment);
        }
    }
}

/* The kernel's text without its loops. */
static void write_function(struct writer *writer)
{
    const struct plan *plan = writer->plan;
    fprintf(writer->out, "KERNEL int csan_kernel(struct compiled_call *call)\n{\n"
                         "register struct compiled_call *const c = call;\n"
                         "register unsigned char *s;\nregister uint32_t m;\n"
                         "register long left;\nregister int flow;\n(void)flow;\n"
                         "next: s = c->slots; m = c->mask; left = c->left;\n"
                         "switch (c->pc) {\n");
    for (uint32_t k = 0; k < plan->segment_count; k++)
        write_segment(writer, &plan->segments[k]);
    fprintf(writer->out, "c->pc = %u;\n}\nstops: c->left = left; return COMPILED_STOPS;\n}\n",
            plan->program->code_count);
}

/* All of it. */
static void write_text(const struct writer *writer, const char *function, FILE *out)
{
    size_t at = 0;
    fprintf(out, "%s", prelude);
    for (uint32_t k = 0; k < writer->loop_count; k++)
        if (writer->loops[k].same == k)
            write_loop_function(writer, out, k);
    for (uint32_t k = 0; k < writer->loop_count; k++) {
        const struct loop *loop = &writer->loops[k];
        fwrite(function + at, 1, loop->at - at, out);
        at = loop->at;
        write_loop_call(out, loop, writer->loops[loop->same].uses > 1);
    }
    fprintf(out, "%s", function + at);
}

static char *text_of(const struct writer *writer, const char *function, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    if (out)
        write_text(writer, function, out);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *lower_text(const struct plan *plan, size_t *bytes)
{
    const size_t slots = plan->slot_count + 1, codes = plan->program->code_count;
    char *function = NULL, *text = NULL;
    size_t function_bytes;
    uint8_t *accesses = lane_form_accesses(plan);
    struct writer writer = {.plan = plan,
                            .out = open_memstream(&function, &function_bytes),
                            .accesses = accesses,
                            .live = calloc(plan->words, sizeof *writer.live),
                            .state = calloc(slots, 1),
                            .done = calloc(codes, 1),
                            .named = calloc(slots, sizeof *writer.named),
                            .names = calloc(slots, sizeof *writer.names),
                            .constants = calloc(3 * codes, sizeof *writer.constants),
                            .loops = calloc(codes, sizeof *writer.loops)};
    writer.failed = !writer.out || !writer.live || !writer.state || !writer.done || !writer.named ||
                    !writer.names || !writer.constants || !writer.loops || !accesses;
    if (!writer.failed)
        write_function(&writer);
    if (writer.out)
        writer.failed |= fclose(writer.out) != 0;
    if (!writer.failed)
        text = text_of(&writer, function, bytes);
    free_loops(&writer);
    free(writer.live);
    free(writer.state);
    free(writer.done);
    free(writer.named);
    free(writer.names);
    free(writer.constants);
    free(accesses);
    free(function);
    return text;
}
