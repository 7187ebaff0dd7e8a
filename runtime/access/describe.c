/* What a kernel touches, in words. See describe.h.
 *
 * Nodes become sums (sum.h), each once. A loop's counter is what its values that grow by the same
 * amount each round have in common; how often it turns is told from the test that leaves it. */
#include "describe.h"
#include "access_set.h"
#include "effect.h"
#include "sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 48, /* of values in values */
    DEPTH_CONDITION = 6,
    BUDGET = 100000,    /* nodes looked at, for one kernel */
    BUDGET_STEP = 1000, /* the same, for one value of a loop */
    PLACES = 32,        /* accesses that are told as one */
    EITHER = 4,         /* alternatives that are spelled out */
    TAINT_ROUNDS = 8
};

/* What a value depends on that no launch tells. */
struct taint {
    uint8_t bound; /* enum access_bound: EXACT: nothing, else DATA or SHAPE */
    uint32_t line;
};

struct loop_text {
    bool asked, solved;
    bool sole;     /* nothing else leaves the loop */
    uint32_t test; /* block whose branch leaves it */
    /* That happens in the first round in which rest - step * round is no longer above 0 (differs:
     * is 0). */
    const struct sum *rest, *step;
    bool differs;
    const char *name;
};

/* Where accesses that are told as one go: the same offset, plus each of these. */
struct place {
    const char *rest;
    bool cut;
    unsigned count;
    int64_t constants[PLACES];
};

struct describer {
    struct arena *arena, scratch;
    jmp_buf out_of_memory;
    const struct graph *graph;
    const struct sum **sums; /* by node */
    struct taint *taints;    /* by node */
    struct loop_text *loops; /* by loop */
    uint32_t budget, depth, named_loops;
    struct describe_access *accesses;
    struct place *places; /* of each */
    size_t count, capacity, place_capacity;
};

static const struct sum *node_sum(struct describer *d, uint32_t node);
static const char *predicate_text(struct describer *d, uint32_t node, bool negated, unsigned depth);
static const struct loop_text *loop_solve(struct describer *d, uint32_t loop);
static const struct sum *last_round(struct describer *d, const struct loop_text *at, int64_t plus);

static const struct sum *opaque(struct describer *d, const char *text, bool cut)
{
    return sum_term(&d->scratch, (struct sum_term){.coefficient = 1, .text = text, .cut = cut});
}

/* ---- Words ---- */

static const char *special_name(struct describer *d, int64_t reg)
{
    static const char *const words[] = {"threadIdx", "blockDim", "blockIdx", "gridDim"};
    if (reg >= PTX_SREG_TID_X && reg <= PTX_SREG_NCTAID_Z) {
        unsigned which = (unsigned)(reg - PTX_SREG_TID_X);
        return sum_print(&d->scratch, NULL, "%s.%c", words[which / 3], "xyz"[which % 3]);
    }
    switch (reg) {
    case PTX_SREG_LANEID:
        return "laneid";
    case PTX_SREG_WARPID:
        return "warpid";
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return "dynamic_smem_size";
    case PTX_SREG_CLUSTER_CTARANK:
        return "cluster_ctarank";
    default:
        return reg >= PTX_SREG_CLUSTERID_X && reg <= PTX_SREG_CLUSTER_NCTAID_Z
                   ? sum_print(&d->scratch, NULL, "cluster%d", (int)(reg - PTX_SREG_CLUSTERID_X))
                   : sum_print(&d->scratch, NULL, "<register %d>", (int)reg);
    }
}

/* The parameter that the byte lies in. */
static const char *parameter_name(struct describer *d, int64_t offset)
{
    const struct ptx_function *kernel = d->graph->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct ptx_param *param = &kernel->params[i];
        if (offset == param->offset)
            return sum_print(&d->scratch, NULL, "arg%" PRIu32, i);
        if (offset > param->offset && offset < (int64_t)param->offset + param->size)
            return sum_print(&d->scratch, NULL, "{arg%" PRIu32 "+%" PRId64 "}", i,
                             offset - param->offset);
    }
    return sum_print(&d->scratch, NULL, "{args+%" PRId64 "}", offset);
}

/* A parameter whose address is taken, or a .param variable of a call. */
static const char *parameter_name_of(struct describer *d, const struct ptx_variable *variable)
{
    const struct ptx_function *kernel = d->graph->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].variable == variable)
            return parameter_name(d, kernel->params[i].offset);
    return variable->name;
}

/* Letters in the order in which loops are met, outer ones before those in them. */
static const char *loop_name(struct describer *d, uint32_t loop)
{
    struct loop_text *at = &d->loops[loop];
    if (at->name)
        return at->name;
    if (d->graph->loops[loop].parent)
        loop_name(d, d->graph->loops[loop].parent);
    uint32_t number = d->named_loops++;
    at->name = number < 6 ? sum_print(&d->scratch, NULL, "%c", "ijklmn"[number])
                          : sum_print(&d->scratch, NULL, "i%" PRIu32, number);
    return at->name;
}

/* ---- What a value depends on ---- */

static void taint_by(struct taint *to, struct taint from)
{
    if (!to->bound)
        *to = from;
}

/* Conditions that decide which of a join's ways is taken. */
static struct taint taint_of_ways(const struct describer *d, const struct node *at)
{
    struct taint taint = {0};
    const struct graph *graph = d->graph;
    uint32_t top = graph->blocks[at->value].dominator;
    for (uint32_t i = 0; i < at->operand_count; i++) {
        uint32_t block = at->ways[i].block, steps = 0;
        for (; block != GRAPH_NO_BLOCK && steps < DEPTH; steps++) {
            taint_by(&taint, d->taints[graph->blocks[block].guard]);
            if (block == top)
                break;
            block = graph->blocks[block].dominator;
        }
    }
    return taint;
}

static struct taint taint_of_exits(const struct describer *d, uint32_t loop)
{
    struct taint taint = {0};
    const struct graph_loop *at = &d->graph->loops[loop];
    for (uint32_t i = 0; i < at->exit_count; i++)
        taint_by(&taint, d->taints[d->graph->blocks[at->exits[i].block].guard]);
    return taint;
}

