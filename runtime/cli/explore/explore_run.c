/* One run of an explored program: see explore_run.h. */
#include "runtime/cli/explore/explore_run.h"
#include "csan/base/array.h"
#include "runtime/cli/process/child.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 512, MOST_SITES = 1 << 24 };

/* ---- Files ---- */

static void file_path(const struct run_settings *settings, unsigned number, const char *kind,
                      char path[SCRATCH_PATH])
{
    char name[64];
    snprintf(name, sizeof name, "%u.%s", number, kind);
    scratch_path(&settings->scratch, name, path);
}

void run_schedule_path(const struct run *run, const struct run_settings *settings,
                       char path[SCRATCH_PATH])
{
    file_path(settings, run->number, "schedule", path);
}

void run_print_errors(const struct run *run, const struct run_settings *settings)
{
    char path[SCRATCH_PATH];
    file_path(settings, run->number, "err", path);
    child_print_errors(path);
}

void run_delete(const struct run *run, const struct run_settings *settings, bool keep_schedule)
{
    static const char *const kinds[] = {"schedule", "outcome", "out", "err"};
    char path[SCRATCH_PATH];
    for (size_t i = keep_schedule; i < sizeof kinds / sizeof *kinds; i++) {
        file_path(settings, run->number, kinds[i], path);
        unlink(path);
    }
}

/* The whole of a file, ended by a 0 byte; NULL when there is none. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0, bytes = 0;
    while (file) {
        if (!array_reserve(&text, bytes + 2, &room, 8192, SIZE_MAX, 1))
            break;
        size_t got = fread(text + bytes, 1, room - bytes - 1, file);
        if (!got)
            break;
        bytes += got;
    }
    if (file)
        fclose(file);
    if (text)
        text[bytes] = '\0';
    return text;
}

/* Room for one more element, or the end of the command. */
static void grow(void *array, size_t count, size_t element)
{
    if (array_grow(array, count, element))
        return;
    fputs("csan explore: out of memory\n", stderr);
    exit(EXIT_CANNOT_RUN);
}

/* ---- Reading ---- */

static void part_add(struct run *run, enum part_kind kind, uint64_t number, uint64_t bytes,
                     uint64_t value)
{
    grow(&run->parts, run->part_count, sizeof *run->parts);
    run->parts[run->part_count++] = (struct run_part){kind, number, bytes, value};
}

static void outcome_line(struct run *run, const char *line)
{
    char how[8], where[8];
    uint64_t number, bytes, value;
    struct run_item item;
    if (sscanf(line, "item %" SCNu64 " %" SCNu64 " %" SCNu64, &item.item, &item.started,
               &item.ended) == 3) {
        grow(&run->items, run->item_count, sizeof *run->items);
        run->items[run->item_count++] = item;
    } else if (sscanf(line, "failed %" SCNu64, &value) == 1) {
        part_add(run, PART_FAILURE, 0, 0, value);
        run->failed = true;
    } else if (!strcmp(line, "end\n")) {
        run->whole = true;
    } else if (sscanf(line, "threads %" SCNu64, &run->threads) == 1) {
        return;
    } else if (sscanf(line, "copy %" SCNu64 " %" SCNx64, &number, &value) == 2) {
        part_add(run, PART_COPY, number, 0, value);
    } else if (sscanf(line, "%7s %7s %" SCNu64 " %" SCNu64 " %" SCNx64, how, where, &number, &bytes,
                      &value) == 5) {
        bool left = !strcmp(how, "left"), host = !strcmp(where, "host");
        part_add(run,
                 left ? (host ? PART_LEFT_HOST : PART_LEFT_DEVICE)
                      : (host ? PART_FREED_HOST : PART_FREED_DEVICE),
                 number, bytes, value);
    }
}

