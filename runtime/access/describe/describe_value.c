/* Nodes as sums, each made once. See describer.h. */
#include "runtime/access/describe/describer.h"

#include <inttypes.h>
#include <string.h>

const struct symbolic_sum *describe_opaque(struct describer *d, const char *text, bool cut)
{
    return symbolic_sum_term(
        &d->scratch, (struct symbolic_sum_term){.coefficient = 1, .text = text, .cut = cut});
}

/* ---- Words ---- */

static const char *special_name(struct describer *d, int64_t reg)
{
    static const char *const words[] = {"threadIdx", "blockDim", "blockIdx", "gridDim"};
    if (reg >= PTX_SREG_TID_X && reg <= PTX_SREG_NCTAID_Z) {
        unsigned which = (unsigned)(reg - PTX_SREG_TID_X);
        return symbolic_sum_print(&d->scratch, NULL, "%s.%c", words[which / 3], "xyz"[which % 3]);
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
                   ? symbolic_sum_print(&d->scratch, NULL, "cluster%d",
                                        (int)(reg - PTX_SREG_CLUSTERID_X))
                   : symbolic_sum_print(&d->scratch, NULL, "<register %d>", (int)reg);
    }
}

/* The parameter that the byte lies in. */
static const char *parameter_name(struct describer *d, int64_t offset)
{
    const struct ptx_function *kernel = d->graph->kernel;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct ptx_param *param = &kernel->params[i];
        if (offset == param->offset)
            return symbolic_sum_print(&d->scratch, NULL, "arg%" PRIu32, i);
        if (offset > param->offset && offset < (int64_t)param->offset + param->size)
            return symbolic_sum_print(&d->scratch, NULL, "{arg%" PRIu32 "+%" PRId64 "}", i,
                                      offset - param->offset);
    }
    return symbolic_sum_print(&d->scratch, NULL, "{args+%" PRId64 "}", offset);
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

/* ---- Operations ---- */

static const struct symbolic_sum *binary(struct describer *d, const char *sign, uint32_t left,
                                         uint32_t right)
{
    bool cut = false;
    const char *a = symbolic_sum_factor(&d->scratch, describe_node(d, left), &cut);
    const char *b = symbolic_sum_factor(&d->scratch, describe_node(d, right), &cut);
    const char *text = symbolic_sum_print(&d->scratch, &cut, "(%s %s %s)", a, sign, b);
    return describe_opaque(d, text, cut);
}

static const struct symbolic_sum *named(struct describer *d, const char *name, uint32_t left,
                                        uint32_t right)
{
    bool cut = false;
    const char *a = symbolic_sum_text(&d->scratch, describe_node(d, left), &cut);
    const char *b = right ? symbolic_sum_text(&d->scratch, describe_node(d, right), &cut) : "";
    const char *text =
        symbolic_sum_print(&d->scratch, &cut, right ? "%s(%s, %s)" : "%s(%s%s)", name, a, b);
    return describe_opaque(d, text, cut);
}

/* In x + ((x >> 31) >> (32 - k)) it is x: what compilers divide by 2^k rounding towards 0, since
 * x >> 31 is all ones for what is negative. NULL: it is another sum. */
static const struct symbolic_sum *rounded(struct describer *d, const struct symbolic_sum *sum,
                                          uint32_t width, int64_t k)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        bool cut = false;
        if (sum->terms[i].coefficient != 1 || sum->terms[i].cut)
            continue;
        const struct symbolic_sum *rest =
            symbolic_sum_add(&d->scratch, sum, symbolic_sum_term(&d->scratch, sum->terms[i]), -1);
        const char *text = symbolic_sum_factor(&d->scratch, rest, &cut);
        if (k == 1) /* the sign itself */
            text = symbolic_sum_print(&d->scratch, &cut, "(%s >> %d)", text, (int)width - 1);
        else
            text = symbolic_sum_print(&d->scratch, &cut, "((%s >> %d) >> %d)", text, (int)width - 1,
                                      (int)(width - k));
        if (strcmp(text, sum->terms[i].text) == 0 && !cut)
            return rest;
    }
    return NULL;
}

static const struct symbolic_sum *divided(struct describer *d, const struct symbolic_sum *sum,
                                          int64_t by)
{
    bool cut = false;
    const char *text = symbolic_sum_factor(&d->scratch, sum, &cut);
    text = symbolic_sum_print(&d->scratch, &cut, "(%s / %" PRId64 ")", text, by);
    return describe_opaque(d, text, cut);
}