static struct taint taint_of(const struct describer *d, const struct node *at)
{
    struct taint taint = {0};
    switch (at->kind) {
    case NODE_LOAD:
        return (struct taint){ACCESS_BOUND_DATA, at->line};
    case NODE_UNKNOWN:
        return (struct taint){at->reason ? at->reason : ACCESS_BOUND_DATA, at->line};
    case NODE_OPERATION:
    case NODE_LOOP:
    case NODE_PARAM_AT:
        taint_by(&taint, d->taints[at->a]);
        taint_by(&taint, d->taints[at->b]);
        taint_by(&taint, d->taints[at->c]);
        return taint;
    case NODE_EXIT:
        taint_by(&taint, d->taints[at->a]);
        taint_by(&taint, taint_of_exits(d, (uint32_t)at->value));
        return taint;
    case NODE_JOIN:
        taint = taint_of_ways(d, at);
        break;
    case NODE_LOOKUP:
        taint_by(&taint, d->taints[at->a]);
        break;
    default:
        return taint;
    }
    for (uint32_t i = 0; i < at->operand_count; i++)
        taint_by(&taint, d->taints[at->operands[i]]);
    return taint;
}

/* Loops hand what they depend on round and round. */
static void find_taints(struct describer *d)
{
    bool changed = true;
    for (unsigned round = 0; changed && round < TAINT_ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 1; i < d->graph->node_count; i++)
            if (!d->taints[i].bound) {
                d->taints[i] = taint_of(d, &d->graph->nodes[i]);
                changed |= d->taints[i].bound != ACCESS_EXACT;
            }
    }
}

/* ---- Operations ---- */

static const struct sum *binary(struct describer *d, const char *sign, uint32_t left,
                                uint32_t right)
{
    bool cut = false;
    const char *a = sum_factor(&d->scratch, node_sum(d, left), &cut);
    const char *b = sum_factor(&d->scratch, node_sum(d, right), &cut);
    const char *text = sum_print(&d->scratch, &cut, "(%s %s %s)", a, sign, b);
    return opaque(d, text, cut);
}

static const struct sum *named(struct describer *d, const char *name, uint32_t left, uint32_t right)
{
    bool cut = false;
    const char *a = sum_text(&d->scratch, node_sum(d, left), &cut);
    const char *b = right ? sum_text(&d->scratch, node_sum(d, right), &cut) : "";
    const char *text = sum_print(&d->scratch, &cut, right ? "%s(%s, %s)" : "%s(%s%s)", name, a, b);
    return opaque(d, text, cut);
}

/* In x + ((x >> 31) >> (32 - k)) it is x: what compilers divide by 2^k rounding towards 0, since
 * x >> 31 is all ones for what is negative. NULL: it is another sum. */
static const struct sum *rounded(struct describer *d, const struct sum *sum, uint32_t width,
                                 int64_t k)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        bool cut = false;
        if (sum->terms[i].coefficient != 1 || sum->terms[i].cut)
            continue;
        const struct sum *rest =
            sum_add(&d->scratch, sum, sum_term(&d->scratch, sum->terms[i]), -1);
        const char *text = sum_factor(&d->scratch, rest, &cut);
        text = sum_print(&d->scratch, &cut, "((%s >> %d) >> %d)", text, (int)width - 1,
                         (int)(width - k));
        if (strcmp(text, sum->terms[i].text) == 0 && !cut)
            return rest;
    }
    return NULL;
}

static const struct sum *divided(struct describer *d, const struct sum *sum, int64_t by)
{
    bool cut = false;
    const char *text = sum_factor(&d->scratch, sum, &cut);
    text = sum_print(&d->scratch, &cut, "(%s / %" PRId64 ")", text, by);
    return opaque(d, text, cut);
}

static const struct sum *shift_right(struct describer *d, const struct node *at)
{
    int64_t amount;
    if (!sum_is_constant(node_sum(d, at->b), &amount) || amount <= 0 || amount >= at->width)
        return binary(d, ">>", at->a, at->b);
    const struct sum *rest = rounded(d, node_sum(d, at->a), at->width, amount);
    return rest ? divided(d, rest, (int64_t)1 << amount) : binary(d, ">>", at->a, at->b);
}

/* With the complement of 2^k - 1 it rounds down to a multiple of 2^k. */
static const struct sum *mask(struct describer *d, const struct node *at)
{
    int64_t constant;
    bool cut = false;
    if (!sum_is_constant(node_sum(d, at->b), &constant) || constant >= 0)
        return binary(d, "&", at->a, at->b);
    int64_t unit = -constant;
    const struct sum *sum = node_sum(d, at->a), *rest = NULL;
    if (unit > 1 && (unit & (unit - 1)) == 0)
        rest = rounded(d, sum, at->width, __builtin_ctzll((unsigned long long)unit));
    if (rest)
        return sum_add(&d->scratch, sum_constant(&d->scratch, 0), divided(d, rest, unit), unit);
    const char *text = sum_print(&d->scratch, &cut, "(%s & ~%" PRId64 ")",
                                 sum_factor(&d->scratch, sum, &cut), ~constant);
    return opaque(d, text, cut);
}

/* The divisor that a high product and a shift stand for. */
static const struct sum *magic(struct describer *d, const struct node *at)
{
    bool cut = false;
    double divisor = at->value > 0 ? 1.0 : 0;
    for (int64_t i = 0; i < at->high; i++)
        divisor *= 2;
    if (at->value > 0)
        divisor /= (double)at->value;
    const char *text = sum_print(&d->scratch, &cut, "(%s / %.0f)",
                                 sum_factor(&d->scratch, node_sum(d, at->a), &cut), divisor);
    return opaque(d, text, cut);
}

static const struct sum *truncate(struct describer *d, const struct node *at)
{
    if (at->width >= 32)
        return node_sum(d, at->a);
    return named(d, at->width == 8 ? "u8" : "u16", at->a, 0);
}

