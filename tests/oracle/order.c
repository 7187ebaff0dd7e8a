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

void order_edge(struct order *order, unsigned earlier, unsigned node)
{
    if (node != order->count - 1 || earlier >= node)
        abort();
    for (unsigned i = 0; i < ORDER_WORDS; i++)
        order->before[node][i] |= order->before[earlier][i];
    order->before[node][earlier / 64] |= (uint64_t)1 << earlier % 64;
}
