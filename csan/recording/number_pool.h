/* The numbers that stand for things in a recording. A pool uses again the numbers that were given
 * back, so that they stay small. A set holds small numbers. */
#ifndef CSAN_RECORDING_NUMBER_POOL_H
#define CSAN_RECORDING_NUMBER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_pool {
    uint32_t *free;
    size_t count, capacity;
    uint32_t last;
};

uint32_t number_take(struct number_pool *pool); /* from 1 */
void number_give(struct number_pool *pool, uint32_t number);
void number_pool_clear(struct number_pool *pool);

struct number_set {
    uint8_t *has;
    size_t capacity;
};

static inline bool number_set_has(const struct number_set *set, uint32_t number)
{
    return number < set->capacity && set->has[number];
}
/* False: no memory. */
bool number_set_add(struct number_set *set, uint32_t number);
void number_set_clear(struct number_set *set);

#endif