/* Several values of which control flow picks one; a pointer that they share stays outside. */
static const struct sum *either(struct describer *d, const struct sum *const *sums, uint32_t count)
{
    struct sum *shared = sum_constant(&d->scratch, 0);
    const struct sum *first = sums[0];
    for (uint32_t k = 0; k < first->count; k++) {
        bool all = first->terms[k].pointer && !first->terms[k].cut;
        for (uint32_t i = 1; i < count && all; i++) {
            bool has = false;
            for (uint32_t m = 0; m < sums[i]->count; m++)
                has |= sums[i]->terms[m].coefficient == first->terms[k].coefficient &&
                       strcmp(sums[i]->terms[m].text, first->terms[k].text) == 0;
            all = has;
        }
        if (all)
            shared = sum_add(&d->scratch, shared, sum_term(&d->scratch, first->terms[k]), 1);
    }
    const char *texts[EITHER] = {NULL};
    uint32_t different = 0;
    uint8_t pointer = SUM_POINTER;
    bool cut = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct sum *rest = sum_add(&d->scratch, sums[i], shared, -1);
        const char *text = sum_text(&d->scratch, rest, &cut);
        if (!(rest->count && rest->terms[0].pointer))
            pointer = SUM_NUMBER;
        bool known = false;
        for (uint32_t k = 0; k < different && k < EITHER; k++)
            known |= strcmp(texts[k], text) == 0;
        if (!known && different < EITHER)
            texts[different] = text;
        different += !known;
        if (different == 1 && i + 1 == count && !cut)
            return sums[0];
    }
    const char *text = "";
    for (uint32_t k = 0; k < different && k < EITHER; k++)
        text = sum_print(&d->scratch, &cut, "%s%s%s", text, k ? ", " : "", texts[k]);
    text =
        sum_print(&d->scratch, &cut, different > EITHER ? "either(%s, ...)" : "either(%s)", text);
    cut |= different > EITHER;
    struct sum_term term = {.coefficient = 1, .text = text, .cut = cut, .pointer = pointer};
    return sum_add(&d->scratch, shared, sum_term(&d->scratch, term), 1);
}

static const struct sum *choice(struct describer *d, const char *condition, const struct sum *yes,
                                const struct sum *no)
{
    if (yes->count && no->count && (yes->terms[0].pointer || no->terms[0].pointer))
        return either(d, (const struct sum *const[]){yes, no}, 2);
    bool cut = false;
    const char *a = sum_text(&d->scratch, yes, &cut), *b = sum_text(&d->scratch, no, &cut);
    if (strcmp(a, b) == 0 && !cut)
        return yes;
    return opaque(d, sum_print(&d->scratch, &cut, "(%s ? %s : %s)", condition, a, b), cut);
}

static const struct sum *operation(struct describer *d, const struct node *at)
{
    int64_t constant;
    switch (at->operation) {
    case NODE_ADD:
        return sum_add(&d->scratch, node_sum(d, at->a), node_sum(d, at->b), 1);
    case NODE_SUB:
        return sum_add(&d->scratch, node_sum(d, at->a), node_sum(d, at->b), -1);
    case NODE_MULTIPLY:
        return sum_multiply(&d->scratch, node_sum(d, at->a), node_sum(d, at->b));
    case NODE_SHIFT_LEFT:
        if (sum_is_constant(node_sum(d, at->b), &constant) && constant >= 0 && constant < 63)
            return sum_multiply(&d->scratch, node_sum(d, at->a),
                                sum_constant(&d->scratch, (int64_t)1 << constant));
        return binary(d, "<<", at->a, at->b);
    case NODE_DIVIDE:
        return binary(d, "/", at->a, at->b);
    case NODE_REMAINDER:
        return binary(d, "%", at->a, at->b);
    case NODE_SHIFT_RIGHT:
        return shift_right(d, at);
    case NODE_AND:
        return mask(d, at);
    case NODE_OR:
        return binary(d, "|", at->a, at->b);
    case NODE_XOR:
        return binary(d, "^", at->a, at->b);
    case NODE_NOT: /* ~a is -a - 1 */
        return sum_add(&d->scratch, sum_constant(&d->scratch, -1), node_sum(d, at->a), -1);
    case NODE_MINIMUM:
        return named(d, "min", at->a, at->b);
    case NODE_MAXIMUM:
        return named(d, "max", at->a, at->b);
    case NODE_ABSOLUTE:
        return named(d, "abs", at->a, 0);
    case NODE_EXTEND:
        return node_sum(d, at->a); /* what would differ is no address at all */
    case NODE_TRUNCATE:
        return truncate(d, at);
    case NODE_MAGIC:
        return magic(d, at);
    case NODE_SELECT:
        return choice(d, predicate_text(d, at->a, false, 0), node_sum(d, at->b),
                      node_sum(d, at->c));
    default: /* a predicate as a number */
        return opaque(d,
                      sum_print(&d->scratch, NULL, "(%s)",
                                predicate_text(d, (uint32_t)(at - d->graph->nodes), false, 0)),
                      false);
    }
}

/* ---- Joins and loops ---- */

/* Whether the way comes from the side of `top` that is taken: 1 or 0; -1: neither surely. */
static int side_of(const struct graph *graph, uint32_t top, const struct graph_edge *way)
{
    uint32_t block = way->block;
    if (block == top)
        return way->taken;
    for (unsigned i = 0; i < DEPTH && block != GRAPH_NO_BLOCK; i++) {
        if (graph->blocks[block].dominator == top) {
            const struct graph_block *at = &graph->blocks[top];
            bool only = graph->blocks[block].way_count == 1;
            return !only || at->taken == at->next ? -1
                   : block == at->taken           ? 1
                   : block == at->next            ? 0
                                                  : -1;
        }
        block = graph->blocks[block].dominator;
    }
    return -1;
}

/* if (p) x = a; else x = b; */
static const struct sum *join(struct describer *d, const struct node *at)
{
    const struct graph *graph = d->graph;
    const struct sum *sums[64];
    uint32_t top = graph->blocks[at->value].dominator;
    if (at->operand_count == 0 || at->operand_count > 64)
        return opaque(d, "...", true);
    for (uint32_t i = 0; i < at->operand_count; i++)
        sums[i] = node_sum(d, at->operands[i]);
    if (at->operand_count == 2 && top != GRAPH_NO_BLOCK && graph->blocks[top].guard) {
        int first = side_of(graph, top, &at->ways[0]), second = side_of(graph, top, &at->ways[1]);
        if (first >= 0 && first + second == 1) {
            bool negated = graph->blocks[top].guard_negated;
            return choice(d, predicate_text(d, graph->blocks[top].guard, negated, 0),
                          sums[first ? 0 : 1], sums[first ? 1 : 0]);
        }
    }
    return either(d, sums, at->operand_count);
}

