#include "recording.h"
#include <csan/csan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    enum call_kind kind;
    char arguments[3]; /* E: event, S: stream, P: data pointer */
} words[] = {
    {"launch", CALL_KERNEL_LAUNCH, "S"},
    {"event_creation", CALL_EVENT_CREATION, "E"},
    {"event_deletion", CALL_EVENT_DELETION, "E"},
    {"event_record", CALL_EVENT_RECORD, "ES"},
    {"event_wait", CALL_EVENT_WAIT, "ES"},
    {"memory_allocation", CALL_MEMORY_ALLOCATION, "P"},
    {"memory_deallocation", CALL_MEMORY_DEALLOCATION, "P"},
    {"stream_creation", CALL_STREAM_CREATION, "S"},
    {"device_synchronization", CALL_DEVICE_SYNCHRONIZATION, ""},
    {"stream_synchronization", CALL_STREAM_SYNCHRONIZATION, "S"},
    {"event_synchronization", CALL_EVENT_SYNCHRONIZATION, "E"},
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* The next word of the line, which strtok is at, as a number. */
static bool next_number(uint64_t *number)
{
    const char *word = strtok(NULL, " \n");
    char *end;
    if (!word)
        return false;
    *number = strtoull(word, &end, 0);
    return !*end;
}

static uint32_t access_kind(const char *word)
{
    return strcmp(word, "read") == 0 ? CSAN_READ : strcmp(word, "write") == 0 ? CSAN_WRITE : 0;
}

/* "read 1 2 write 3" */
static bool parse_touches(struct recorded_call *into)
{
    uint32_t kind = 0, count = 0;
    for (const char *word; (word = strtok(NULL, " \n"));) {
        if (access_kind(word)) {
            kind = access_kind(word);
            continue;
        }
        char *end;
        into->touches = must(realloc(into->touches, (count + 1u) * sizeof(*into->touches)));
        into->touches[count++] = (struct touch){strtoull(word, &end, 0), kind};
        if (*end || !kind)
            return false;
    }
    into->call.touches = into->touches;
    into->call.touch_count = count;
    return true;
}

/* "read 1 stream 2", of the launch before */
static bool parse_race(struct recorded_call *launch)
{
    const char *word = strtok(NULL, " \n");
    uint32_t kind = word ? access_kind(word) : 0;
    uint64_t data_ptr, stream;
    if (!next_number(&data_ptr) || !(word = strtok(NULL, " \n")) || strcmp(word, "stream") != 0 ||
        !next_number(&stream))
        return false;
    for (uint32_t i = 0; i < launch->call.touch_count; i++) {
        if (launch->touches[i].data_ptr != data_ptr || launch->touches[i].kind != kind)
            continue;
        launch->named =
            must(realloc(launch->named, (launch->named_count + 1) * sizeof(*launch->named)));
        launch->named[launch->named_count++] = (struct named){i, stream};
        return true;
    }
    return false;
}

static bool parse_call(struct recorded_call *into, const char *word)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        into->call.kind = words[i].kind;
        for (const char *argument = words[i].arguments; *argument; argument++) {
            uint64_t *place = *argument == 'E'   ? &into->call.event
                              : *argument == 'S' ? &into->call.stream
                                                 : &into->call.data_ptr;
            if (!next_number(place))
                return false;
        }
        return into->call.kind == CALL_KERNEL_LAUNCH ? parse_touches(into) : !strtok(NULL, " \n");
    }
    return false;
}

static bool parse_line(struct recording *recording, char *line)
{
    line[strcspn(line, "#")] = '\0';
    const char *word = strtok(line, " \n");
    if (!word)
        return true;
    if (strcmp(word, "race") == 0)
        return recording->count && parse_race(&recording->calls[recording->count - 1]);
    recording->calls =
        must(realloc(recording->calls, (recording->count + 1) * sizeof(*recording->calls)));
    struct recorded_call *call = &recording->calls[recording->count++];
    *call = (struct recorded_call){0};
    return parse_call(call, word);
}

struct recording *recording_load(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return NULL;
    }
    struct recording *recording = must(calloc(1, sizeof(*recording)));
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, file) >= 0; number++) {
        if (!parse_line(recording, line)) {
            fprintf(stderr, "%s:%d: not a call that recording.h knows\n", path, number);
            recording_free(recording);
            recording = NULL;
            break;
        }
    }
    free(line);
    fclose(file);
    return recording;
}

void recording_free(struct recording *recording)
{
    for (size_t i = 0; i < recording->count; i++) {
        free(recording->calls[i].touches);
        free(recording->calls[i].named);
    }
    free(recording->calls);
    free(recording);
}
