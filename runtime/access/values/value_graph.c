/* The control flow of a kernel and its inlined functions, and the order in which values are made.
 * See value_graph.h and value_builder.h. */
#include "runtime/access/access_set.h"
#include "runtime/access/values/value_builder.h"

#include <stdlib.h>
#include <string.h>

/* Instructions translated, inlined copies counted each: some 600 ns for one, with its evaluation.
 */
enum { VALUE_GRAPH_BUDGET = 6000 };

void value_graph_fail(struct builder *b, const char *why)
{
    b->graph->failure = why;
    b->graph->failure_line = b->line;
    longjmp(b->failed, 1);
}

/* ---- Questions ---- */

bool value_graph_loop_contains(const struct value_graph *graph, uint32_t loop, uint32_t inner)
{
    if (loop == 0)
        return true;
    while (inner && graph->loops[inner].depth > graph->loops[loop].depth)
        inner = graph->loops[inner].parent;
    return inner == loop;
}

bool value_graph_dominates(const struct value_graph *graph, uint32_t a, uint32_t b)
{
    return graph->blocks[a].dominates.first <= graph->blocks[b].dominates.first &&
           graph->blocks[b].dominates.last <= graph->blocks[a].dominates.last;
}

bool value_graph_postdominates(const struct value_graph *graph, uint32_t a, uint32_t b)
{
    return graph->blocks[a].postdominates.first <= graph->blocks[b].postdominates.first &&
           graph->blocks[b].postdominates.last <= graph->blocks[a].postdominates.last;
}

static uint32_t parent_of(const struct value_graph_block *block, bool post)
{
    return post ? block->postdominator : block->dominator;
}

/* Numbers the forest in the order of a walk: what a block dominates is an interval. */
static void number_tree(struct builder *b, bool post)
{
    struct value_graph *graph = b->graph;
    uint32_t count = graph->block_count, number = 0;
    uint32_t *child = ptx_arena_array(&b->scratch, count + 1, sizeof *child);
    uint32_t *sibling = ptx_arena_array(&b->scratch, count + 1, sizeof *sibling);
    for (uint32_t i = count; i-- > 0;) { /* blocks and roots, numbered from 1 there */
        uint32_t parent = parent_of(&graph->blocks[i], post);
        uint32_t *first = &child[parent == VALUE_GRAPH_NO_BLOCK ? 0 : parent + 1];
        sibling[i + 1] = *first;
        *first = i + 1;
    }
    for (uint32_t at = child[0]; at;) {
        struct value_graph_block *block = &graph->blocks[at - 1];
        struct value_graph_interval *own = post ? &block->postdominates : &block->dominates;
        own->first = number++;
        if (child[at]) {
            at = child[at];
            continue;
        }
        own->last = number;
        while (at && !sibling[at]) { /* up, closing those that are done */
            uint32_t parent = parent_of(&graph->blocks[at - 1], post);
            at = parent == VALUE_GRAPH_NO_BLOCK ? 0 : parent + 1;
            if (at)
                (post ? &graph->blocks[at - 1].postdominates : &graph->blocks[at - 1].dominates)
                    ->last = number;
        }
        at = at ? sibling[at] : 0;
    }
}

/* ---- Blocks ---- */

