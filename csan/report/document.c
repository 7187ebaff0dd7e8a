/* See document.h. */
#include "csan/report/document.h"
#include "csan/report/log.h"
#include "csan/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Strings that are kept. */
struct strings {
    char **items;
    size_t count;
};

struct document {
    enum finding_format format;
    char path[LOG_PATH_BYTES]; /* "": a stream */
    int descriptor;            /* of a stream; -1: there is a file */
    bool opened, streamed;     /* the file was, once; written at the end */
    struct output_file file;
    bool begun, finished;
    int error;         /* of writing */
    uint64_t written;  /* bytes of head and findings in the file; the tail comes behind */
    struct text body;  /* head and findings that are not in the file */
    size_t race_count; /* in both */
    struct finding_process *processes;
    size_t process_count;
    uint64_t *occurrences;
    size_t occurrence_count;
    struct strings notes, unmodelled, used_lines;
    uint64_t *used_counts;
    bool compares;   /* with a baseline */
    uint64_t *known; /* fingerprints of what the baseline has, too */
    size_t known_count;
    struct csan_stats stats;
    bool ended; /* stats hold */
    char device[128];
    uint64_t withheld;
};

/* ---- life */

struct document *document_open(enum finding_format format, const char *log_path)
{
    struct document *document = calloc(1, sizeof *document);
    if (!document)
        return NULL;
    document->format = format;
    document->file.descriptor = -1;
    document->descriptor = strcmp(log_path, "stdout") == 0 ? STDOUT_FILENO : STDERR_FILENO;
    document->streamed = true;
    if (document->descriptor == STDERR_FILENO && strcmp(log_path, "stderr") != 0 && log_path[0]) {
        document->descriptor = -1;
        document->streamed = false;
        log_path_expand(document->path, sizeof document->path, log_path);
    }
    return document;
}

static void strings_free(struct strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    *strings = (struct strings){0};
}

void document_processes_forget(struct document *document)
{
    for (size_t i = 0; i < document->process_count; i++)
        finding_process_clear(&document->processes[i]);
    free(document->processes);
    document->processes = NULL;
    document->process_count = 0;
}

void document_close(struct document *document)
{
    if (!document)
        return;
    document_processes_forget(document);
    strings_free(&document->notes);
    strings_free(&document->unmodelled);
    strings_free(&document->used_lines);
    free(document->used_counts);
    free(document->occurrences);
    free(document->known);
    text_free(&document->body);
    output_file_close(&document->file);
    free(document);
}

/* ---- processes */

void document_process(struct document *document, const struct finding_process *process)
{
    struct finding_process *grown =
        realloc(document->processes, (document->process_count + 1) * sizeof *grown);
    if (!grown)
        return;
    document->processes = grown;
    finding_process_copy(&grown[document->process_count++], process);
}

/* The command line with blanks between its words, or "". */
static void command_read(char *line, size_t bytes)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, line, bytes - 1);
    if (file >= 0)
        close(file);
    length = length < 0 ? 0 : length;
    while (length > 0 && !line[length - 1])
        length--;
    line[length] = '\0';
    for (ssize_t i = 0; i < length; i++)
        if (!line[i])
            line[i] = ' ';
}

void document_process_self(struct document *document)
{
    char number[16], machine[256] = "", command[4096], directory[PATH_MAX];
    snprintf(number, sizeof number, "%d", (int)getpid());
    gethostname(machine, sizeof machine - 1);
    command_read(command, sizeof command);
    bool somewhere = getcwd(directory, sizeof directory) != NULL;
    document_process(document,
                     &(struct finding_process){.rank = (char *)output_rank(),
                                               .process = number,
                                               .machine = machine,
                                               .command = command,
                                               .directory = somewhere ? directory : NULL});
}

/* ---- writing */

static void tail_add(struct text *text, const struct document *document)
{
    size_t used = document->used_lines.count;
    struct finding_used *suppressions = calloc(used + 1, sizeof *suppressions);
    for (size_t i = 0; suppressions && i < used; i++)
        suppressions[i] =
            (struct finding_used){document->used_lines.items[i], document->used_counts[i]};
    const struct finding_tail tail = {
        .stats = document->ended ? &document->stats : NULL,
        .device = document->device[0] ? document->device : NULL,
        .unmodelled = (const char *const *)document->unmodelled.items,
        .unmodelled_count = document->unmodelled.count,
        .withheld = document->withheld,
        .known = document->known,
        .known_count = document->known_count,
        .notes = (const char *const *)document->notes.items,
        .note_count = document->notes.count,
        .used = suppressions,
        .used_count = suppressions ? used : 0,
        .occurrences = document->occurrences,
        .occurrence_count = document->occurrence_count,
    };
    finding_tail_add(text, document->format, document->processes, document->process_count, &tail);
    free(suppressions);
}

