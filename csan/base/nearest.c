/* See nearest.h. */
#include "csan/base/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to change, add, leave out, or exchange with their neighbour (Damerau, Levenshtein), for
 * names short enough. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    uint8_t cost[LONGEST + 1][LONGEST + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= length_a; i++) {
        for (size_t j = 0; j <= length_b; j++) {
            size_t best = i + j; /* where one of them is empty */
            if (i && j) {
                best = (size_t)cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                best = least(best, 1 + least(cost[i - 1][j], cost[i][j - 1]));
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, (size_t)1 + cost[i - 2][j - 2]);
            cost[i][j] = (uint8_t)best;
        }
    }
    return cost[length_a][length_b];
}

const char *nearest_name(const char *name, nearest_name_at *name_at, const void *names,
                         size_t count)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        const char *other = name_at(names, i);
        size_t far = other ? distance(name, other) : best;
        if (far < best) {
            best = far;
            nearest = other;
        }
    }
    return nearest;
}