/* Reachable blocks in reverse postorder. */
static void order_blocks(struct builder *b, struct copy *copy)
{
    const struct ptx_function *function = copy->function;
    uint32_t count = function->block_count, depth = 0, at = count;
    uint32_t *stack = ptx_arena_array(&b->scratch, count, sizeof *stack);
    uint32_t *next = ptx_arena_array(&b->scratch, count, sizeof *next);
    bool *seen = ptx_arena_array(&b->scratch, count, sizeof *seen);
    uint32_t *order = ptx_arena_array(&b->scratch, count, sizeof *order);
    if (count) {
        stack[depth++] = 0;
        seen[0] = true;
    }
    while (depth) {
        uint32_t block = stack[depth - 1];
        const struct ptx_block *ptx = &function->blocks[block];
        if (next[block] == ptx->successor_count) {
            order[--at] = block;
            depth--;
            continue;
        }
        uint32_t to = ptx->successors[next[block]++];
        if (!seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    copy->order = order + at;
    copy->order_count = count - at;
}

static const struct ptx_instruction *last_of(const struct ptx_function *function,
                                             const struct ptx_block *block)
{
    return &function->instructions[block->first + block->count - 1];
}

/* Where a block's end leads. Its guard's node is known when the block is translated. */
static void link_successors(struct builder *b, const struct copy *copy, uint32_t local)
{
    const struct ptx_function *function = copy->function;
    const struct ptx_block *ptx = &function->blocks[local];
    const struct ptx_instruction *last = last_of(function, ptx);
    struct value_graph_block *block = &b->graph->blocks[copy->first_block + local];
    block->taken = block->next = VALUE_GRAPH_NO_BLOCK;
    if (last->opcode == PTX_OP_BRX) {
        block->guard_unknown = true;
        return;
    }
    bool guarded = last->guard != PTX_NO_REGISTER;
    bool branches = last->opcode == PTX_OP_BRA && last->operands[0].kind == PTX_OPERAND_LABEL;
    if (branches && last->operands[0].target < function->instruction_count)
        block->taken = copy->first_block + function->block_of[last->operands[0].target];
    bool ends = last->opcode == PTX_OP_RET || last->opcode == PTX_OP_EXIT ||
                last->opcode == PTX_OP_TRAP || branches;
    if ((!ends || guarded) && ptx->first + ptx->count < function->instruction_count)
        block->next = copy->first_block + function->block_of[ptx->first + ptx->count];
}

/* The ways into a block: one for each edge, a branch to the next block makes two. */
static void link_ways(struct builder *b, const struct copy *copy, uint32_t local,
                      const uint32_t *position)
{
    struct value_graph_block *block = &b->graph->blocks[copy->first_block + local];
    const struct ptx_block *ptx = &copy->function->blocks[local];
    struct value_graph_edge *ways =
        ptx_arena_array(b->arena, (size_t)ptx->predecessor_count * 2, sizeof *ways);
    uint32_t me = copy->first_block + local, count = 0;
    for (uint32_t back = 0; back < 2; back++) /* from outside first, see value_graph_loop */
        for (uint32_t i = 0; i < ptx->predecessor_count; i++) {
            uint32_t from = ptx->predecessors[i];
            const struct value_graph_block *before = &b->graph->blocks[copy->first_block + from];
            if (position[from] == UINT32_MAX || (position[from] >= position[local]) != (back == 1))
                continue;
            uint32_t global = copy->first_block + from;
            if (before->taken == me || before->guard_unknown)
                ways[count++] = (struct value_graph_edge){global, true};
            if (before->next == me)
                ways[count++] = (struct value_graph_edge){global, false};
        }
    block->ways = ways;
    block->way_count = count;
}

static void link_blocks(struct builder *b, uint32_t number)
{
    struct copy *copy = &b->copies[number];
    const struct ptx_function *function = copy->function;
    uint32_t *position = ptx_arena_array(&b->scratch, function->block_count, sizeof *position);
    memset(position, 0xff, function->block_count * sizeof *position);
    for (uint32_t i = 0; i < copy->order_count; i++)
        position[copy->order[i]] = i;
    for (uint32_t i = 0; i < copy->order_count; i++) {
        uint32_t local = copy->order[i];
        const struct ptx_block *ptx = &function->blocks[local];
        struct value_graph_block *block = &b->graph->blocks[copy->first_block + local];
        block->function = number;
        block->loop = copy->loop;
        block->is_entry = local == 0;
        block->dominator =
            local == 0 ? copy->call_block : copy->first_block + ptx->immediate_dominator;
        block->postdominator = ptx->immediate_postdominator == PTX_NO_BLOCK
                                   ? VALUE_GRAPH_NO_BLOCK
                                   : copy->first_block + ptx->immediate_postdominator;
        link_successors(b, copy, local);
    }
    for (uint32_t i = 0; i < copy->order_count; i++)
        link_ways(b, copy, copy->order[i], position);
}

/* ---- Loops ---- */

static uint32_t outermost(const struct value_graph *graph, uint32_t loop, uint32_t within)
{
    while (loop != within && graph->loops[loop].parent != within)
        loop = graph->loops[loop].parent;
    return loop;
}

static uint32_t loop_new(struct builder *b, uint32_t head, uint32_t parent)
{
    struct value_graph *graph = b->graph;
    graph->loops = ptx_arena_grow(b->arena, graph->loops, graph->loop_count, &b->loop_capacity,
                                  sizeof *graph->loops);
    graph->loops[graph->loop_count] = (struct value_graph_loop){.head = head, .parent = parent};
    return graph->loop_count++;
}

/* Everything that reaches the ends of the rounds without passing the head, inner loops first. */
static void fill_loop(struct builder *b, const struct copy *copy, uint32_t loop, uint32_t *stack)
{
    struct value_graph *graph = b->graph;
    uint32_t head = graph->loops[loop].head, depth = 0;
    const struct value_graph_block *at = &graph->blocks[head];
    for (uint32_t w = graph->loops[loop].outside_ways; w < at->way_count; w++)
        stack[depth++] = at->ways[w].block;
    graph->blocks[head].loop = loop;
    while (depth) {
        uint32_t block = stack[--depth];
        uint32_t inside = graph->blocks[block].loop;
        uint32_t from = block;
        if (inside != copy->loop) {
            uint32_t top = outermost(graph, inside, copy->loop);
            if (top == loop)
                continue;
            graph->loops[top].parent = loop;
            from = graph->loops[top].head;
        } else {
            graph->blocks[block].loop = loop;
        }
        const struct value_graph_block *entry = &graph->blocks[from];
        for (uint32_t w = 0; w < entry->way_count; w++)
            if (from == block || w < graph->loops[graph->blocks[from].loop].outside_ways)
                stack[depth++] = entry->ways[w].block;
    }
}

/* As value_graph_dominates, which is known only when the graph is whole. */
static bool dominates_so_far(const struct value_graph *graph, uint32_t a, uint32_t b)
{
    while (b != a && b != VALUE_GRAPH_NO_BLOCK)
        b = graph->blocks[b].dominator;
    return b == a;
}

static void find_loops(struct builder *b, const struct copy *copy, uint32_t first_loop)
{
    struct value_graph *graph = b->graph;
    uint32_t edges = 0;
    for (uint32_t i = 0; i < copy->order_count; i++)
        edges += graph->blocks[copy->first_block + copy->order[i]].way_count;
    uint32_t *stack = ptx_arena_array(&b->scratch, (size_t)edges * 2 + 2, sizeof *stack);
    uint32_t *position =
        ptx_arena_array(&b->scratch, copy->function->block_count, sizeof *position);
    for (uint32_t i = 0; i < copy->order_count; i++)
        position[copy->order[i]] = i;
    for (uint32_t i = copy->order_count; i-- > 0;) {
        uint32_t block = copy->first_block + copy->order[i], outside = 0;
        const struct value_graph_block *at = &graph->blocks[block];
        while (outside < at->way_count && position[at->ways[outside].block - copy->first_block] < i)
            outside++;
        if (outside == at->way_count)
            continue;
        for (uint32_t w = outside; w < at->way_count; w++)
            if (!dominates_so_far(graph, block, at->ways[w].block))
                value_graph_fail(b, "its control flow is irreducible");
        uint32_t loop = loop_new(b, block, copy->loop);
        graph->loops[loop].outside_ways = outside;
        graph->loops[loop].one_latch = at->way_count - outside == 1;
        fill_loop(b, copy, loop, stack);
    }
    for (uint32_t loop = graph->loop_count; loop-- > first_loop;) /* outer ones are made later */
        graph->loops[loop].depth =
            graph->loops[loop].parent ? graph->loops[graph->loops[loop].parent].depth + 1 : 1;
}

static void add_exit(struct builder *b, uint32_t block, bool taken, uint32_t to)
{
    struct value_graph *graph = b->graph;
    for (uint32_t loop = graph->blocks[block].loop; loop; loop = graph->loops[loop].parent) {
        if (to != VALUE_GRAPH_NO_BLOCK &&
            value_graph_loop_contains(graph, loop, graph->blocks[to].loop))
            break;
        struct value_graph_loop *at = &graph->loops[loop];
        struct value_graph_edge *exits =
            ptx_arena_array(b->arena, at->exit_count + 1, sizeof *exits);
        if (at->exit_count)
            memcpy(exits, at->exits, at->exit_count * sizeof *exits);
        exits[at->exit_count++] = (struct value_graph_edge){block, taken};
        at->exits = exits;
    }
}

/* Also ways to the end of the function, which no block stands for. */
static void find_exits(struct builder *b, const struct copy *copy)
{
    for (uint32_t i = 0; i < copy->order_count; i++) {
        uint32_t block = copy->first_block + copy->order[i];
        const struct value_graph_block *at = &b->graph->blocks[block];
        const struct ptx_block *ptx = &copy->function->blocks[copy->order[i]];
        const struct ptx_instruction *last = last_of(copy->function, ptx);
        bool guarded = last->guard != PTX_NO_REGISTER;
        if (!at->loop || at->loop == copy->loop)
            continue;
        if (at->guard_unknown) {
            add_exit(b, block, true, VALUE_GRAPH_NO_BLOCK);
            continue;
        }
        bool branches = last->opcode == PTX_OP_BRA, ends = last->opcode == PTX_OP_RET ||
                                                           last->opcode == PTX_OP_EXIT ||
                                                           last->opcode == PTX_OP_TRAP;
        if (branches || ends)
            add_exit(b, block, true, at->taken);
        if (!(branches || ends) || guarded)
            add_exit(b, block, false, at->next);
    }
}

/* ---- Copies ---- */

static void count_definition(struct copy *copy, const struct ptx_operand *to)
{
    if (to->kind == PTX_OPERAND_VECTOR)
        for (uint32_t i = 0; i < to->count; i++)
            count_definition(copy, &to->elements[i]);
    else if (to->kind == PTX_OPERAND_REGISTER && copy->definitions[to->reg] < 2)
        copy->definitions[to->reg]++;
}

/* How often each register is written. An operand that is only read may be counted too: that costs
 * nothing but work. */
static void count_definitions(struct copy *copy)
{
    const struct ptx_function *function = copy->function;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        bool guarded = instruction->guard != PTX_NO_REGISTER && instruction->opcode != PTX_OP_BRA;
        if (instruction->opcode == PTX_OP_ST || instruction->opcode == PTX_OP_RED)
            continue;
        for (int twice = 0; twice < 1 + guarded; twice++) { /* also keeps the old value */
            if (instruction->operand_count)
                count_definition(copy, &instruction->operands[0]);
            count_definition(copy, &instruction->second);
            for (uint32_t k = 0; instruction->call && k < instruction->call->return_count; k++)
                count_definition(copy, &instruction->call->returns[k]);
        }
    }
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].reg != PTX_NO_REGISTER)
            copy->definitions[function->params[i].reg]++;
}

