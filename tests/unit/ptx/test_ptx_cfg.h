/* Checks a control-flow graph against the definitions, by slow and obvious means. */
#ifndef TESTS_UNIT_PTX_TEST_PTX_CFG_H
#define TESTS_UNIT_PTX_TEST_PTX_CFG_H

#include "tests/unit/ptx/test_ptx.h"

/* reached[b]: block b can be reached from the entry (or, backwards, reaches the end) without
 * passing through `without` (PTX_NO_BLOCK: nothing is left out). */
static inline void reach_forwards(const struct ptx_function *f, uint32_t without, bool *reached)
{
    memset(reached, 0, f->block_count);
    uint32_t *stack = malloc(f->block_count * sizeof *stack), depth = 0;
    if (without != 0) {
        reached[0] = true;
        stack[depth++] = 0;
    }
    while (depth) {
        const struct ptx_block *b = &f->blocks[stack[--depth]];
        for (uint32_t i = 0; i < b->successor_count; i++) {
            uint32_t next = b->successors[i];
            if (next != without && !reached[next]) {
                reached[next] = true;
                stack[depth++] = next;
            }
        }
    }
    free(stack);
}

static inline bool block_ends(const struct ptx_function *f, uint32_t block)
{
    const struct ptx_block *b = &f->blocks[block];
    const struct ptx_instruction *last = &f->instructions[b->first + b->count - 1];
    bool falls = last->guard != PTX_NO_REGISTER ||
                 !(last->opcode == PTX_OP_BRA || last->opcode == PTX_OP_BRX);
    if (last->opcode == PTX_OP_RET || last->opcode == PTX_OP_EXIT || last->opcode == PTX_OP_TRAP)
        return true;
    if (last->opcode == PTX_OP_BRA && last->operands[0].target == f->instruction_count)
        return true;
    for (uint32_t i = 0; i < last->target_count; i++)
        if (last->targets[i] == f->instruction_count)
            return true;
    return falls && b->first + b->count == f->instruction_count;
}

static inline void reach_backwards(const struct ptx_function *f, uint32_t without, bool *reached)
{
    memset(reached, 0, f->block_count);
    uint32_t *stack = malloc(f->block_count * sizeof *stack), depth = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        if (b != without && f->blocks[b].reachable && block_ends(f, b)) {
            reached[b] = true;
            stack[depth++] = b;
        }
    }
    while (depth) {
        const struct ptx_block *b = &f->blocks[stack[--depth]];
        for (uint32_t i = 0; i < b->predecessor_count; i++) {
            uint32_t next = b->predecessors[i];
            if (next != without && f->blocks[next].reachable && !reached[next]) {
                reached[next] = true;
                stack[depth++] = next;
            }
        }
    }
    free(stack);
}

/* `claimed` must be the nearest of the blocks whose removal cuts `block` off: it cuts, and every
 * block that cuts also cuts the claimed one (or is it). */
static inline void assert_immediate(const struct ptx_function *f, uint32_t block, uint32_t claimed,
                                    void (*reach)(const struct ptx_function *, uint32_t, bool *))
{
    bool *reached = malloc(f->block_count);
    for (uint32_t other = 0; other < f->block_count; other++) {
        if (other == block || !f->blocks[other].reachable)
            continue;
        reach(f, other, reached);
        bool cuts = !reached[block];
        if (other == claimed)
            assert_true(cuts);
        else if (cuts)
            assert_true(claimed != PTX_NO_BLOCK && !reached[claimed]);
    }
    free(reached);
}

static inline void assert_edges(const struct ptx_function *f)
{
    uint32_t next = 0, forward = 0, backward = 0;
    for (uint32_t b = 0; b < f->block_count; b++) {
        const struct ptx_block *block = &f->blocks[b];
        assert_int_equal(block->first, next);
        assert_true(block->count > 0);
        next += block->count;
        forward += block->successor_count;
        backward += block->predecessor_count;
        for (uint32_t i = 0; i < block->count; i++)
            assert_int_equal(f->block_of[block->first + i], b);
        for (uint32_t i = 0; i < block->successor_count; i++) {
            const struct ptx_block *to = &f->blocks[block->successors[i]];
            bool found = false;
            for (uint32_t k = 0; k < to->predecessor_count; k++)
                found |= to->predecessors[k] == b;
            assert_true(found);
        }
    }
    assert_int_equal(next, f->instruction_count);
    assert_int_equal(forward, backward);
}

/* `slowly`: verify every block's dominators, which takes time with the cube of the blocks. */
static inline void assert_graph(const struct ptx_function *f, bool slowly)
{
    if (f->instruction_count == 0) {
        assert_int_equal(f->block_count, 0);
        return;
    }
    assert_edges(f);
    bool *reached = malloc(f->block_count), *ending = malloc(f->block_count);
    reach_forwards(f, PTX_NO_BLOCK, reached);
    reach_backwards(f, PTX_NO_BLOCK, ending);
    bool endless = false; /* then postdominators depend on the edge that ties the loop */
    for (uint32_t b = 0; b < f->block_count; b++) {
        assert_int_equal(f->blocks[b].reachable, reached[b]);
        endless |= reached[b] && !ending[b];
    }
    assert_int_equal(f->blocks[0].immediate_dominator, 0);
    for (uint32_t b = 0; slowly && b < f->block_count; b++) {
        const struct ptx_block *block = &f->blocks[b];
        if (!reached[b])
            continue;
        if (b > 0)
            assert_immediate(f, b, block->immediate_dominator, reach_forwards);
        if (!endless)
            assert_immediate(f, b, block->immediate_postdominator, reach_backwards);
    }
    free(reached);
    free(ending);
}

#endif