static const struct symbolic_sum *shift_right(struct describer *d, const struct node *at)
{
    int64_t amount;
    if (!symbolic_sum_is_constant(describe_node(d, at->b), &amount) || amount <= 0 ||
        amount >= at->width)
        return binary(d, ">>", at->a, at->b);
    const struct symbolic_sum *rest = rounded(d, describe_node(d, at->a), at->width, amount);
    return rest ? divided(d, rest, (int64_t)1 << amount) : binary(d, ">>", at->a, at->b);
}

/* With the complement of 2^k - 1 it rounds down to a multiple of 2^k. */
static const struct symbolic_sum *mask(struct describer *d, const struct node *at)
{
    int64_t constant;
    bool cut = false;
    if (!symbolic_sum_is_constant(describe_node(d, at->b), &constant) || constant >= 0)
        return binary(d, "&", at->a, at->b);
    int64_t unit = -constant;
    const struct symbolic_sum *sum = describe_node(d, at->a), *rest = NULL;
    if (unit > 1 && (unit & (unit - 1)) == 0)
        rest = rounded(d, sum, at->width, __builtin_ctzll((unsigned long long)unit));
    if (rest)
        return symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, 0),
                                divided(d, rest, unit), unit);
    const char *text = symbolic_sum_print(&d->scratch, &cut, "(%s & ~%" PRId64 ")",
                                          symbolic_sum_factor(&d->scratch, sum, &cut), ~constant);
    return describe_opaque(d, text, cut);
}

/* The divisor that a high product and a shift stand for. */
static const struct symbolic_sum *magic(struct describer *d, const struct node *at)
{
    bool cut = false;
    double divisor = at->value > 0 ? 1.0 : 0;
    for (int64_t i = 0; i < at->high; i++)
        divisor *= 2;
    if (at->value > 0)
        divisor /= (double)at->value;
    const char *text = symbolic_sum_print(
        &d->scratch, &cut, "(%s / %.0f)",
        symbolic_sum_factor(&d->scratch, describe_node(d, at->a), &cut), divisor);
    return describe_opaque(d, text, cut);
}

static const struct symbolic_sum *truncate(struct describer *d, const struct node *at)
{
    if (at->width >= 32)
        return describe_node(d, at->a);
    return named(d, at->width == 8 ? "u8" : "u16", at->a, 0);
}

/* Several values of which control flow picks one; a pointer that they share stays outside. */
static const struct symbolic_sum *either(struct describer *d,
                                         const struct symbolic_sum *const *sums, uint32_t count)
{
    struct symbolic_sum *shared = symbolic_sum_constant(&d->scratch, 0);
    const struct symbolic_sum *first = sums[0];
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
            shared = symbolic_sum_add(&d->scratch, shared,
                                      symbolic_sum_term(&d->scratch, first->terms[k]), 1);
    }
    const char *texts[DESCRIBE_EITHER] = {NULL};
    uint32_t different = 0;
    uint8_t pointer = SYMBOLIC_SUM_POINTER;
    bool cut = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct symbolic_sum *rest = symbolic_sum_add(&d->scratch, sums[i], shared, -1);
        const char *text = symbolic_sum_text(&d->scratch, rest, &cut);
        if (!(rest->count && rest->terms[0].pointer))
            pointer = SYMBOLIC_SUM_NUMBER;
        bool known = false;
        for (uint32_t k = 0; k < different && k < DESCRIBE_EITHER; k++)
            known |= strcmp(texts[k], text) == 0;
        if (!known && different < DESCRIBE_EITHER)
            texts[different] = text;
        different += !known;
        if (different == 1 && i + 1 == count && !cut)
            return sums[0];
    }
    const char *text = "";
    for (uint32_t k = 0; k < different && k < DESCRIBE_EITHER; k++)
        text = symbolic_sum_print(&d->scratch, &cut, "%s%s%s", text, k ? ", " : "", texts[k]);
    text = symbolic_sum_print(&d->scratch, &cut,
                              different > DESCRIBE_EITHER ? "either(%s, ...)" : "either(%s)", text);
    cut |= different > DESCRIBE_EITHER;
    struct symbolic_sum_term term = {
        .coefficient = 1, .text = text, .cut = cut, .pointer = pointer};
    return symbolic_sum_add(&d->scratch, shared, symbolic_sum_term(&d->scratch, term), 1);
}