static void log_line(struct run *run, const char *line)
{
    struct run_op op;
    struct run_change change;
    struct run_race race;
    char mark[16] = "";
    int possible;
    uint32_t site;
    uint64_t key;
    struct run_side *sides = race.sides;
    if (sscanf(line, "op %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32, &op.sequence, &op.item,
               &op.clock, &op.site) == 4) {
        grow(&run->ops, run->op_count, sizeof *run->ops);
        run->ops[run->op_count++] = op;
    } else if (sscanf(line, "change %" SCNu64 " %" SCNu64 " %" SCNu32, &change.op, &change.until,
                      &change.site) == 3) {
        grow(&run->changes, run->change_count, sizeof *run->changes);
        run->changes[run->change_count++] = change;
    } else if (sscanf(line, "site %" SCNu32 " %" SCNx64, &site, &key) == 2) {
        for (; run->key_count <= site && site < MOST_SITES; run->key_count++) {
            grow(&run->keys, run->key_count, sizeof *run->keys);
            run->keys[run->key_count] = 0;
        }
        if (site < run->key_count)
            run->keys[site] = key;
    } else if (strcmp(line, "error\n") == 0) {
        run->error_count++;
    } else if (sscanf(line, "race %d %d %" SCNu64 " %" SCNx64 " %" SCNu64 " %" SCNx64 " %15s",
                      &race.kind, &possible, &sides[0].op, &sides[0].key, &sides[1].op,
                      &sides[1].key, mark) >= 6) {
        race.possible = possible != 0;
        race.suppressed = strcmp(mark, "suppressed") == 0;
        grow(&run->races, run->race_count, sizeof *run->races);
        run->races[run->race_count++] = race;
    }
}

static bool read_lines(struct run *run, const char *path, void (*take)(struct run *, const char *))
{
    char line[LINE];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        if (strchr(line, '\n')) /* what is cut off was not written */
            take(run, line);
    fclose(file);
    return true;
}

static int by_item(const void *a, const void *b)
{
    const struct run_item *x = a, *y = b;
    return (x->item > y->item) - (x->item < y->item);
}

