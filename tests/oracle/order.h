/* Happens-before as a graph: nodes, and for each the set of all nodes before it. Nothing clever, so
 * that it is plainly right. */
#ifndef ORACLE_ORDER_H
#define ORACLE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_NODES = 512, ORDER_WORDS = ORDER_NODES / 64 };

struct order {
    unsigned count;
    uint64_t before[ORDER_NODES][ORDER_WORDS];
};

/* A new node, after nothing. */
unsigned order_add(struct order *order);

/* `earlier` is before `node`, the newest one: so whatever is before a node is known when the next
 * is made. */
void order_edge(struct order *order, unsigned earlier, unsigned node);

static inline bool order_before(const struct order *order, unsigned earlier, unsigned later)
{
    return order->before[later][earlier / 64] >> earlier % 64 & 1;
}

#endif
