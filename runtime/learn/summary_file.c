/* Summaries of operators on disk. See summary_file.h. */
#include "runtime/learn/summary_file.h"
#include "csan/recording/recording_format.h"
#include "runtime/learn/learned_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_BYTES = 32, RESTED_MOST = 1 << 20, MESSAGE_BYTES = 256 };

static void path_make(char *path, size_t bytes, const struct learner_options *options,
                      const struct learn_program *program)
{
    char version[VERSION_BYTES];
    learned_version(version, sizeof version);
    snprintf(path, bytes,
             "%s/operators-%016" PRIx64 "%016" PRIx64 "-%s" LEARNED_SUFFIX "-operators",
             options->cache, program->words[0], program->words[1], version);
}

static bool plain_read(const uint8_t *plain, size_t bytes, struct summaries *summaries,
                       struct summary_program *noted)
{
    char version[VERSION_BYTES];
    struct byte_cursor cursor = {plain, plain + bytes, false};
    const char *text = byte_cursor_text(&cursor);
    const uint64_t settled = byte_cursor_number(&cursor), rested = byte_cursor_number(&cursor);
    learned_version(version, sizeof version);
    if (cursor.failed || strcmp(text, version) != 0 || settled > 1 || rested > RESTED_MOST)
        return false;
    *noted = (struct summary_program){settled != 0, (uint32_t)rested};
    return summaries_read(summaries, cursor.at, (size_t)(cursor.end - cursor.at));
}

bool summary_file_read(const struct learner_options *options, const struct learn_program *program,
                       struct summaries *summaries, struct summary_program *noted)
{
    char path[PATH_MAX], message[MESSAGE_BYTES];
    size_t bytes = 0, plain_bytes = 0;
    path_make(path, sizeof path, options, program);
    uint8_t *contents = learned_file_contents(path, &bytes, message, sizeof message);
    uint8_t *plain = contents ? learned_file_unpack(contents, bytes, &plain_bytes) : NULL;
    const bool read = plain && plain_read(plain, plain_bytes, summaries, noted);
    free(plain);
    free(contents);
    return read;
}

/* NULL when memory is short. */
static uint8_t *plain_make(const struct summaries *summaries, const struct summary_program *noted,
                           size_t *bytes)
{
    char version[VERSION_BYTES];
    struct byte_buffer buffer = {0};
    size_t count = 0;
    uint8_t *written = summaries_write(summaries, &count);
    learned_version(version, sizeof version);
    byte_buffer_put_text(&buffer, version);
    if (written && byte_buffer_reserve(&buffer, 2 * NUMBER_BYTES_MAX + count)) {
        byte_buffer_put(&buffer, noted->settled);
        byte_buffer_put(&buffer, noted->rested < RESTED_MOST ? noted->rested : RESTED_MOST);
        memcpy(buffer.data + buffer.length, written, count);
        buffer.length += count;
    }
    const bool made = written && !buffer.failed;
    free(written);
    if (!made) {
        free(buffer.data);
        return NULL;
    }
    *bytes = buffer.length;
    return buffer.data;
}

bool summary_file_write(const struct learner_options *options, const struct learn_program *program,
                        const struct summaries *summaries, const struct summary_program *noted)
{
    char path[PATH_MAX];
    size_t plain_bytes = 0, bytes = 0;
    uint8_t *plain = plain_make(summaries, noted, &plain_bytes);
    uint8_t *file = plain ? learned_file_pack(plain, plain_bytes, &bytes) : NULL;
    const int lock = learned_directory_lock(options);
    path_make(path, sizeof path, options, program);
    const bool written = file && learned_file_replace(path, file, bytes);
    learned_directory_unlock(options, lock);
    free(file);
    free(plain);
    return written;
}
