#include "shrink.h"

#include <string.h>

static bool try_without(struct program *program, size_t first, size_t count,
                        bool (*is_wrong)(const struct program *program))
{
    struct program smaller = *program;
    memmove(&smaller.ops[first], &smaller.ops[first + count],
            (smaller.count - first - count) * sizeof smaller.ops[0]);
    smaller.count -= count;
    if (!is_wrong(&smaller))
        return false;
    *program = smaller;
    return true;
}

static void drop_ops(struct program *program, bool (*is_wrong)(const struct program *program))
{
    for (size_t size = program->count / 2; size > 0; size /= 2)
        for (size_t first = 0; first + size <= program->count;)
            if (!try_without(program, first, size, is_wrong))
                first += size;
}

static bool try_op(struct program *program, size_t i, struct op op,
                   bool (*is_wrong)(const struct program *program))
{
    struct program simpler = *program;
    if (memcmp(&simpler.ops[i], &op, sizeof op) == 0)
        return false;
    simpler.ops[i] = op;
    if (!is_wrong(&simpler))
        return false;
    *program = simpler;
    return true;
}

static void simplify_op(struct program *program, size_t i,
                        bool (*is_wrong)(const struct program *program))
{
    struct op op = program->ops[i];
    op.thread = 0;
    try_op(program, i, op, is_wrong);
    for (unsigned flag = 1; flag <= FLAG_BARE; flag *= 2) {
        op = program->ops[i];
        op.flags &= (uint8_t)~flag;
        try_op(program, i, op, is_wrong);
    }
    for (unsigned range = 0; range < RANGES; range++) {
        op = program->ops[i];
        op.ranges[range] = (struct rows){0};
        if (op.kind == OP_KERNEL && try_op(program, i, op, is_wrong))
            continue;
        op = program->ops[i];
        for (unsigned other = 0; other < RANGES; other++) /* a copy's shape is one */
            op.ranges[other].rows = op.ranges[other].rows ? 1 : 0;
        try_op(program, i, op, is_wrong);
    }
}

void shrink(struct program *program, bool (*is_wrong)(const struct program *program))
{
    size_t before;
    do {
        before = program->count;
        drop_ops(program, is_wrong);
        for (size_t i = 0; i < program->count; i++)
            simplify_op(program, i, is_wrong);
    } while (program->count < before);
}