/* From here on it is kept until the end, and goes to standard error then. */
static void fall_back(struct document *document, const char *what, int error)
{
    char message[LOG_PATH_BYTES + 256], reason[128];
    int length =
        snprintf(message, sizeof message,
                 "csan: cannot %s log_path file %s: %s; what comes goes to standard error\n", what,
                 document->path, strerror_r(error, reason, sizeof reason));
    output_write(STDERR_FILENO, message,
                 (size_t)length < sizeof message ? (size_t)length : sizeof message - 1);
    output_file_close(&document->file);
    document->descriptor = STDERR_FILENO;
    document->streamed = true;
    document->error = error;
}

/* A pipe or a terminal cannot be gone back in. */
static void open_file(struct document *document)
{
    const int error = document->opened ? output_file_keep(&document->file, document->path, 0)
                                       : output_file_open(&document->file, document->path, O_TRUNC);
    document->opened = true;
    if (error)
        fall_back(document, "open", error);
    else if (lseek(document->file.descriptor, 0, SEEK_CUR) < 0)
        document->streamed = true;
}

/* The new findings over the old tail, and a new tail behind them. */
static void write_file(struct document *document)
{
    struct text tail = {0};
    size_t body = document->body.length;
    open_file(document);
    if (document->streamed)
        return;
    tail_add(&tail, document);
    text_add_bytes(&document->body, tail.data, tail.length);
    text_free(&tail);
    int error = output_file_write(&document->file, document->path, 0, (off_t)document->written,
                                  document->body.data, document->body.length);
    document->body.length = body;
    if (error) {
        document->body.data[body] = '\0';
        fall_back(document, "write", error);
        return;
    }
    document->written += body;
    text_free(&document->body);
}

static void begin(struct document *document)
{
    if (!document->begun)
        finding_head_add(&document->body, document->format, document->processes,
                         document->process_count);
    document->begun = true;
}

/* ---- what it is made of */

static void finding_write(struct document *document, struct finding *finding,
                          enum finding_state state)
{
    begin(document);
    if (document->race_count++)
        text_add(&document->body, ",");
    finding->state = state;
    finding_add(&document->body, document->format, finding);
    if (!document->streamed)
        write_file(document);
}

void document_race(struct document *document, struct finding *finding)
{
    finding_write(document, finding, document->compares ? FINDING_NEW : FINDING_UNCOMPARED);
}

void document_compares(struct document *document)
{
    document->compares = true;
}

bool document_has_known(const struct document *document)
{
    return document->format == FINDING_SARIF;
}

void document_known(struct document *document, uint64_t fingerprint, struct finding *finding)
{
    uint64_t *grown = realloc(document->known, (document->known_count + 1) * sizeof *grown);
    if (grown) {
        document->known = grown;
        grown[document->known_count++] = fingerprint;
    }
    if (finding)
        finding_write(document, finding, FINDING_UNCHANGED);
}

static bool strings_add(struct strings *strings, const char *string)
{
    char **grown = realloc(strings->items, (strings->count + 1) * sizeof *grown);
    char *copy = grown ? strdup(string) : NULL;
    if (grown)
        strings->items = grown;
    if (copy)
        strings->items[strings->count++] = copy;
    return copy != NULL;
}

void document_note(struct document *document, const char *line)
{
    strings_add(&document->notes, line);
}

void document_summary(struct document *document, const struct csan_stats *stats,
                      const char *const *unmodelled, size_t unmodelled_count, uint64_t withheld)
{
    document->stats = *stats;
    document->ended = true;
    document->withheld = withheld;
    strings_free(&document->unmodelled);
    for (size_t i = 0; i < unmodelled_count; i++)
        strings_add(&document->unmodelled, unmodelled[i]);
}

void document_occurrences(struct document *document, uint64_t count)
{
    uint64_t *grown =
        realloc(document->occurrences, (document->occurrence_count + 1) * sizeof *grown);
    if (!grown)
        return;
    document->occurrences = grown;
    grown[document->occurrence_count++] = count;
}

void document_device(struct document *document, const char *device)
{
    snprintf(document->device, sizeof document->device, "%s", device);
}

void document_suppression(struct document *document, const char *line, uint64_t count)
{
    size_t used = document->used_lines.count;
    uint64_t *grown = realloc(document->used_counts, (used + 1) * sizeof *grown);
    if (!grown)
        return;
    document->used_counts = grown;
    if (strings_add(&document->used_lines, line))
        grown[used] = count;
}

/* The end of what is streamed goes to the file at that path, if it is still there. */
static int stream_write(struct document *document)
{
    const struct text *body = &document->body;
    int error = 0;
    if (document->descriptor < 0)
        error = output_file_write(&document->file, document->path, 0, -1, body->data, body->length);
    if (error)
        fall_back(document, "write", error);
    return document->descriptor < 0 ? 0
                                    : output_write(document->descriptor, body->data, body->length);
}

int document_finish(struct document *document)
{
    bool empty = !document->begun && !document->ended && !document->notes.count;
    if (document->finished || empty)
        return document->error;
    document->finished = true;
    begin(document);
    if (!document->streamed)
        write_file(document);
    if (!document->streamed)
        return document->error;
    tail_add(&document->body, document);
    int error = stream_write(document);
    text_free(&document->body);
    if (error)
        log_stream_say(document->descriptor, error);
    return document->error = error ? error : document->error;
}