static const struct symbolic_sum *choice(struct describer *d, const char *condition,
                                         const struct symbolic_sum *yes,
                                         const struct symbolic_sum *no)
{
    if (yes->count && no->count && (yes->terms[0].pointer || no->terms[0].pointer))
        return either(d, (const struct symbolic_sum *const[]){yes, no}, 2);
    bool cut = false;
    const char *a = symbolic_sum_text(&d->scratch, yes, &cut),
               *b = symbolic_sum_text(&d->scratch, no, &cut);
    if (strcmp(a, b) == 0 && !cut)
        return yes;
    return describe_opaque(
        d, symbolic_sum_print(&d->scratch, &cut, "(%s ? %s : %s)", condition, a, b), cut);
}

static const struct symbolic_sum *operation(struct describer *d, const struct node *at)
{
    int64_t constant;
    switch (at->operation) {
    case NODE_ADD:
        return symbolic_sum_add(&d->scratch, describe_node(d, at->a), describe_node(d, at->b), 1);
    case NODE_SUB:
        return symbolic_sum_add(&d->scratch, describe_node(d, at->a), describe_node(d, at->b), -1);
    case NODE_MULTIPLY:
        return symbolic_sum_multiply(&d->scratch, describe_node(d, at->a), describe_node(d, at->b));
    case NODE_SHIFT_LEFT:
        if (symbolic_sum_is_constant(describe_node(d, at->b), &constant) && constant >= 0 &&
            constant < 63)
            return symbolic_sum_multiply(
                &d->scratch, describe_node(d, at->a),
                symbolic_sum_constant(&d->scratch, (int64_t)1 << constant));
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
        return symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, -1),
                                describe_node(d, at->a), -1);
    case NODE_MINIMUM:
        return named(d, "min", at->a, at->b);
    case NODE_MAXIMUM:
        return named(d, "max", at->a, at->b);
    case NODE_ABSOLUTE:
        return named(d, "abs", at->a, 0);
    case NODE_EXTEND:
        return describe_node(d, at->a); /* what would differ is no address at all */
    case NODE_TRUNCATE:
        return truncate(d, at);
    case NODE_MAGIC:
        return magic(d, at);
    case NODE_SELECT:
        return choice(d, describe_predicate(d, at->a, false, 0), describe_node(d, at->b),
                      describe_node(d, at->c));
    default: /* a predicate as a number */
        return describe_opaque(
            d,
            symbolic_sum_print(&d->scratch, NULL, "(%s)",
                               describe_predicate(d, (uint32_t)(at - d->graph->nodes), false, 0)),
            false);
    }
}

/* ---- Joins ---- */

