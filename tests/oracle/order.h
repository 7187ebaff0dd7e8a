/* Happens-before as a graph: nodes and edges, and for each node the set of all nodes before it. It
 * uses no tricks, so that it is plainly right. */
#ifndef ORACLE_ORDER_H
#define ORACLE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_NODES = 512, ORDER_WORDS = ORDER_NODES / 64, ORDER_EDGES = 16384 };

struct order {
    unsigned count, edge_count;
    uint16_t edges[ORDER_EDGES][2]; /* earlier, later */
    uint64_t before[ORDER_NODES][ORDER_WORDS];
};

/* A new node, after nothing. */
unsigned order_add(struct order *order);
void order_edge(struct order *order, unsigned earlier, unsigned later);

/* Call it once all edges are there. Finds what is before what. False: there is a cycle. */
bool order_close(struct order *order);

static inline bool order_before(const struct order *order, unsigned earlier, unsigned later)
{
    return order->before[later][earlier / 64] >> earlier % 64 & 1;
}

#endif
