/* What kernels read of their parameters, kept. See kept_reads.h. */
#include "runtime/learn/kept_reads.h"
#include "csan/base/hash.h"
#include "runtime/learn/learned_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

_Static_assert(sizeof(struct kept_reads_kernel) == 3 * sizeof(uint64_t), "a key has no padding");

enum { VERSION_BYTES = 32, MESSAGE_BYTES = 256 };

struct kept {
    struct kept_reads_kernel kernel;
    struct parameter_uses uses;
    uint32_t idle; /* as often the file was written without it being asked for */
    bool asked;
    UT_hash_handle hh;
};

struct kept_reads {
    struct kept *kernels;
    size_t bytes;
    bool changed; /* since the file was read or written */
};

struct kept_reads *kept_reads_create(void)
{
    return calloc(1, sizeof(struct kept_reads));
}

void kept_reads_destroy(struct kept_reads *kept)
{
    struct kept *each = NULL, *next = NULL;
    if (!kept)
        return;
    HASH_ITER(hh, kept->kernels, each, next)
    {
        HASH_DEL(kept->kernels, each);
        parameter_uses_clear(&each->uses);
        free(each);
    }
    free(kept);
}

static struct kept *kept_find(const struct kept_reads *kept, const struct kept_reads_kernel *kernel)
{
    struct kept *found = NULL;
    HASH_FIND(hh, kept->kernels, kernel, sizeof *kernel, found);
    return found;
}

/* Takes over the uses. NULL: memory is short, or there is no room; they are cleared. */
static struct kept *kept_add(struct kept_reads *kept, const struct kept_reads_kernel *kernel,
                             struct parameter_uses *uses)
{
    const size_t bytes = sizeof(struct kept) + (uses->reads ? reads_bytes(uses->reads) : 0);
    struct kept *fresh = kept->bytes + bytes <= KEPT_READS_BYTES ? calloc(1, sizeof *fresh) : NULL;
    if (!fresh) {
        parameter_uses_clear(uses);
        return NULL;
    }
    fresh->kernel = *kernel;
    fresh->uses = *uses;
    kept->bytes += bytes;
    HASH_ADD(hh, kept->kernels, kernel, sizeof fresh->kernel, fresh);
    return fresh;
}

bool kept_reads_find(struct kept_reads *kept, const struct kept_reads_kernel *kernel,
                     struct reads **reads)
{
    struct parameter_uses copy;
    struct kept *found = kept_find(kept, kernel);
    if (!found || !parameter_uses_copy(&copy, &found->uses))
        return false;
    found->asked = true;
    *reads = copy.reads;
    return true;
}

void kept_reads_add(struct kept_reads *kept, const struct kept_reads_kernel *kernel,
                    const struct reads *reads)
{
    const struct parameter_uses uses = {.reads = (struct reads *)reads};
    struct parameter_uses copy;
    if (kept_find(kept, kernel) || !parameter_uses_copy(&copy, &uses))
        return;
    struct kept *fresh = kept_add(kept, kernel, &copy);
    if (fresh)
        fresh->asked = true;
    kept->changed = true; /* without room too: what nobody asks for leaves with each writing */
}

/* ---- The file ---- */

static void path_make(char *path, size_t bytes, const struct learner_options *options,
                      const struct learn_program *program)
{
    char version[VERSION_BYTES];
    learned_version(version, sizeof version);
    snprintf(path, bytes, "%s/reads-%016" PRIx64 "%016" PRIx64 "-%s" LEARNED_SUFFIX "-reads",
             options->cache, program->words[0], program->words[1], version);
}

static void put(struct byte_buffer *buffer, uint64_t value)
{
    if (byte_buffer_reserve(buffer, NUMBER_BYTES_MAX))
        byte_buffer_put(buffer, value);
}

static uint32_t idle_now(const struct kept *each)
{
    return each->asked ? 0 : each->idle + 1;
}

