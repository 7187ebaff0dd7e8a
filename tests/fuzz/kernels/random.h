/* Pseudo-random numbers that are the same everywhere: splitmix64. */
#ifndef TESTS_FUZZ_KERNELS_RANDOM_H
#define TESTS_FUZZ_KERNELS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* 0 to count - 1; count > 0 */
static inline uint64_t random_below(struct random *random, uint64_t count)
{
    return random_next(random) % count;
}

static inline bool random_one_in(struct random *random, uint64_t count)
{
    return random_below(random, count) == 0;
}

#endif