/* One value of a loop that is looked for in what it becomes. */
struct stepping {
    uint32_t value, loop; /* node and loop */
    unsigned budget;
};

static bool step_of(struct describer *d, struct stepping *from, uint32_t node,
                    const struct sum **step, unsigned depth);

static bool same_sum(struct describer *d, const struct sum *a, const struct sum *b)
{
    int64_t rest;
    return sum_is_constant(sum_add(&d->scratch, a, b, -1), &rest) && rest == 0;
}

static bool step_of_sum(struct describer *d, struct stepping *from, const struct node *at,
                        const struct sum **step, unsigned depth)
{
    const struct node *nodes = d->graph->nodes;
    bool left_stays = !graph_loop_contains(d->graph, from->loop, nodes[at->a].loop);
    bool right_stays = !graph_loop_contains(d->graph, from->loop, nodes[at->b].loop);
    bool adds = at->operation == NODE_ADD;
    uint32_t goes_on = right_stays ? at->a : at->b, stays = right_stays ? at->b : at->a;
    if ((!right_stays && !(left_stays && adds)) || !step_of(d, from, goes_on, step, depth + 1))
        return false;
    *step = sum_add(&d->scratch, *step, node_sum(d, stays), adds ? 1 : -1);
    return true;
}

/* The same on every way. */
static bool step_of_join(struct describer *d, struct stepping *from, const struct node *at,
                         const struct sum **step, unsigned depth)
{
    const struct sum *other;
    if (!at->operand_count || !step_of(d, from, at->operands[0], step, depth + 1))
        return false;
    for (uint32_t i = 1; i < at->operand_count; i++)
        if (!step_of(d, from, at->operands[i], &other, depth + 1) || !same_sum(d, *step, other))
            return false;
    return true;
}

/* What `node` is more than the loop's value at the start of the round, if that is the same in every
 * round. */
static bool step_of(struct describer *d, struct stepping *from, uint32_t node,
                    const struct sum **step, unsigned depth)
{
    const struct node *at = &d->graph->nodes[node];
    if (node == from->value) {
        *step = sum_constant(&d->scratch, 0);
        return true;
    }
    if (depth > DEPTH || from->budget == 0)
        return false;
    from->budget--;
    if (at->kind == NODE_EXIT)
        return step_of(d, from, at->a, step, depth + 1);
    if (at->kind == NODE_JOIN)
        return step_of_join(d, from, at, step, depth);
    if (at->kind == NODE_LOOP) { /* through an inner loop, unchanged */
        struct stepping inner = {node, at->loop, from->budget};
        int64_t constant;
        bool stays = step_of(d, &inner, at->b, step, depth + 1) &&
                     sum_is_constant(*step, &constant) && constant == 0;
        from->budget = inner.budget;
        return stays && step_of(d, from, at->a, step, depth + 1);
    }
    if (at->kind != NODE_OPERATION)
        return false;
    if (at->operation == NODE_EXTEND || at->operation == NODE_TRUNCATE)
        return step_of(d, from, at->a, step, depth + 1);
    return (at->operation == NODE_ADD || at->operation == NODE_SUB) &&
           step_of_sum(d, from, at, step, depth);
}

static const struct sum *counter(struct describer *d, uint32_t loop)
{
    return sum_term(
        &d->scratch,
        (struct sum_term){.coefficient = 1, .text = loop_name(d, loop), .counter = loop});
}

static const struct sum *loop_value(struct describer *d, uint32_t node)
{
    const struct node *at = &d->graph->nodes[node];
    const struct sum *start = node_sum(d, at->a), *step;
    struct stepping from = {node, at->loop, BUDGET_STEP};
    if (step_of(d, &from, at->b, &step, 0))
        return sum_add(&d->scratch, start, sum_multiply(&d->scratch, step, counter(d, at->loop)),
                       1);
    /* A pointer that moves irregularly is still one into the same memory. */
    if (start->count && start->terms[0].pointer && !start->terms[0].cut) {
        struct sum *base = sum_term(&d->scratch, start->terms[0]);
        const struct sum *varies = opaque(
            d, sum_print(&d->scratch, NULL, "<varies in loop %s>", loop_name(d, at->loop)), true);
        return sum_add(&d->scratch, base, varies, 1);
    }
    bool cut = true;
    return opaque(d,
                  sum_print(&d->scratch, &cut, "<varies in loop %s from %s>",
                            loop_name(d, at->loop), sum_text(&d->scratch, start, &cut)),
                  true);
}

/* A term that counts rounds, in the last one. A quotient that leaves no rest is multiplied out. */
static const struct sum *counted_to_the_end(struct describer *d, const struct sum_term *term,
                                            const struct loop_text *loop, const struct sum *last)
{
    const struct sum *one = sum_constant(&d->scratch, 1), *step = term->step ? term->step : one;
    int64_t divisor;
    if (loop->solved && loop->sole && loop->differs && !term->step &&
        sum_is_constant(loop->step, &divisor) && term->coefficient % divisor == 0)
        return sum_add(&d->scratch, sum_constant(&d->scratch, 0), loop->rest,
                       term->coefficient / divisor);
    return sum_add(&d->scratch, sum_constant(&d->scratch, 0), sum_multiply(&d->scratch, step, last),
                   term->coefficient);
}

/* The value as of the round in which the loop was left. */
static const struct sum *exit_value(struct describer *d, const struct node *at)
{
    uint32_t loop = (uint32_t)at->value;
    const struct sum *sum = node_sum(d, at->a);
    bool counts = false;
    for (uint32_t i = 0; i < sum->count; i++)
        counts |= sum->terms[i].counter == loop;
    if (!counts)
        return sum;
    const struct loop_text *left = loop_solve(d, loop);
    const struct sum *last = left->solved && left->sole ? last_round(d, left, 0) : NULL;
    if (!last)
        last = opaque(d, sum_print(&d->scratch, NULL, "last(%s)", loop_name(d, loop)), false);
    const struct sum *result = sum_constant(&d->scratch, sum->constant);
    for (uint32_t i = 0; i < sum->count; i++)
        result = sum_add(&d->scratch, result,
                         sum->terms[i].counter == loop
                             ? counted_to_the_end(d, &sum->terms[i], left, last)
                             : sum_term(&d->scratch, sum->terms[i]),
                         1);
    return result;
}

/* ---- Nodes ---- */