static uint32_t copy_new(struct builder *b, const struct ptx_function *function,
                         uint32_t call_block)
{
    struct value_graph *graph = b->graph;
    b->copies =
        ptx_arena_grow(&b->scratch, b->copies, b->copy_count, &b->copy_capacity, sizeof *b->copies);
    uint32_t number = (uint32_t)b->copy_count++;
    struct copy *copy = &b->copies[number];
    *copy = (struct copy){.function = function,
                          .caller = b->copy,
                          .call_block = call_block,
                          .first_block = graph->block_count,
                          .depth = number ? b->copies[b->copy].depth + 1 : 0,
                          .loop = number ? graph->blocks[call_block].loop : 0};
    b->instructions += function->instruction_count;
    if (b->instructions > VALUE_GRAPH_BUDGET)
        value_graph_fail(b, "it has more instructions than the analysis takes on");
    copy->definitions = ptx_arena_array(&b->scratch, function->register_count + 1, 1);
    copy->registers =
        ptx_arena_array(&b->scratch, function->register_count + 1, sizeof *copy->registers);
    for (uint32_t i = 0; i < function->block_count; i++) {
        graph->blocks = ptx_arena_grow(b->arena, graph->blocks, graph->block_count,
                                       &b->block_capacity, sizeof *graph->blocks);
        graph->blocks[graph->block_count++] =
            (struct value_graph_block){.dominator = VALUE_GRAPH_NO_BLOCK,
                                       .postdominator = VALUE_GRAPH_NO_BLOCK,
                                       .taken = VALUE_GRAPH_NO_BLOCK,
                                       .next = VALUE_GRAPH_NO_BLOCK};
    }
    count_definitions(copy);
    order_blocks(b, copy);
    link_blocks(b, number);
    uint32_t first_loop = graph->loop_count;
    find_loops(b, &b->copies[number], first_loop);
    find_exits(b, &b->copies[number]);
    return number;
}

