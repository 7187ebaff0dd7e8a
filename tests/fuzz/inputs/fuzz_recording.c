/* libFuzzer: recordings, read and replayed. An input is a whole file, if it begins like one; else
 * the entries of a block, in a file made round it, since checksums let no mutated block through. */
#include "csan/recording/recording_block.h"
#include "csan/recording/recording_read.h"
#include "csan/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A lane is 8 bytes in every clock, and an input may make as many as it has bytes. */
enum { ENTRIES_MAX = 64 << 10 };

static void ignore(void *user, const struct csan_race *race)
{
    (void)user;
    if (race->number == 0 || !race->current.lane || !race->previous.name)
        abort();
}

/* Takes the descriptor. */
static void play(int file)
{
    char message[512] = "";
    struct recording_reader *reader =
        recording_reader_open_file(file, "input", ENTRIES_MAX, message, sizeof message);
    if (!reader) {
        if (strncmp(message, "input: ", 7) != 0)
            abort();
        return;
    }
    csan_context *context = csan_context_create("pending_limit=100", ignore, NULL, message, 512);
    struct replay *replay = context ? replay_create(context) : NULL;
    if (!replay)
        abort();
    if (replay_run(replay, reader, NULL, NULL) == RECORDED_DAMAGED &&
        strncmp(recording_reader_message(reader), "input: byte ", 12) != 0)
        abort();
    replay_destroy(replay);
    csan_context_destroy(context);
    recording_reader_close(reader);
}

static void play_entries(int file, const uint8_t *data, size_t bytes)
{
    struct block_writer writer;
    struct output_file output;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (output_file_open(&output, path, 0) != 0 || block_writer_open(&writer, &output, path) != 0 ||
        block_writer_put(&writer, BLOCK_FACTS, "fuzz 1\n", 7) != 0 ||
        block_writer_put(&writer, BLOCK_ENTRIES, data, bytes) != 0 ||
        block_writer_put(&writer, BLOCK_END, "", 0) != 0)
        abort();
    block_writer_close(&writer);
    output_file_close(&output);
    play(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    int file = memfd_create("input", MFD_CLOEXEC);
    if (file < 0)
        abort();
    if (bytes < 8 || memcmp(data, RECORDING_MAGIC, 8) != 0) {
        play_entries(file, data, bytes < ENTRIES_MAX ? bytes : ENTRIES_MAX);
        return 0;
    }
    if (write(file, data, bytes) != (ssize_t)bytes)
        abort();
    play(file);
    return 0;
}