static int by_sequence(const void *a, const void *b)
{
    const struct run_op *x = a, *y = b;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int by_part(const void *a, const void *b)
{
    const struct run_part *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_value(const void *a, const void *b)
{
    const struct run_part *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void sort(void *array, size_t count, size_t element,
                 int (*order)(const void *, const void *))
{
    if (count)
        qsort(array, count, element, order);
}

/* Each process writes files of its own, "7.log.PID" and "7.report.PID". */
static void read_process_files(struct run *run, const struct run_settings *settings)
{
    char prefix[32], name[NAME_MAX + 32], path[SCRATCH_PATH];
    size_t length = (size_t)snprintf(prefix, sizeof prefix, "%u.log.", run->number);
    DIR *directory = opendir(settings->scratch.directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, prefix, length) != 0 || run->processes++ > 0)
            continue;
        scratch_path(&settings->scratch, entry->d_name, path);
        read_lines(run, path, log_line);
        unlink(path);
        snprintf(name, sizeof name, "%u.report.%s", run->number, entry->d_name + length);
        scratch_path(&settings->scratch, name, path);
        run->reports = read_file(path);
        unlink(path);
    }
    if (directory)
        closedir(directory);
}

static void read_results(struct run *run, const struct run_settings *settings)
{
    char path[SCRATCH_PATH];
    uint64_t bytes;
    file_path(settings, run->number, "outcome", path);
    run->used_device = read_lines(run, path, outcome_line);
    file_path(settings, run->number, "out", path);
    uint64_t output = scratch_hash(path, &bytes);
    part_add(run, PART_OUTPUT, 0, bytes, output);
    part_add(run, PART_STATUS, 0, 0, run->timed_out ? UINT64_MAX : (uint64_t)run->status);
}

static uint64_t key_of(const struct run *run, uint32_t site)
{
    return site < run->key_count ? run->keys[site] : 0;
}

static void put_in_order(struct run *run)
{
    for (size_t i = 0; i < run->op_count; i++)
        run->ops[i].key = key_of(run, run->ops[i].site);
    for (size_t i = 0; i < run->change_count; i++)
        run->changes[i].key = key_of(run, run->changes[i].site);
    sort(run->items, run->item_count, sizeof *run->items, by_item);
    sort(run->ops, run->op_count, sizeof *run->ops, by_sequence);
    sort(run->parts, run->part_count, sizeof *run->parts, run->threads > 1 ? by_value : by_part);
    for (size_t i = 0; run->threads > 1 && i < run->part_count; i++)
        run->parts[i].number =
            i && run->parts[i].kind == run->parts[i - 1].kind ? run->parts[i - 1].number + 1 : 0;
}

/* ---- Running ---- */

static void set_file(const struct run *run, const struct run_settings *settings,
                     const char *variable, const char *kind)
{
    char path[SCRATCH_PATH];
    file_path(settings, run->number, kind, path);
    setenv(variable, path, 1);
}

struct run_request {
    const struct run *run;
    const struct run_settings *settings;
    bool symbolize;
};

static void set_environment(void *user)
{
    const struct run_request *request = user;
    const struct run *run = request->run;
    char path[SCRATCH_PATH], options[SCRATCH_PATH + 256];
    setenv("CSAN_SCHEDULE", run->schedule, 1);
    set_file(run, request->settings, "CSAN_SAVE_SCHEDULE", "schedule");
    set_file(run, request->settings, "CSAN_OUTCOME", "outcome");
    set_file(run, request->settings, "CSAN_RUN_LOG", "log");
    file_path(request->settings, run->number, "report", path);
    snprintf(options, sizeof options,
             "check=1:record='':exitcode=0:halt_on_error=0:report_limit=0:dedup=1:print_summary=0:"
             "print_suppressions="
             "0:verbosity=0:"
             "color=never:format=%s:list_syncs=0:symbolize=%d:log_path='%s'",
             request->symbolize ? "json" : "text", request->symbolize, path);
    program_add_options(options);
    if (request->settings->options)
        program_add_options(request->settings->options);
}

bool run_make(struct run *run, const struct run_settings *settings, unsigned number,
              const char *schedule, bool symbolize)
{
    char output[SCRATCH_PATH], errors[SCRATCH_PATH];
    struct run_request request = {run, settings, symbolize};
    struct child child;
    *run = (struct run){.number = number};
    snprintf(run->schedule, sizeof run->schedule, "%s", schedule);
    file_path(settings, number, "out", output);
    file_path(settings, number, "err", errors);
    if (!child_run(&(struct child_settings){.program = settings->program,
                                            .output = output,
                                            .errors = errors,
                                            .limit = settings->timeout,
                                            .prepare = set_environment,
                                            .user = &request},
                   &child))
        return false;
    if (child_interrupted())
        return false;
    run->seconds = child.seconds;
    run->timed_out = child.timed_out;
    run->status = child.status;
    read_results(run, settings);
    read_process_files(run, settings);
    put_in_order(run);
    return true;
}

void run_free(struct run *run)
{
    free(run->items);
    free(run->ops);
    free(run->changes);
    free(run->races);
    free(run->keys);
    free(run->parts);
    free(run->reports);
    *run = (struct run){0};
}

/* ---- The report ---- */

static bool is_document(const char *text)
{
    return text && text[strspn(text, " \n")] == '{';
}

bool run_read_report(const struct run *run, const struct run_settings *settings,
                     struct finding_report *report)
{
    char message[256];
    *report = (struct finding_report){0};
    /* A program that has nothing to report of writes no document. */
    if (!is_document(run->reports) ||
        finding_report_read(report, run->reports, strlen(run->reports), message, sizeof message))
        return true;
    program_fail(settings->program, 0, "cannot read the report of a run: %s", message);
    return false;
}

/* ---- Looking up ---- */

const struct run_item *run_find_item(const struct run *run, uint64_t item)
{
    struct run_item key = {.item = item};
    return run->item_count ? bsearch(&key, run->items, run->item_count, sizeof key, by_item) : NULL;
}

const struct run_op *run_find_op(const struct run *run, uint64_t sequence)
{
    struct run_op key = {.sequence = sequence};
    return run->op_count ? bsearch(&key, run->ops, run->op_count, sizeof key, by_sequence) : NULL;
}

uint64_t run_item_of(const struct run *run, const struct run_side *side)
{
    const struct run_op *op = run_find_op(run, side->op);
    for (size_t i = 0; i < run->change_count; i++)
        if (run->changes[i].key == side->key)
            return 0;
    return op ? op->item : 0;
}
