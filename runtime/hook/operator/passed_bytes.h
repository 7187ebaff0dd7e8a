/* What a kernel reads of a launch's parameters, to be compared with later launches' parameters
 * where the program has them. Structures of thousands of bytes are filled in part, and are not
 * copied so.
 */
#ifndef RUNTIME_HOOK_OPERATOR_PASSED_BYTES_H
#define RUNTIME_HOOK_OPERATOR_PASSED_BYTES_H

#include "runtime/hook/observe/learning.h"

/* Bytes in one parameter. */
struct passed_run {
    uint32_t parameter, offset, bytes; /* the offset is that of all parameters */
};

struct passed_bytes {
    uint32_t run_count, byte_count;
    struct passed_run *runs; /* by offset */
    uint8_t *bytes;          /* one run behind the other */
};

/* A few of them, for a hash. They are read in each launch of their kernel that is kept. Where
 * launches have the same ones and differ, the first difference is added. */
enum { PASSED_SAMPLES = 16, PASSED_SAMPLES_ADDED = 16, PASSED_SAMPLE_BYTES = 8 };
struct passed_sample {
    uint32_t count; /* 0: not chosen yet */
    uint32_t added; /* so far, with those that later launches lacked */
    struct passed_run runs[PASSED_SAMPLES + PASSED_SAMPLES_ADDED];
};

/* Eight bytes, in two halves: most parameters have four or eight. */
struct passed_eight {
    struct passed_run halves[2]; /* bytes 0: the mask has none, and they are taken for zeros */
};

/* Of the parameters from `at` on. False: a half is in several parameters, or not as a whole. */
bool passed_eight_make(const struct learning_passed *passed, const uint8_t *mask, uint32_t at,
                       struct passed_eight *eight);
/* False: some were not passed. */
bool passed_eight_value(const struct passed_eight *eight, const struct learning_passed *passed,
                        uint64_t *value);

/* What `mask` has, which has a byte for each of the parameters'. Counts alone; `runs` has room for
 * them then. */
void passed_bytes_count(const struct learning_passed *passed, const uint8_t *mask,
                        struct passed_bytes *counts);
void passed_bytes_fill(const struct learning_passed *passed, const uint8_t *mask,
                       struct passed_bytes *bytes);
/* Whether the launch has the same. */
bool passed_bytes_are(const struct passed_bytes *bytes, const struct learning_passed *passed);

/* Without those that the mask lacks; chosen of the bytes, if there are none. */
void passed_sample_fit(struct passed_sample *sample, const struct passed_bytes *bytes,
                       const uint8_t *mask);
/* Adds what differs first in a launch with the same sample. It changes all hashes, so it is done
 * PASSED_SAMPLES_ADDED times at most. */
void passed_sample_add(struct passed_sample *sample, const struct passed_bytes *bytes,
                       const struct learning_passed *passed);
/* False: some were not passed. */
bool passed_sample_hash(const struct passed_sample *sample, const struct learning_passed *passed,
                        uint64_t *hash);

#endif
