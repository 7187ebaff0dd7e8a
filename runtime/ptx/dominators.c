/* Lengauer-Tarjan dominators. Names follow the paper: semi is a semidominator's depth-first number,
 * label and ancestor form the forest that `evaluate` compresses. */
#include "runtime/ptx/dominators.h"

struct forest {
    uint32_t *number; /* depth-first number of a node, NO_DOMINATOR: not reached */
    uint32_t *vertex; /* the node of a number */
    uint32_t *parent; /* in the depth-first tree */
    uint32_t *semi, *label, *ancestor;
    uint32_t *bucket, *next_in_bucket;
    uint32_t *path; /* work space of `evaluate` */
    uint32_t reached;
};

static void search(struct forest *f, uint32_t root, const struct edges *successors,
                   struct arena *scratch, uint32_t count)
{
    uint32_t *stack = ptx_arena_array(scratch, count, sizeof *stack);
    uint32_t *position = ptx_arena_array(scratch, count, sizeof *position);
    uint32_t depth = 0;
    stack[depth++] = root;
    f->number[root] = 0;
    f->vertex[0] = root;
    f->reached = 1;
    position[root] = successors->first[root];
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (position[node] == successors->first[node + 1]) {
            depth--;
            continue;
        }
        uint32_t next = successors->targets[position[node]++];
        if (f->number[next] != NO_DOMINATOR)
            continue;
        f->number[next] = f->reached;
        f->vertex[f->reached++] = next;
        f->parent[next] = node;
        position[next] = successors->first[next];
        stack[depth++] = next;
    }
}

/* The node of least semidominator on the way from `node` up its tree in the forest. */
static uint32_t evaluate(struct forest *f, uint32_t node)
{
    if (f->ancestor[node] == NO_DOMINATOR)
        return node;
    uint32_t length = 0, at = node;
    while (f->ancestor[f->ancestor[at]] != NO_DOMINATOR) {
        f->path[length++] = at;
        at = f->ancestor[at];
    }
    while (length) {
        uint32_t below = f->path[--length], above = f->ancestor[below];
        if (f->semi[f->label[above]] < f->semi[f->label[below]])
            f->label[below] = f->label[above];
        f->ancestor[below] = f->ancestor[above];
    }
    return f->label[node];
}

static void settle_bucket(struct forest *f, uint32_t parent, uint32_t *immediate)
{
    uint32_t node = f->bucket[parent];
    while (node != NO_DOMINATOR) {
        uint32_t best = evaluate(f, node), next = f->next_in_bucket[node];
        immediate[node] = f->semi[best] < f->semi[node] ? best : parent;
        node = next;
    }
    f->bucket[parent] = NO_DOMINATOR;
}

static struct forest forest_create(uint32_t count, struct arena *scratch)
{
    struct forest f = {0};
    uint32_t **arrays[] = {&f.number,   &f.vertex, &f.parent,         &f.semi, &f.label,
                           &f.ancestor, &f.bucket, &f.next_in_bucket, &f.path};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ptx_arena_array(scratch, count, sizeof(uint32_t));
    for (uint32_t node = 0; node < count; node++) {
        f.number[node] = f.ancestor[node] = f.bucket[node] = NO_DOMINATOR;
        f.label[node] = node;
    }
    f.reached = 0;
    return f;
}

void ptx_dominators_find(uint32_t count, uint32_t root, const struct edges *successors,
                         const struct edges *predecessors, uint32_t *immediate,
                         struct arena *scratch)
{
    struct forest f = forest_create(count, scratch);
    for (uint32_t node = 0; node < count; node++)
        immediate[node] = NO_DOMINATOR;
    search(&f, root, successors, scratch, count);
    for (uint32_t node = 0; node < count; node++)
        f.semi[node] = f.number[node];
    for (uint32_t i = f.reached - 1; i > 0; i--) {
        uint32_t node = f.vertex[i];
        for (uint32_t e = predecessors->first[node]; e < predecessors->first[node + 1]; e++) {
            uint32_t before = predecessors->targets[e];
            if (f.number[before] == NO_DOMINATOR)
                continue;
            uint32_t best = evaluate(&f, before);
            if (f.semi[best] < f.semi[node])
                f.semi[node] = f.semi[best];
        }
        uint32_t home = f.vertex[f.semi[node]];
        f.next_in_bucket[node] = f.bucket[home];
        f.bucket[home] = node;
        f.ancestor[node] = f.parent[node];
        settle_bucket(&f, f.parent[node], immediate);
    }
    for (uint32_t i = 1; i < f.reached; i++) {
        uint32_t node = f.vertex[i];
        if (immediate[node] != f.vertex[f.semi[node]])
            immediate[node] = immediate[immediate[node]];
    }
    immediate[root] = root;
}
