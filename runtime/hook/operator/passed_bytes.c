/* See passed_bytes.h. */
#include "runtime/hook/operator/passed_bytes.h"
#include "csan/base/hash.h"

#include <string.h>

/* Where the program has it; NULL: it passed none. */
static const uint8_t *run_at(const struct passed_run *run, const struct learning_passed *passed)
{
    if (passed->buffer)
        return passed->buffer + run->offset;
    const uint8_t *from = passed->parameters[run->parameter];
    return from ? from + (run->offset - passed->layout->parameters[run->parameter].offset) : NULL;
}

/* ---- Making ---- */

static uint64_t eight_at(const uint8_t *mask, uint32_t at)
{
    uint64_t eight;
    memcpy(&eight, mask + at, sizeof eight);
    return eight;
}

/* The first byte from there on that has a mark, or the end. Masks are of thousands of bytes, mostly
 * in long runs. */
static uint32_t marked_from(const uint8_t *mask, uint32_t at, uint32_t end)
{
    while (at + 8 <= end && !eight_at(mask, at))
        at += 8;
    while (at < end && !mask[at])
        at++;
    return at;
}

/* The first that has none. A byte is zero if taking one away from it borrows, and its own highest
 * bit is not set. */
static uint32_t unmarked_from(const uint8_t *mask, uint32_t at, uint32_t end)
{
    const uint64_t ones = UINT64_MAX / 0xff, highest = ones << 7;
    while (at + 8 <= end && !((eight_at(mask, at) - ones) & ~eight_at(mask, at) & highest))
        at += 8;
    while (at < end && mask[at])
        at++;
    return at;
}

static void runs_add(const struct layout_parameter *parameter, uint32_t number, const uint8_t *mask,
                     struct passed_bytes *to)
{
    const uint32_t end = parameter->offset + parameter->bytes;
    for (uint32_t at = marked_from(mask, parameter->offset, end); at < end;) {
        const uint32_t start = at;
        at = unmarked_from(mask, at, end);
        if (to->runs)
            to->runs[to->run_count] = (struct passed_run){number, start, at - start};
        to->run_count++;
        to->byte_count += at - start;
        at = marked_from(mask, at, end);
    }
}

static void runs_find(const struct learning_passed *passed, const uint8_t *mask,
                      struct passed_bytes *to)
{
    const struct layout_parameter whole = {0, passed->bytes};
    to->run_count = to->byte_count = 0;
    if (!passed->layout)
        runs_add(&whole, 0, mask, to);
    for (uint32_t i = 0; passed->layout && i < passed->layout->count; i++)
        runs_add(&passed->layout->parameters[i], i, mask, to);
}

void passed_bytes_count(const struct learning_passed *passed, const uint8_t *mask,
                        struct passed_bytes *counts)
{
    *counts = (struct passed_bytes){0};
    runs_find(passed, mask, counts);
}

void passed_bytes_fill(const struct learning_passed *passed, const uint8_t *mask,
                       struct passed_bytes *bytes)
{
    uint8_t *to = bytes->bytes;
    runs_find(passed, mask, bytes);
    for (uint32_t i = 0; i < bytes->run_count; i++) {
        memcpy(to, run_at(&bytes->runs[i], passed), bytes->runs[i].bytes);
        to += bytes->runs[i].bytes;
    }
}

/* ---- Eight bytes ---- */

/* The parameter that four bytes lie in; `count`: none does. */
static uint32_t parameter_of(const struct layout *layout, uint32_t at)
{
    uint32_t i = 0;
    while (i < layout->count &&
           (at < layout->parameters[i].offset ||
            at + 4 > layout->parameters[i].offset + layout->parameters[i].bytes))
        i++;
    return i;
}

static bool half_make(const struct learning_passed *passed, const uint8_t *mask, uint32_t at,
                      struct passed_run *half)
{
    static const uint8_t none[4], all[4] = {0xff, 0xff, 0xff, 0xff};
    *half = (struct passed_run){0, at, 0};
    if (at + 4 > passed->bytes || memcmp(mask + at, none, 4) == 0)
        return at >= passed->bytes || at + 4 <= passed->bytes;
    if (memcmp(mask + at, all, 4) != 0)
        return false;
    half->bytes = 4;
    half->parameter = passed->layout ? parameter_of(passed->layout, at) : 0;
    return !passed->layout || half->parameter < passed->layout->count;
}