static const struct sum *parameter(struct describer *d, const struct node *at)
{
    struct sum_term term = {.coefficient = 1, .text = parameter_name(d, at->value)};
    if (at->width == 64)
        term.pointer = d->graph->is_pointer[at->value] ? SUM_POINTER : SUM_MAYBE_POINTER;
    return sum_term(&d->scratch, term);
}

/* A member of a struct picked by an index. */
static const struct sum *parameter_at(struct describer *d, const struct node *at)
{
    struct sum_term term = {.coefficient = 1, .pointer = at->is_pointer ? SUM_POINTER : SUM_NUMBER};
    const struct sum *place =
        sum_add(&d->scratch, node_sum(d, at->a), sum_constant(&d->scratch, at->value), 1);
    term.text = sum_print(&d->scratch, &term.cut, "{%s}", sum_text(&d->scratch, place, &term.cut));
    return sum_term(&d->scratch, term);
}

/* Names what it was read through, for addresses: "*arg1". */
static const struct sum *loaded(struct describer *d, const struct node *at)
{
    struct sum_term term = {.coefficient = 1, .text = "<loaded>", .cut = true};
    if (at->width == 64)
        term.pointer = at->is_pointer ? SUM_POINTER : SUM_MAYBE_POINTER;
    if (at->is_pointer) {
        const struct sum *from = node_sum(d, at->a);
        const char *base = from->count && from->terms[0].pointer ? from->terms[0].text : "<loaded>";
        term.text = sum_print(&d->scratch, &term.cut, "*%s", base);
    }
    return sum_term(&d->scratch, term);
}

static const struct sum *symbol(struct describer *d, const struct node *at)
{
    struct sum_term term = {.coefficient = 1, .pointer = SUM_POINTER, .text = "<symbol>"};
    if (at->variable)
        term.text = at->variable->space == PTX_SPACE_PARAM ? parameter_name_of(d, at->variable)
                                                           : at->variable->name;
    return sum_add(&d->scratch, sum_constant(&d->scratch, at->value), sum_term(&d->scratch, term),
                   1);
}

static const struct sum *looked_up(struct describer *d, const struct node *at)
{
    const struct sum *sums[64];
    if (at->operand_count == 0 || at->operand_count > 64)
        return opaque(d, "...", true);
    for (uint32_t i = 0; i < at->operand_count; i++)
        sums[i] = node_sum(d, at->operands[i]);
    return either(d, sums, at->operand_count);
}

static int64_t signed_constant(const struct node *at)
{
    if (at->width == 32)
        return (int32_t)(uint32_t)at->value;
    return at->value;
}

static const struct sum *node_sum_new(struct describer *d, uint32_t node)
{
    const struct node *at = &d->graph->nodes[node];
    switch (at->kind) {
    case NODE_CONSTANT:
        return sum_constant(&d->scratch, signed_constant(at));
    case NODE_PARAM:
        return parameter(d, at);
    case NODE_PARAM_AT:
        return parameter_at(d, at);
    case NODE_SPECIAL:
        return opaque(d, special_name(d, at->value), false);
    case NODE_SYMBOL:
        return symbol(d, at);
    case NODE_OPERATION:
        return operation(d, at);
    case NODE_JOIN:
        return join(d, at);
    case NODE_LOOP:
        return loop_value(d, node);
    case NODE_EXIT:
        return exit_value(d, at);
    case NODE_LOAD:
        return loaded(d, at);
    case NODE_LOOKUP:
        return looked_up(d, at);
    default:
        return opaque(d, at->reason == ACCESS_BOUND_DATA ? "<loaded>" : "<unknown>", true);
    }
}

static const struct sum *node_sum(struct describer *d, uint32_t node)
{
    if (d->sums[node])
        return d->sums[node];
    if (d->depth >= DEPTH || d->budget == 0)
        return opaque(d, "...", true); /* not kept: from elsewhere it may be nearer */
    d->depth++;
    d->budget--;
    const struct sum *sum = node_sum_new(d, node);
    d->depth--;
    return d->sums[node] = sum;
}

/* ---- Conditions ---- */

static bool is_comparison(const struct node *at)
{
    return at->kind == NODE_OPERATION && at->width == 1 &&
           (at->operation == NODE_LESS || at->operation == NODE_LESS_EQUAL ||
            at->operation == NODE_EQUAL);
}

/* One side, as the comparison sees it. */
static const char *side_text(struct describer *d, const struct node *comparison,
                             const struct sum *sum)
{
    const char *text = sum_text(&d->scratch, sum, NULL);
    int64_t constant;
    if (comparison->is_signed || comparison->operation == NODE_EQUAL || !sum_has_negative(sum))
        return text;
    if (sum_is_constant(sum, &constant) && comparison->value == 32)
        return sum_print(&d->scratch, NULL, "%" PRIu32, (uint32_t)constant);
    return sum_print(&d->scratch, NULL, "unsigned(%s)", text);
}

/* Whether it is the same for the whole launch: parameters and numbers. */
static bool is_uniform(const struct sum *sum)
{
    for (uint32_t i = 0; i < sum->count; i++)
        if (strstr(sum->terms[i].text, "Idx") || sum->terms[i].counter || sum->terms[i].cut)
            return false;
    return true;
}

/* A pointer compared with one into the same memory. */
static void cancel_pointer(struct describer *d, const struct sum **left, const struct sum **right)
{
    const struct sum *a = *left, *b = *right;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && a->terms[i].pointer && !a->terms[i].cut; k++)
            if (a->terms[i].coefficient == b->terms[k].coefficient &&
                strcmp(a->terms[i].text, b->terms[k].text) == 0) {
                const struct sum *both = sum_term(&d->scratch, a->terms[i]);
                *left = sum_add(&d->scratch, a, both, -1);
                *right = sum_add(&d->scratch, b, both, -1);
                return;
            }
}