uint32_t value_graph_inline(struct builder *b, const struct ptx_function *function,
                            const struct ptx_instruction *call)
{
    (void)call;
    return copy_new(b, function, b->block);
}

void value_graph_build_copy(struct builder *b, uint32_t number)
{
    const struct ptx_function *function = b->copies[number].function;
    for (uint32_t i = 0; i < b->copies[number].order_count; i++) {
        uint32_t local = b->copies[number].order[i];
        const struct ptx_block *ptx = &function->blocks[local];
        b->copy = number;
        b->block = b->copies[number].first_block + local;
        for (uint32_t k = 0; k < ptx->count; k++) {
            const struct ptx_instruction *instruction = &function->instructions[ptx->first + k];
            b->line = instruction->line;
            value_graph_translate(b, instruction);
            b->copy = number;
            b->block = b->copies[number].first_block + local;
        }
        const struct ptx_instruction *last = last_of(function, ptx);
        if (last->guard != PTX_NO_REGISTER &&
            (last->opcode == PTX_OP_BRA || last->opcode == PTX_OP_RET ||
             last->opcode == PTX_OP_EXIT || last->opcode == PTX_OP_TRAP)) {
            uint32_t guard = value_graph_predicate(b, last->guard);
            struct value_graph_block *block = &b->graph->blocks[b->block];
            block->guard = guard;
            block->guard_negated = last->guard_negated;
        }
    }
    variable_seal(b, number);
}