bool passed_eight_make(const struct learning_passed *passed, const uint8_t *mask, uint32_t at,
                       struct passed_eight *eight)
{
    return half_make(passed, mask, at, &eight->halves[0]) &&
           half_make(passed, mask, at + 4, &eight->halves[1]);
}

bool passed_eight_value(const struct passed_eight *eight, const struct learning_passed *passed,
                        uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < 2; i++) {
        const struct passed_run *half = &eight->halves[i];
        const uint8_t *from = half->bytes ? run_at(half, passed) : NULL;
        uint32_t word = 0;
        if (half->bytes && !from)
            return false;
        if (from)
            memcpy(&word, from, sizeof word);
        *value |= (uint64_t)word << 32 * i;
    }
    return true;
}

/* ---- Comparing ---- */

bool passed_bytes_are(const struct passed_bytes *bytes, const struct learning_passed *passed)
{
    const uint8_t *at = bytes->bytes;
    for (uint32_t i = 0; i < bytes->run_count; i++) {
        const uint8_t *from = run_at(&bytes->runs[i], passed);
        if (!from || memcmp(from, at, bytes->runs[i].bytes) != 0)
            return false;
        at += bytes->runs[i].bytes;
    }
    return true;
}

/* ---- Samples ---- */

/* From the byte on that is so far behind the first. */
static struct passed_run run_from(const struct passed_bytes *bytes, uint32_t at)
{
    const struct passed_run *run = bytes->runs;
    for (; at >= run->bytes; run++)
        at -= run->bytes;
    const uint32_t left = run->bytes - at;
    return (struct passed_run){run->parameter, run->offset + at,
                               left < PASSED_SAMPLE_BYTES ? left : PASSED_SAMPLE_BYTES};
}

void passed_sample_fit(struct passed_sample *sample, const struct passed_bytes *bytes,
                       const uint8_t *mask)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sample->count; i++) {
        const struct passed_run *run = &sample->runs[i];
        if (!memchr(mask + run->offset, 0, run->bytes))
            sample->runs[kept++] = *run;
    }
    sample->count = kept;
    const uint32_t pieces = (bytes->byte_count + PASSED_SAMPLE_BYTES - 1) / PASSED_SAMPLE_BYTES;
    const uint32_t wanted = pieces < PASSED_SAMPLES ? pieces : PASSED_SAMPLES;
    for (uint32_t i = 0; !kept && i < wanted; i++)
        sample->runs[sample->count++] =
            run_from(bytes, (uint32_t)((uint64_t)i * pieces / wanted) * PASSED_SAMPLE_BYTES);
}

/* How many bytes come before the first that differs in the launch; all of them: none does. */
static uint32_t same_bytes(const struct passed_bytes *bytes, const struct learning_passed *passed)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < bytes->run_count; i++) {
        const struct passed_run *run = &bytes->runs[i];
        const uint8_t *from = run_at(run, passed);
        for (uint32_t k = 0; k < run->bytes; k++, same++)
            if (!from || from[k] != bytes->bytes[same])
                return same;
    }
    return same;
}

void passed_sample_add(struct passed_sample *sample, const struct passed_bytes *bytes,
                       const struct learning_passed *passed)
{
    const uint32_t same = same_bytes(bytes, passed);
    if (sample->added == PASSED_SAMPLES_ADDED || same == bytes->byte_count)
        return;
    sample->runs[sample->count++] = run_from(bytes, same);
    sample->added++;
}

bool passed_sample_hash(const struct passed_sample *sample, const struct learning_passed *passed,
                        uint64_t *hash)
{
    for (uint32_t i = 0; i < sample->count; i++) {
        const uint8_t *from = run_at(&sample->runs[i], passed);
        uint64_t word = 0;
        if (!from)
            return false;
        memcpy(&word, from, sample->runs[i].bytes);
        *hash = hash_mix(*hash, word);
    }
    return true;
}