/* What differs from thread to thread stands before what it is compared with. */
static const char *comparison_text(struct describer *d, const struct node *at, bool negated)
{
    static const char *const signs[2][3] = {{"<", "<=", "=="}, {">=", ">", "!="}};
    static const char *const mirrored[2][3] = {{">", ">=", "=="}, {"<=", "<", "!="}};
    const struct sum *left = node_sum(d, at->a), *right = node_sum(d, at->b);
    bool swap = is_uniform(left) && (!is_uniform(right) || left->count < right->count);
    const char *sign = (swap ? mirrored : signs)[negated][at->operation - NODE_LESS];
    int64_t constant;
    cancel_pointer(d, &left, &right);
    if (swap) {
        const struct sum *other = left;
        left = right;
        right = other;
    }
    /* x > 0 as one writes it, not x >= 1 */
    if (sum_is_constant(right, &constant) && constant > 0 && constant < INT32_MAX && sign[1]) {
        int more = strcmp(sign, ">=") == 0 ? -1 : strcmp(sign, "<=") == 0 ? 1 : 0;
        sign = more < 0 ? ">" : more > 0 ? "<" : sign;
        right = sum_constant(&d->scratch, constant + more);
    }
    return sum_print(&d->scratch, NULL, "%s %s %s", side_text(d, at, left), sign,
                     side_text(d, at, right));
}

/* Both in brackets unless one word decides. */
static const char *both_text(struct describer *d, const struct node *at, bool negated,
                             unsigned depth)
{
    bool is_and = (at->operation == NODE_AND) != negated;
    const char *a = predicate_text(d, at->a, negated, depth + 1);
    const char *b = predicate_text(d, at->b, negated, depth + 1);
    return is_and ? sum_print(&d->scratch, NULL, "%s && %s", a, b)
                  : sum_print(&d->scratch, NULL, "(%s || %s)", a, b);
}

static const char *predicate_text(struct describer *d, uint32_t node, bool negated, unsigned depth)
{
    const struct node *at = &d->graph->nodes[node];
    const char *no = negated ? "!" : "";
    int64_t constant = at->value;
    if (depth > DEPTH_CONDITION || d->depth >= DEPTH)
        return "...";
    if (is_comparison(at))
        return comparison_text(d, at, negated);
    if (at->kind == NODE_CONSTANT)
        return ((constant & 1) != 0) != negated ? "true" : "false";
    if (at->kind == NODE_OPERATION && at->operation == NODE_NOT)
        return predicate_text(d, at->a, !negated, depth + 1);
    if (at->kind == NODE_OPERATION && at->width == 1 &&
        (at->operation == NODE_AND || at->operation == NODE_OR))
        return both_text(d, at, negated, depth);
    if (at->kind == NODE_OPERATION && at->width == 1 && at->operation == NODE_XOR)
        return sum_print(&d->scratch, NULL, "%s(%s ^ %s)", no,
                         predicate_text(d, at->a, false, depth + 1),
                         predicate_text(d, at->b, false, depth + 1));
    return sum_print(&d->scratch, NULL, "%s%s", no,
                     sum_factor(&d->scratch, node_sum(d, node), NULL));
}

/* Whether the access's block is entered on this branch only: the guard of its end says when. */
static const char *edge_text(struct describer *d, const struct graph_edge *edge)
{
    const struct graph_block *block = &d->graph->blocks[edge->block];
    if (block->guard_unknown)
        return "<indexed branch>";
    if (!block->guard || block->taken == block->next)
        return "";
    return predicate_text(d, block->guard, block->guard_negated == edge->taken, 0);
}

static const char *also(struct describer *d, const char *first, const char *second)
{
    if (!*first || !*second || strcmp(first, second) == 0)
        return *first ? first : second;
    return sum_print(&d->scratch, NULL, "%s && %s", first, second);
}

/* The loop's own test stands with the loop. */
static bool is_loop_test(struct describer *d, uint32_t test, uint32_t block)
{
    const struct graph *graph = d->graph;
    for (uint32_t loop = graph->blocks[block].loop; loop; loop = graph->loops[loop].parent)
        if (loop_solve(d, loop)->solved && d->loops[loop].test == test)
            return true;
    return false;
}

/* When control goes from block `top`, which dominates it, to the end of `block`'s way in. */
static const char *path_text(struct describer *d, uint32_t top, uint32_t block, uint32_t access,
                             unsigned depth);

/* When `block` is entered, seen from its dominator. */
static const char *entered_text(struct describer *d, uint32_t block, uint32_t access,
                                unsigned depth)
{
    const struct graph *graph = d->graph;
    const struct graph_block *at = &graph->blocks[block];
    uint32_t top = at->dominator, count = at->way_count;
    const char *text = "";
    bool joined = false;
    if (at->is_entry || graph_postdominates(graph, block, top) ||
        !graph_loop_contains(graph, graph->blocks[top].loop, graph->blocks[access].loop) ||
        is_loop_test(d, top, access))
        return "";
    if (at->loop && graph->loops[at->loop].head == block)
        count = graph->loops[at->loop].outside_ways;
    if (count > EITHER || depth > DEPTH_CONDITION)
        return "...";
    for (uint32_t i = 0; i < count; i++) {
        const char *way = path_text(d, top, at->ways[i].block, access, depth + 1);
        way = also(d, way, edge_text(d, &at->ways[i]));
        if (!*way)
            return "";
        if (*text && strcmp(text, way) != 0) {
            text = sum_print(&d->scratch, NULL, "%s || %s", text, way);
            joined = true;
        } else {
            text = way;
        }
    }
    return joined ? sum_print(&d->scratch, NULL, "(%s)", text) : text;
}

static const char *path_text(struct describer *d, uint32_t top, uint32_t block, uint32_t access,
                             unsigned depth)
{
    const char *text = "";
    for (unsigned i = 0; block != top && block != GRAPH_NO_BLOCK && i < 4096; i++) {
        const char *entered = entered_text(d, block, access, depth);
        if (!strstr(text, entered))
            text = also(d, entered, text);
        block = d->graph->blocks[block].dominator;
    }
    return text;
}

/* ---- How often a loop turns ---- */

/* A sum that is above 0 (with *differs: not 0) as long as the loop goes on. */
static const struct sum *goes_on(struct describer *d, uint32_t guard, bool holds, bool *differs)
{
    const struct node *at = &d->graph->nodes[guard];
    while (at->kind == NODE_OPERATION && at->operation == NODE_NOT) {
        at = &d->graph->nodes[at->a];
        holds = !holds;
    }
    if (!is_comparison(at) || (at->operation == NODE_EQUAL && holds))
        return NULL;
    const struct sum *left = node_sum(d, at->a), *right = node_sum(d, at->b);
    *differs = at->operation == NODE_EQUAL;
    struct sum *sum = holds || *differs ? sum_add(&d->scratch, right, left, -1)
                                        : sum_add(&d->scratch, left, right, -1);
    bool equal_too = (at->operation == NODE_LESS_EQUAL) == holds;
    return *differs || !equal_too ? sum
                                  : sum_add(&d->scratch, sum, sum_constant(&d->scratch, 1), 1);
}