/* ---- Pointers ---- */

/* Whether a pointer may be in the sum at all: a 64-bit parameter or symbol, not scaled. */
/* Each node is looked at once: graphs share operands, and every way through them would be too many.
 */
struct marking {
    struct value_graph *graph;
    uint8_t *may_be; /* by node: 0 not known yet, else 1 + the answer */
    bool *marked;
};

static bool may_be_pointer(struct marking *marking, uint32_t node, unsigned depth);

static bool look_at(struct marking *marking, uint32_t node, unsigned depth)
{
    const struct value_graph *graph = marking->graph;
    const struct node *at = &graph->nodes[node];
    if (depth > 32 || at->width != 64)
        return false;
    switch (at->kind) {
    case NODE_PARAM:
    case NODE_PARAM_AT:
    case NODE_SYMBOL:
    case NODE_LOAD:
        return true;
    case NODE_UNKNOWN: /* read through an address that may be local memory, for one */
        return at->value == INT64_MIN;
    case NODE_LOOP:
    case NODE_EXIT:
        return may_be_pointer(marking, at->a, depth + 1);
    case NODE_JOIN:
    case NODE_LOOKUP:
        return at->operand_count && may_be_pointer(marking, at->operands[0], depth + 1);
    case NODE_OPERATION:
        if (at->operation == NODE_ADD)
            return may_be_pointer(marking, at->a, depth + 1) ||
                   may_be_pointer(marking, at->b, depth + 1);
        if (at->operation == NODE_SUB)
            return may_be_pointer(marking, at->a, depth + 1);
        return at->operation == NODE_SELECT && may_be_pointer(marking, at->b, depth + 1);
    default:
        return false;
    }
}

