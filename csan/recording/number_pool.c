/* See number_pool.h. */
#include "csan/recording/number_pool.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

uint32_t number_take(struct number_pool *pool)
{
    return pool->count ? pool->free[--pool->count] : ++pool->last;
}

void number_give(struct number_pool *pool, uint32_t number)
{
    if (!array_room(&pool->free, pool->count, &pool->capacity, 64, SIZE_MAX, sizeof *pool->free))
        return; /* it is used never again */
    pool->free[pool->count++] = number;
}

void number_pool_clear(struct number_pool *pool)
{
    free(pool->free);
    *pool = (struct number_pool){0};
}

bool number_set_add(struct number_set *set, uint32_t number)
{
    if (!array_reach(&set->has, number, &set->capacity, 64, SIZE_MAX, 1))
        return false;
    set->has[number] = 1;
    return true;
}

void number_set_clear(struct number_set *set)
{
    free(set->has);
    *set = (struct number_set){0};
}