/* Takes what two sums have in common out of both. */
static void cancel(struct describer *d, const struct sum **a, const struct sum **b)
{
    struct sum *left, *right;
    uint64_t x = (uint64_t)llabs(sum_content(*a, true)), y = (uint64_t)llabs(sum_content(*b, true));
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    if (x > 1 && sum_divide(&d->scratch, *a, (int64_t)x, &left) &&
        sum_divide(&d->scratch, *b, (int64_t)x, &right)) {
        *a = left;
        *b = right;
    }
}

/* The round in which the test leaves the loop, plus some. */
static const struct sum *last_round(struct describer *d, const struct loop_text *at, int64_t plus)
{
    const struct sum *rest = sum_add(&d->scratch, at->rest, at->step, plus), *step = at->step;
    int64_t constant;
    struct sum *rounds;
    bool cut = false;
    if (sum_is_constant(step, &constant) && sum_divide(&d->scratch, rest, constant, &rounds))
        return rounds;
    cancel(d, &rest, &step);
    const char *above = sum_factor(&d->scratch, rest, &cut);
    const char *below = sum_factor(&d->scratch, step, &cut);
    if (strchr(below, '*') && below[0] != '(')
        below = sum_print(&d->scratch, &cut, "(%s)", below);
    const char *text =
        sum_print(&d->scratch, &cut, at->differs ? "(%s / %s)" : "ceil(%s / %s)", above, below);
    return opaque(d, text, cut);
}

/* Whether the edge's block is passed in every round. */
static bool is_always_tested(const struct graph *graph, uint32_t loop,
                             const struct graph_edge *edge)
{
    const struct graph_block *head = &graph->blocks[graph->loops[loop].head];
    for (uint32_t w = graph->loops[loop].outside_ways; w < head->way_count; w++)
        if (!graph_dominates(graph, edge->block, head->ways[w].block))
            return false;
    return graph->blocks[edge->block].guard && graph->blocks[edge->block].loop == loop;
}

/* Tells the counter from the rest; false: it is not counted, or not towards the end. */
static bool split_test(struct describer *d, uint32_t loop, const struct sum *test,
                       struct loop_text *at)
{
    const struct sum *rest = sum_constant(&d->scratch, test->constant);
    const struct sum *step = sum_constant(&d->scratch, 0);
    int64_t constant;
    for (uint32_t i = 0; i < test->count; i++) {
        const struct sum_term *term = &test->terms[i];
        const struct sum *one = sum_constant(&d->scratch, 1);
        if (term->counter == loop)
            step = sum_add(&d->scratch, step, term->step ? term->step : one, -term->coefficient);
        else if (term->cut)
            return false;
        else
            rest = sum_add(&d->scratch, rest, sum_term(&d->scratch, *term), 1);
    }
    bool is_constant = sum_is_constant(step, &constant);
    if ((is_constant && constant == 0) || (!is_constant && sum_has_negative(step)))
        return false;
    if (is_constant && constant < 0) {
        if (!at->differs)
            return false;
        rest = sum_add(&d->scratch, sum_constant(&d->scratch, 0), rest, -1);
        step = sum_constant(&d->scratch, -constant);
    }
    at->rest = rest;
    at->step = step;
    return true;
}

static const struct loop_text *loop_solve(struct describer *d, uint32_t loop)
{
    struct loop_text *at = &d->loops[loop];
    const struct graph_loop *own = &d->graph->loops[loop];
    if (at->asked)
        return at;
    at->asked = true; /* while it is being solved nothing may count on it */
    for (uint32_t i = 0; i < own->exit_count && !at->solved; i++) {
        const struct graph_edge *edge = &own->exits[i];
        const struct graph_block *block = &d->graph->blocks[edge->block];
        if (!is_always_tested(d->graph, loop, edge))
            continue;
        /* taken is guard != negated; it leaves when taken == edge->taken */
        const struct sum *test =
            goes_on(d, block->guard, block->guard_negated == edge->taken, &at->differs);
        at->test = edge->block;
        at->sole = own->exit_count == 1;
        at->solved = test && split_test(d, loop, test, at);
    }
    return at;
}

/* ---- Accesses ---- */