/* Whether the way comes from the side of `top` that is taken: 1 or 0; -1: neither surely. */
static int side_of(const struct value_graph *graph, uint32_t top,
                   const struct value_graph_edge *way)
{
    uint32_t block = way->block;
    if (block == top)
        return way->taken;
    for (unsigned i = 0; i < DESCRIBE_DEPTH && block != VALUE_GRAPH_NO_BLOCK; i++) {
        if (graph->blocks[block].dominator == top) {
            const struct value_graph_block *at = &graph->blocks[top];
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
static const struct symbolic_sum *join(struct describer *d, const struct node *at)
{
    const struct value_graph *graph = d->graph;
    const struct symbolic_sum *sums[64];
    uint32_t top = graph->blocks[at->value].dominator;
    if (at->operand_count == 0 || at->operand_count > 64)
        return describe_opaque(d, "...", true);
    for (uint32_t i = 0; i < at->operand_count; i++)
        sums[i] = describe_node(d, at->operands[i]);
    if (at->operand_count == 2 && top != VALUE_GRAPH_NO_BLOCK && graph->blocks[top].guard) {
        int first = side_of(graph, top, &at->ways[0]), second = side_of(graph, top, &at->ways[1]);
        if (first >= 0 && first + second == 1) {
            bool negated = graph->blocks[top].guard_negated;
            return choice(d, describe_predicate(d, graph->blocks[top].guard, negated, 0),
                          sums[first ? 0 : 1], sums[first ? 1 : 0]);
        }
    }
    return either(d, sums, at->operand_count);
}

/* ---- Nodes ---- */

static const struct symbolic_sum *parameter(struct describer *d, const struct node *at)
{
    struct symbolic_sum_term term = {.coefficient = 1, .text = parameter_name(d, at->value)};
    if (at->width == 64)
        term.pointer =
            d->graph->is_pointer[at->value] ? SYMBOLIC_SUM_POINTER : SYMBOLIC_SUM_MAYBE_POINTER;
    return symbolic_sum_term(&d->scratch, term);
}

/* A member of a struct picked by an index. */
static const struct symbolic_sum *parameter_at(struct describer *d, const struct node *at)
{
    struct symbolic_sum_term term = {
        .coefficient = 1, .pointer = at->is_pointer ? SYMBOLIC_SUM_POINTER : SYMBOLIC_SUM_NUMBER};
    const struct symbolic_sum *place = symbolic_sum_add(
        &d->scratch, describe_node(d, at->a), symbolic_sum_constant(&d->scratch, at->value), 1);
    term.text = symbolic_sum_print(&d->scratch, &term.cut, "{%s}",
                                   symbolic_sum_text(&d->scratch, place, &term.cut));
    return symbolic_sum_term(&d->scratch, term);
}

/* Names what it was read through, for addresses: "*arg1". */
static const struct symbolic_sum *loaded(struct describer *d, const struct node *at)
{
    struct symbolic_sum_term term = {.coefficient = 1, .text = "<loaded>", .cut = true};
    if (at->width == 64)
        term.pointer = at->is_pointer ? SYMBOLIC_SUM_POINTER : SYMBOLIC_SUM_MAYBE_POINTER;
    if (at->is_pointer) {
        const struct symbolic_sum *from = describe_node(d, at->a);
        const char *base = from->count && from->terms[0].pointer ? from->terms[0].text : "<loaded>";
        term.text = symbolic_sum_print(&d->scratch, &term.cut, "*%s", base);
    }
    return symbolic_sum_term(&d->scratch, term);
}

static const struct symbolic_sum *symbol(struct describer *d, const struct node *at)
{
    struct symbolic_sum_term term = {
        .coefficient = 1, .pointer = SYMBOLIC_SUM_POINTER, .text = "<symbol>"};
    if (at->variable)
        term.text = at->variable->space == PTX_SPACE_PARAM ? parameter_name_of(d, at->variable)
                                                           : at->variable->name;
    return symbolic_sum_add(&d->scratch, symbolic_sum_constant(&d->scratch, at->value),
                            symbolic_sum_term(&d->scratch, term), 1);
}

static const struct symbolic_sum *looked_up(struct describer *d, const struct node *at)
{
    const struct symbolic_sum *sums[64];
    if (at->operand_count == 0 || at->operand_count > 64)
        return describe_opaque(d, "...", true);
    for (uint32_t i = 0; i < at->operand_count; i++)
        sums[i] = describe_node(d, at->operands[i]);
    return either(d, sums, at->operand_count);
}

static int64_t signed_constant(const struct node *at)
{
    if (at->width == 32)
        return (int32_t)(uint32_t)at->value;
    return at->value;
}

static const struct symbolic_sum *node_sum_new(struct describer *d, uint32_t node)
{
    const struct node *at = &d->graph->nodes[node];
    switch (at->kind) {
    case NODE_CONSTANT:
        return symbolic_sum_constant(&d->scratch, signed_constant(at));
    case NODE_PARAM:
        return parameter(d, at);
    case NODE_PARAM_AT:
        return parameter_at(d, at);
    case NODE_SPECIAL:
        return describe_opaque(d, special_name(d, at->value), false);
    case NODE_SYMBOL:
        return symbol(d, at);
    case NODE_OPERATION:
        return operation(d, at);
    case NODE_JOIN:
        return join(d, at);
    case NODE_LOOP:
        return describe_loop_value(d, node);
    case NODE_EXIT:
        return describe_exit(d, at);
    case NODE_LOAD:
        return loaded(d, at);
    case NODE_LOOKUP:
        return looked_up(d, at);
    default:
        return describe_opaque(d, at->reason == ACCESS_BOUND_DATA ? "<loaded>" : "<unknown>", true);
    }
}

const struct symbolic_sum *describe_node(struct describer *d, uint32_t node)
{
    if (d->sums[node])
        return d->sums[node];
    if (d->depth >= DESCRIBE_DEPTH || d->budget == 0)
        return describe_opaque(d, "...", true); /* not kept: from elsewhere it may be nearer */
    d->depth++;
    d->budget--;
    const struct symbolic_sum *sum = node_sum_new(d, node);
    d->depth--;
    return d->sums[node] = sum;
}
