#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned order_add(struct order *order)
{
    if (order->count == ORDER_NODES) {
        fprintf(stderr, "oracle: a program has more than %d nodes\n", ORDER_NODES);
        abort();
    }
    memset(order->before[order->count], 0, sizeof order->before[0]);
    return order->count++;
}

void order_edge(struct order *order, unsigned earlier, unsigned later)
{
    if (order->edge_count == ORDER_EDGES) {
        fprintf(stderr, "oracle: a program has more than %d edges\n", ORDER_EDGES);
        abort();
    }
    order->edges[order->edge_count][0] = (uint16_t)earlier;
    order->edges[order->edge_count++][1] = (uint16_t)later;
}

/* True when `later` learned something. */
static bool pass_on(struct order *order, unsigned earlier, unsigned later)
{
    uint64_t *to = order->before[later], news = 0;
    const uint64_t *from = order->before[earlier];
    for (unsigned i = 0; i < ORDER_WORDS; i++) {
        uint64_t all = to[i] | from[i] | (i == earlier / 64 ? (uint64_t)1 << earlier % 64 : 0);
        news |= all ^ to[i];
        to[i] = all;
    }
    return news != 0;
}

/* Edges were mostly made in the order of their nodes, so that few rounds are needed. */
bool order_close(struct order *order)
{
    bool news = true;
    while (news) {
        news = false;
        for (unsigned i = 0; i < order->edge_count; i++)
            news |= pass_on(order, order->edges[i][0], order->edges[i][1]);
    }
    for (unsigned i = 0; i < order->count; i++)
        if (order_before(order, i, i))
            return false;
    return true;
}