/* Whether the word stands in the text by itself. */
static bool mentions(const char *text, const char *word)
{
    size_t length = strlen(word);
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !strchr(letters, at[-1])) &&
            (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

static const char *one_loop(struct describer *d, uint32_t loop, uint32_t block)
{
    const struct loop_text *at = loop_solve(d, loop);
    const char *name = loop_name(d, loop);
    if (!at->solved)
        return sum_print(&d->scratch, NULL, "for %s in 0..", name);
    /* Behind the test the last round does not come by; before it, it does. */
    bool behind = at->test != block && graph_dominates(d->graph, at->test, block);
    const struct sum *end = last_round(d, at, behind ? 0 : 1);
    return sum_print(&d->scratch, NULL, "for %s in 0..%s%s", name,
                     sum_factor(&d->scratch, end, NULL), at->sole ? "" : " or fewer");
}

/* The loops whose counters the text speaks of, outermost first. */
static const char *loops_text(struct describer *d, uint32_t block, const char *offset,
                              const char *guard)
{
    const char *text = "";
    for (uint32_t loop = d->graph->blocks[block].loop; loop; loop = d->graph->loops[loop].parent) {
        const char *name = loop_name(d, loop);
        if (!mentions(offset, name) && !mentions(guard, name) && !mentions(text, name))
            continue;
        const char *more = one_loop(d, loop, block);
        text = *text ? sum_print(&d->scratch, NULL, "%s, %s", more, text) : more;
    }
    return text;
}

/* What an address is relative to: its one pointer; the rest goes to *offset. */
static const char *split_address(struct describer *d, const struct sum *sum,
                                 const struct sum **offset)
{
    const struct sum_term *pointer = NULL;
    unsigned pointers = 0;
    for (uint8_t want = SUM_POINTER; !pointers && want >= SUM_MAYBE_POINTER; want--)
        for (uint32_t i = 0; i < sum->count; i++)
            if (sum->terms[i].pointer == want && sum->terms[i].coefficient == 1) {
                pointer = &sum->terms[i];
                pointers++;
            }
    *offset = sum;
    if (pointers != 1)
        return "?";
    *offset = sum_add(&d->scratch, sum, sum_term(&d->scratch, *pointer), -1);
    if (pointer->cut) { /* equal texts are not known to be equal values: take it out by hand */
        struct sum *rest = sum_constant(&d->scratch, sum->constant);
        for (uint32_t i = 0; i < sum->count; i++)
            if (&sum->terms[i] != pointer)
                rest = sum_add(&d->scratch, rest, sum_term(&d->scratch, sum->terms[i]), 1);
        *offset = rest;
    }
    size_t length = strlen(pointer->text);
    if (pointer->text[0] == '{' && pointer->text[length - 1] == '}' && !strchr(pointer->text, ' '))
        return sum_print(&d->scratch, NULL, "%.*s", (int)length - 2, pointer->text + 1);
    return pointer->text;
}

/* Conditions on the way to the block that no launch decides. */
static struct taint taint_of_block(const struct describer *d, uint32_t block)
{
    const struct graph *graph = d->graph;
    struct taint taint = {0};
    while (block != GRAPH_NO_BLOCK) {
        const struct graph_block *at = &graph->blocks[block];
        uint32_t top = at->dominator;
        if (top != GRAPH_NO_BLOCK && !at->is_entry && !graph_postdominates(graph, block, top))
            for (uint32_t w = 0; w < at->way_count; w++) {
                const struct graph_block *from = &graph->blocks[at->ways[w].block];
                if (graph_dominates(graph, block, at->ways[w].block))
                    continue; /* a way back */
                taint_by(&taint, d->taints[from->guard]);
                if (from->guard_unknown)
                    taint_by(&taint, (struct taint){ACCESS_BOUND_DATA, 0});
                taint_by(&taint, d->taints[graph->blocks[top].guard]);
            }
        block = top;
    }
    return taint;
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

static void judge_access(struct describer *d, const struct graph_access *access,
                         struct describe_access *to)
{
    const struct graph *graph = d->graph;
    struct taint guard = taint_of_block(d, access->block), rounds = {0};
    for (uint32_t loop = graph->nodes[access->address].loop; loop; loop = graph->loops[loop].parent)
        if (graph_loop_contains(graph, loop, graph->blocks[access->block].loop))
            taint_by(&rounds, taint_of_exits(d, loop));
    taint_by(&guard, d->taints[access->guard]);
    taint_by(&guard, rounds);
    taint_by(&guard, d->taints[access->size]);
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

static const char *object_name(const struct graph_access *access)
{
    static const char *const names[] = {
        [EFFECT_OBJECT_NONE] = "?",
        [EFFECT_OBJECT_TEXTURE] = "<texture>",
        [EFFECT_OBJECT_SURFACE] = "<surface>",
        [EFFECT_OBJECT_TENSOR_MAP] = "<tensor map>",
    };
    struct effect effects[EFFECT_MAX];
    const char *unknown;
    int count = effect_find(access->instruction, effects, &unknown);
    for (int i = 0; i < count; i++)
        if (effects[i].object && effects[i].kinds == access->kinds)
            return names[effects[i].object];
    return "?";
}

static const char *access_guard(struct describer *d, const struct graph_access *access)
{
    const char *guard = path_text(d, GRAPH_NO_BLOCK, access->block, access->block, 0);
    if (access->guard)
        guard = also(d, guard, predicate_text(d, access->guard, access->guard_negated, 0));
    return guard;
}

static void describe_one(struct describer *d, const struct graph_access *access,
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
        to->base = object_name(access);
        if (to->base[0] == '?')
            say_unknown(to, "it is an instruction that is not followed", to->line);
        else {
            to->known = DESCRIBE_BOUNDED;
            to->reason = "the memory lies behind a handle";
        }
        return;
    }
    const struct sum *offset;
    to->base = split_address(d, node_sum(d, access->address), &offset);
    to->offset = sum_text(&d->scratch, offset, NULL);
    place->rest = sum_text(
        &d->scratch, sum_add(&d->scratch, offset, sum_constant(&d->scratch, -offset->constant), 1),
        &place->cut);
    place->constants[place->count++] = offset->constant;
    to->loops = loops_text(d, access->block, to->offset, to->guard);
    judge_access(d, access, to);
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

static void add_access(struct describer *d, const struct graph_access *access)
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
    const char *list = sum_print(&d->scratch, NULL, "%" PRId64, at[0]);
    for (unsigned i = 1; i < place->count; i++) {
        even &= (int64_t)((uint64_t)at[i] - (uint64_t)at[i - 1]) == step;
        list = sum_print(&d->scratch, NULL, "%s, %" PRId64, list, at[i]);
    }
    bool none = strcmp(place->rest, "0") == 0;
    const char *rest = none ? "" : place->rest, *plus = none ? "" : " + ";
    if (!even)
        list = sum_print(&d->scratch, NULL, "%s%s{%s}", rest, plus, list);
    else if (at[0] == 0)
        list = sum_print(&d->scratch, NULL, "%s%s%" PRId64 "*(0..%u)", rest, plus, step,
                         place->count - 1);
    else
        list = sum_print(&d->scratch, NULL, "%s%s%" PRId64 " + %" PRId64 "*(0..%u)", rest,
                         at[0] < 0 && !none ? " - " : plus,
                         at[0] < 0 && !none ? (int64_t) - (uint64_t)at[0] : at[0], step,
                         place->count - 1);
    access->offset = keep(d, list);
}

/* ---- All ---- */

static void describe_all(struct describer *d, struct description *description)
{
    const struct graph *graph = d->graph;
    d->sums = ptx_arena_array(&d->scratch, graph->node_count, sizeof *d->sums);
    d->taints = ptx_arena_array(&d->scratch, graph->node_count, sizeof *d->taints);
    d->loops = ptx_arena_array(&d->scratch, graph->loop_count, sizeof *d->loops);
    d->budget = BUDGET;
    find_taints(d);
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
    struct graph *graph = description && d ? graph_create(kernel) : NULL;
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
    graph_release(graph);
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
