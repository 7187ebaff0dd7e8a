/* PyTorch's verdicts on the random sequences, packed in one file, verdicts.zst: for each touch of
 * each launch, in order, one byte whose bit i says that the touch races with an access by the i-th
 * stream (sequence_stream). Compressed with zstd. */
#ifndef CSAN_TESTS_TORCH_VERDICTS_H
#define CSAN_TESTS_TORCH_VERDICTS_H

#include <stddef.h>
#include <stdint.h>

struct verdicts {
    uint64_t sequences; /* numbered from 0 */
    uint64_t count;     /* bytes that follow */
    uint8_t streams[];
};

/* NULL, and a line on stderr, when the file cannot be read. The caller frees it. */
struct verdicts *verdicts_load(const char *path);
/* 0, or -1 and a line on stderr. */
int verdicts_save(const char *path, const struct verdicts *verdicts);

#endif