static bool may_be_pointer(struct marking *marking, uint32_t node, unsigned depth)
{
    uint8_t *known = &marking->may_be[node];
    if (!*known) {
        *known = 1; /* round a loop: no, so far */
        *known = 1 + look_at(marking, node, depth);
    }
    return *known == 2;
}

static bool is_surely_pointer(const struct value_graph *graph, uint32_t node)
{
    const struct node *at = &graph->nodes[node];
    return at->kind == NODE_SYMBOL || (at->kind == NODE_PARAM && graph->is_pointer[at->value]) ||
           ((at->kind == NODE_PARAM_AT || at->kind == NODE_LOAD || at->kind == NODE_LOOKUP) &&
            at->is_pointer);
}

/* What an address is made of: the one term that can be a pointer is one. */
static void mark_pointers(struct marking *marking, uint32_t node, unsigned depth)
{
    struct value_graph *graph = marking->graph;
    struct node *at = &graph->nodes[node];
    if (depth > 32 || marking->marked[node] || !may_be_pointer(marking, node, 0))
        return;
    marking->marked[node] = true;
    switch (at->kind) {
    case NODE_PARAM:
        graph->is_pointer[at->value] = true;
        break;
    case NODE_PARAM_AT:
    case NODE_LOAD:
        at->is_pointer = true;
        break;
    case NODE_LOOP:
    case NODE_EXIT:
        mark_pointers(marking, at->a, depth + 1);
        break;
    case NODE_LOOKUP: /* one of few: the others may be integers that lie beside it */
        at->is_pointer = true;
        break;
    case NODE_JOIN:
        for (uint32_t i = 0; i < at->operand_count; i++)
            mark_pointers(marking, at->operands[i], depth + 1);
        break;
    case NODE_OPERATION:
        if (at->operation == NODE_SELECT) {
            mark_pointers(marking, at->b, depth + 1);
            mark_pointers(marking, at->c, depth + 1);
        } else if (at->operation == NODE_SUB ||
                   (at->operation == NODE_ADD && !may_be_pointer(marking, at->b, 0))) {
            mark_pointers(marking, at->a, depth + 1);
        } else if (at->operation == NODE_ADD && !may_be_pointer(marking, at->a, 0)) {
            mark_pointers(marking, at->b, depth + 1);
        } else if (at->operation == NODE_ADD && !is_surely_pointer(graph, at->a) &&
                   !is_surely_pointer(graph, at->b)) {
            break; /* p + n, and which is the pointer is not known */
        }
        break;
    default:
        break;
    }
}

static void find_pointers(struct builder *b)
{
    struct value_graph *graph = b->graph;
    struct marking marking = {
        .graph = graph,
        .may_be = ptx_arena_array(&b->scratch, graph->node_count, sizeof *marking.may_be),
        .marked = ptx_arena_array(&b->scratch, graph->node_count, sizeof *marking.marked)};
    for (uint32_t i = 0; i < graph->kernel->param_count; i++)
        if (graph->kernel->params[i].is_ptr && graph->kernel->params[i].size == 8)
            graph->is_pointer[graph->kernel->params[i].offset] = true;
    for (size_t i = 0; i < b->address_count; i++)
        mark_pointers(&marking, b->addresses[i], 0);
    for (uint32_t i = 0; i < graph->access_count; i++)
        if (graph->accesses[i].address)
            mark_pointers(&marking, graph->accesses[i].address, 0);
}

