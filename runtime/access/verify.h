/* Compares an access set with what the launch really touched. No touched byte may be missing from
 * the set, and every byte of an exact range must have been touched. The truth comes from a trace of
 * the launch. Tests use it, and the option verify_ranges (runtime/hook/observe/range_verifier.h).
 *
 * Kinds count as the set defines them: a plain access, or an atomic at .cta or .cluster scope, is
 * read, write or both; atom, red and strong ld/st at .gpu or .sys scope are atomic. A truth from
 * machine code knows neither strength nor scope (struct verify_case, any_strength).
 *
 * Thread-safe. Limits: VERIFY_MAX_RUNS. */
#ifndef RUNTIME_ACCESS_VERIFY_H
#define RUNTIME_ACCESS_VERIFY_H

#include "runtime/access/access_set.h"

/* The truth: bytes [address + sum(i_k * stride_k), + bytes) for 0 <= i_k < count_k, k < dims. */
struct verify_touch {
    uint64_t address, bytes;
    uint32_t kind; /* enum access_kind */
    uint32_t dims; /* 0 to 2 */
    uint64_t stride[2], count[2];
};

/* What a base of the set is in this launch. */
struct verify_base {
    uint64_t address;
    uint64_t allocation, bytes; /* the allocation around it; bytes 0: it points into none */
    bool absent;                /* guessed to be a pointer, and is none: its ranges do not count */
    bool unwatched; /* its bytes may be touched without a word of it in the truth (.const) */
};

struct verify_case {
    const struct access_set *set;
    const struct verify_base *bases; /* set->base_count of them */
    const struct verify_touch *touches;
    size_t touch_count;
    bool unfinished;   /* the kernel stopped at a fault: exact ranges need not be touched */
    bool coarse;       /* the truth has more than was touched: what it lacks was not, and no more */
    bool any_strength; /* the truth's kinds are loads, stores and atomic operations, whatever their
                          strength and scope: atomic and another kind may be the same */
};

enum verify_fault {
    VERIFY_UNSOUND,  /* touched, and no range of that kind has it */
    VERIFY_NOT_EXACT /* not touched, and an exact range of that kind has it */
};

struct verify_disagreement {
    enum verify_fault fault;
    uint32_t kind;           /* enum access_kind */
    uint32_t range;          /* NOT_EXACT: index into the set's ranges */
    uint64_t address, bytes; /* the first run of such bytes, of that kind or range */
};

enum verify_verdict {
    VERIFY_AGREES,
    VERIFY_DISAGREES,
    VERIFY_TOO_LARGE, /* more than VERIFY_MAX_RUNS runs, or memory is short: not checked */
};

/* Contiguous runs, of one kind of the truth, of the set, or of one range. */
enum { VERIFY_MAX_RUNS = 1 << 21, VERIFY_MAX_DISAGREEMENTS = 16 };

struct verify_result {
    enum verify_verdict verdict;
    uint32_t count; /* of disagreements reported */
    struct verify_disagreement disagreements[VERIFY_MAX_DISAGREEMENTS];
};

/* For an incomplete set or a coarse truth, only the exact ranges are checked. A base that points
 * into no allocation stands for itself in exact ranges, and for nothing in others. */
void verify_check(const struct verify_case *checked, struct verify_result *result);

#endif
