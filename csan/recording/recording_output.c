/* See recording_output.h. */
#include "csan/recording/recording_output.h"
#include <csan/csan.h>
#include "csan/base/output.h"
#include "csan/recording/recording_block.h"
#include "csan/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct recording_output {
    struct block_writer writer;
    struct output_file file;
    bool opened;
    int error;
    struct text facts;
    uint64_t replace_before;
    void (*note)(const char *line);
    char pattern[PATH_MAX], path[PATH_MAX + 16];
};

/* ---- facts */

static void fact_add(struct text *facts, const char *key, const char *value)
{
    size_t start = facts->length + strlen(key) + 1;
    text_add(facts, "%s %s", key, value);
    for (size_t i = start; i < facts->length; i++)
        if ((unsigned char)facts->data[i] < ' ')
            facts->data[i] = ' ';
    text_add(facts, "\n");
}

static void fact_add_command(struct text *facts)
{
    char line[4096] = "";
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, line, sizeof line - 1) : 0;
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i + 1 < length; i++)
        if (!line[i])
            line[i] = ' ';
    fact_add(facts, "command", line);
}

static void facts_add_process(struct text *facts)
{
    char text[PATH_MAX];
    const char *rank = output_rank();
    snprintf(text, sizeof text, "%d.%d", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    fact_add(facts, "csan", text);
    fact_add_command(facts);
    if (getcwd(text, sizeof text))
        fact_add(facts, "directory", text);
    snprintf(text, sizeof text, "%d", (int)getpid());
    fact_add(facts, "process", text);
    if (gethostname(text, sizeof text) == 0)
        fact_add(facts, "machine", text);
    if (rank)
        fact_add(facts, "rank", rank);
    snprintf(text, sizeof text, "%lld", (long long)time(NULL));
    fact_add(facts, "started", text);
}

static void facts_add_forms(struct text *facts)
{
    for (int kind = 1; kind < RECORDED_KINDS; kind++) {
        const struct recording_form *form = &recording_forms[kind];
        text_add(facts, "entry %d %s", kind, form->name);
        for (int i = 0; i < RECORDING_FIELDS_MAX && form->fields[i]; i++)
            text_add(facts, " %s", recording_field_names[form->fields[i]]);
        text_add(facts, "\n");
    }
}

/* ---- life */

/* As of now: the program may go elsewhere. */
static bool pattern_keep(struct recording_output *file, const char *path)
{
    char directory[PATH_MAX] = "";
    const char *slash = "";
    if (path[0] != '/' && getcwd(directory, sizeof directory))
        slash = "/";
    int length = snprintf(file->pattern, sizeof file->pattern, "%s%s%s", directory, slash, path);
    return length > 0 && (size_t)length < sizeof file->pattern;
}

struct recording_output *recording_output_create(const char *path, uint64_t replace_before,
                                                 const char *facts, void (*note)(const char *line))
{
    struct recording_output *file = calloc(1, sizeof *file);
    if (!file || !pattern_keep(file, path)) {
        free(file);
        return NULL;
    }
    file->note = note;
    file->replace_before = replace_before;
    file->file.descriptor = -1;
    facts_add_process(&file->facts);
    text_add(&file->facts, "%s", facts);
    facts_add_forms(&file->facts);
    return file;
}

void recording_output_destroy(struct recording_output *file)
{
    if (!file)
        return;
    text_free(&file->facts);
    free(file);
}

/* ---- blocks */

/* Without any of the locks that the program's threads wait for, except io. */
static void trouble_say(struct recording_output *file, const char *what, int error)
{
    char line[PATH_MAX + 256], reason[128];
    file->error = error;
    snprintf(line, sizeof line, "cannot %s recording '%s': %s; %s", what, file->path,
             strerror_r(error, reason, sizeof reason),
             file->writer.number ? "it ends here" : "nothing is recorded");
    if (file->note)
        file->note(line);
}

/* One of an earlier run, that nobody is writing any more. */
static bool is_replaceable(const struct recording_output *file)
{
    char magic[sizeof RECORDING_MAGIC - 1];
    struct stat status;
    int former = open(file->path, O_RDONLY | O_CLOEXEC);
    bool replaceable =
        former >= 0 && fstat(former, &status) == 0 && S_ISREG(status.st_mode) &&
        (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec <
            file->replace_before &&
        pread(former, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
        memcmp(magic, RECORDING_MAGIC, sizeof magic) == 0 && flock(former, LOCK_SH | LOCK_NB) == 0;
    if (former >= 0)
        close(former);
    return replaceable;
}

/* Says that it is being written: see is_replaceable. Nothing where it says so already. */
static void file_lock(const struct recording_output *file)
{
    flock(file->file.descriptor, LOCK_EX | LOCK_NB);
}

/* Another process has that name. Where names have ranks, "app.0.csan" becomes "app.0.1234.csan", so
 * that app.*.csan is all of them: a launcher without a rank may have been first. */
static void path_add_process(struct recording_output *file)
{
    char *name = strrchr(file->path, '/'), end[NAME_MAX] = "";
    char *dot = strstr(file->pattern, "%r") ? strrchr(name ? name : file->path, '.') : NULL;
    if (dot) {
        snprintf(end, sizeof end, "%s", dot);
        *dot = '\0';
    }
    const size_t length = strlen(file->path);
    snprintf(file->path + length, sizeof file->path - length, ".%d%s", (int)getpid(), end);
}

static void file_begin(struct recording_output *file)
{
    output_path_expand(file->path, PATH_MAX, file->pattern);
    if (is_replaceable(file))
        unlink(file->path);
    int error = output_file_open(&file->file, file->path, O_EXCL);
    if (error == EEXIST) {
        path_add_process(file);
        error = output_file_open(&file->file, file->path, O_EXCL);
    }
    if (error) {
        trouble_say(file, "open", error);
        return;
    }
    file->opened = true;
    file_lock(file);
    error = block_writer_open(&file->writer, &file->file, file->path);
    if (!error)
        error = block_writer_put(&file->writer, BLOCK_FACTS, file->facts.data, file->facts.length);
    if (error)
        trouble_say(file, "write", error);
}

bool recording_output_put(struct recording_output *file, enum block_kind kind, const void *bytes,
                          size_t count)
{
    if (!file->opened && !file->error)
        file_begin(file);
    if (file->error)
        return false;
    int error = output_file_keep(&file->file, file->path, O_APPEND);
    if (!error) {
        file_lock(file); /* the program closed the descriptor, and it was opened again */
        error = block_writer_put(&file->writer, kind, bytes, count);
    }
    if (error)
        trouble_say(file, "write", error);
    return !error;
}

void recording_output_fail(struct recording_output *file, int error)
{
    if (!file->error)
        trouble_say(file, "write", error);
}

bool recording_output_failed(const struct recording_output *file)
{
    return file->error != 0;
}

bool recording_output_totals(const struct recording_output *file, const char **path,
                             uint64_t *bytes)
{
    *path = file->path;
    *bytes = file->writer.offset;
    return file->writer.number != 0;
}

void recording_output_close(struct recording_output *file)
{
    uint64_t number = file->writer.number, offset = file->writer.offset;
    output_file_close(&file->file);
    block_writer_close(&file->writer);
    file->writer.number = number; /* for the totals */
    file->writer.offset = offset;
}