void value_graph_mark_pointer(struct builder *b, uint32_t node)
{
    b->addresses = ptx_arena_grow(&b->scratch, b->addresses, b->address_count, &b->address_capacity,
                                  sizeof *b->addresses);
    b->addresses[b->address_count++] = node;
}

/* ---- All ---- */

/* What is numbered from 1 has a number 0 that stands for none. */
static void reserve_none(struct builder *b)
{
    struct value_graph *graph = b->graph;
    graph->nodes = ptx_arena_grow(b->arena, NULL, 0, &b->node_capacity, sizeof *graph->nodes);
    b->roots = ptx_arena_grow(&b->scratch, NULL, 0, &b->root_capacity, sizeof *b->roots);
    graph->loops = ptx_arena_grow(b->arena, NULL, 0, &b->loop_capacity, sizeof *graph->loops);
    b->widths = ptx_arena_grow(&b->scratch, NULL, 0, &b->width_capacity, sizeof *b->widths);
    b->definitions =
        ptx_arena_grow(&b->scratch, NULL, 0, &b->definition_capacity, sizeof *b->definitions);
    graph->node_count = graph->loop_count = 1;
    b->variable_count = b->definition_count = 1;
}

static void build_once(struct builder *b)
{
    struct value_graph *graph = b->graph;
    reserve_none(b);
    graph->is_pointer = ptx_arena_array(b->arena, (size_t)graph->kernel->param_bytes + 1, 1);
    b->copy = 0;
    uint32_t kernel = copy_new(b, graph->kernel, VALUE_GRAPH_NO_BLOCK);
    value_graph_build_copy(b, kernel);
    if (!b->again)
        value_graph_simplify(b);
    find_pointers(b);
    number_tree(b, false);
    number_tree(b, true);
    dependent_launch_find(b);
}

/* A second go needs what the first found lost, nothing else of it. */
static void start_over(struct builder *b)
{
    struct value_graph *graph = b->graph;
    const struct ptx_function *kernel = graph->kernel;
    struct arena arena = graph->arena;
    struct builder fresh = {.graph = graph, .arena = &graph->arena, .scratch = b->scratch};
    fresh.spent = b->spent + graph->node_count;
    fresh.lost = b->lost;
    fresh.lost_count = b->lost_count;
    fresh.lost_capacity = b->lost_capacity;
    jmp_buf failed;
    memcpy(&failed, &b->failed, sizeof failed);
    *graph = (struct value_graph){.kernel = kernel, .arena = arena};
    *b = fresh;
    memcpy(&b->failed, &failed, sizeof failed);
    b->scratch.out_of_memory = graph->arena.out_of_memory = &b->failed;
}

enum { BUILD_ROUNDS = 4 };

static void build(struct builder *b)
{
    for (unsigned round = 0; round < BUILD_ROUNDS; round++) {
        build_once(b);
        if (!b->again)
            return;
        start_over(b);
    }
    value_graph_fail(b, "its local memory is written through too many addresses");
}

/* The one frame that is jumped to. */
static void build_protected(struct builder *b)
{
    if (setjmp(b->failed) == 0) {
        build(b);
    } else {
        if (!b->graph->failure)
            b->graph->failure = "memory is short";
        b->graph->access_count = 0;
    }
}

struct value_graph *value_graph_create(const struct ptx_function *kernel)
{
    struct value_graph *graph = calloc(1, sizeof *graph);
    struct builder *b = calloc(1, sizeof *b);
    if (!graph || !b) {
        free(graph);
        free(b);
        return NULL;
    }
    graph->kernel = kernel;
    b->graph = graph;
    b->arena = &graph->arena;
    b->scratch.out_of_memory = graph->arena.out_of_memory = &b->failed;
    build_protected(b);
    graph->arena.out_of_memory = NULL;
    ptx_arena_release(&b->scratch);
    free(b);
    return graph;
}

void value_graph_release(struct value_graph *graph)
{
    if (!graph)
        return;
    ptx_arena_release(&graph->arena);
    free(graph);
}