static void kernel_put(struct byte_buffer *buffer, const struct kept *each)
{
    put(buffer, each->kernel.words[0]);
    put(buffer, each->kernel.words[1]);
    put(buffer, each->kernel.parameter_words);
    put(buffer, idle_now(each));
    parameter_uses_put(buffer, &each->uses);
}

/* False: it makes no sense. */
static bool kernel_take(struct byte_cursor *cursor, struct kept_reads *kept)
{
    struct kept_reads_kernel kernel = {{0}, 0};
    struct parameter_uses uses = {0};
    kernel.words[0] = byte_cursor_number(cursor);
    kernel.words[1] = byte_cursor_number(cursor);
    const uint64_t words = byte_cursor_number(cursor), idle = byte_cursor_number(cursor);
    kernel.parameter_words = words;
    parameter_uses_take(cursor, &uses);
    if (cursor->failed || words > READS_WORDS_MOST || idle > KEPT_READS_IDLE || uses.map_count ||
        !parameter_uses_fit(&uses, (uint32_t)words)) {
        parameter_uses_clear(&uses);
        return false;
    }
    if (kept_find(kept, &kernel)) {
        parameter_uses_clear(&uses);
        return true;
    }
    struct kept *fresh = kept_add(kept, &kernel, &uses);
    if (fresh)
        fresh->idle = (uint32_t)idle;
    return true;
}

static void plain_take(struct kept_reads *kept, const uint8_t *plain, size_t bytes)
{
    char version[VERSION_BYTES];
    struct byte_cursor cursor = {plain, plain + bytes, false};
    const char *text = byte_cursor_text(&cursor);
    learned_version(version, sizeof version);
    if (cursor.failed || strcmp(text, version) != 0)
        return;
    for (size_t count = byte_cursor_count(&cursor); count && !cursor.failed; count--)
        if (!kernel_take(&cursor, kept))
            return;
}

void kept_reads_read(struct kept_reads *kept, const struct learner_options *options,
                     const struct learn_program *program)
{
    char path[PATH_MAX], message[MESSAGE_BYTES];
    size_t bytes = 0, plain_bytes = 0;
    path_make(path, sizeof path, options, program);
    uint8_t *contents = learned_file_contents(path, &bytes, message, sizeof message);
    uint8_t *plain = contents ? learned_file_unpack(contents, bytes, &plain_bytes) : NULL;
    if (plain)
        plain_take(kept, plain, plain_bytes);
    free(plain);
    free(contents);
}

/* The caller frees its data; `failed` when memory is short. */
static struct byte_buffer plain_make(const struct kept_reads *kept)
{
    char version[VERSION_BYTES];
    struct byte_buffer buffer = {0};
    struct kept *each = NULL, *next = NULL;
    uint64_t count = 0;
    learned_version(version, sizeof version);
    byte_buffer_put_text(&buffer, version);
    HASH_ITER(hh, kept->kernels, each, next)
    {
        count += idle_now(each) <= KEPT_READS_IDLE;
    }
    put(&buffer, count);
    HASH_ITER(hh, kept->kernels, each, next)
    {
        if (idle_now(each) <= KEPT_READS_IDLE)
            kernel_put(&buffer, each);
    }
    return buffer;
}

bool kept_reads_write(struct kept_reads *kept, const struct learner_options *options,
                      const struct learn_program *program)
{
    char path[PATH_MAX];
    size_t bytes = 0;
    if (!kept->changed)
        return true;
    struct byte_buffer plain = plain_make(kept);
    uint8_t *file = plain.failed ? NULL : learned_file_pack(plain.data, plain.length, &bytes);
    const int lock = learned_directory_lock(options);
    path_make(path, sizeof path, options, program);
    const bool written = file && learned_file_replace(path, file, bytes);
    learned_directory_unlock(options, lock);
    free(file);
    free(plain.data);
    kept->changed = !written;
    return written;
}
