/* libFuzzer: recordings of several processes, replayed together. An input is the entries of two to
 * four processes. The first byte says how many; two bytes for each but the last say how many bytes
 * of the rest it has. Each part is put into a file, as the only block of entries. */
#include "csan/detector/context.h"
#include "csan/recording/recording_block.h"
#include "csan/replay/linked_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* A lane is 8 bytes in every clock, and an input may make as many as it has bytes. */
enum { ENTRIES_MAX = 16 << 10, PROCESSES_MAX = 4 };

static struct linked_replay *playing;

static void take_race(void *user, const struct csan_race *race)
{
    size_t process;
    (void)user;
    if (race->number == 0 || !race->current.lane || !race->previous.name)
        abort();
    if (playing && linked_replay_process(playing, race->current.site, &process) &&
        process >= PROCESSES_MAX)
        abort();
}

static void take_line(void *user, const char *line)
{
    (void)user;
    if (!*line)
        abort();
}

static void file_make(const char *path, const uint8_t *data, size_t bytes)
{
    struct block_writer writer;
    struct output_file output;
    if (output_file_open(&output, path, 0) != 0 || block_writer_open(&writer, &output, path) != 0 ||
        block_writer_put(&writer, BLOCK_FACTS, "links 1\n", 8) != 0 ||
        block_writer_put(&writer, BLOCK_ENTRIES, data, bytes) != 0 ||
        block_writer_put(&writer, BLOCK_END, "", 0) != 0)
        abort();
    block_writer_close(&writer);
    output_file_close(&output);
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

static void play(const struct linked_source *sources, size_t count)
{
    char message[512] = "";
    csan_context *context = csan_context_create("pending_limit=100", take_race, NULL, message, 512);
    if (!context)
        abort();
    playing = linked_replay_create(context, sources, count, message, sizeof message);
    if (playing)
        linked_replay_run(playing, take_line, NULL);
    else if (!message[0])
        abort();
    struct linked_replay *replay = playing;
    playing = NULL;
    linked_replay_destroy(replay);
    csan_context_destroy(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[PROCESSES_MAX] = {"rank 0", "rank 1", "rank 2", "rank 3"};
    char paths[PROCESSES_MAX][32];
    struct linked_source sources[PROCESSES_MAX];
    int files[PROCESSES_MAX];
    if (!bytes || bytes > ENTRIES_MAX)
        return 0;
    const size_t count = 2 + data[0] % (PROCESSES_MAX - 1), head = 1 + 2 * (count - 1);
    if (bytes < head)
        return 0;
    const uint8_t *at = data + head, *end = data + bytes;
    for (size_t i = 0; i < count; i++) {
        size_t part = (size_t)(end - at);
        if (i < count - 1)
            part = least(part, data[1 + 2 * i] | (size_t)data[2 + 2 * i] << 8);
        files[i] = memfd_create("input", MFD_CLOEXEC);
        if (files[i] < 0)
            abort();
        snprintf(paths[i], sizeof paths[i], "/proc/self/fd/%d", files[i]);
        file_make(paths[i], at, part);
        at += part;
        sources[i] = (struct linked_source){paths[i], names[i]};
    }
    play(sources, count);
    for (size_t i = 0; i < count; i++)
        close(files[i]);
    return 0;
}
