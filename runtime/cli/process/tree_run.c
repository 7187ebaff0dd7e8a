/* See tree_run.h. */
#include "runtime/cli/process/tree_run.h"
#include "csan/report/document.h"
#include "csan/report/finding_document.h"
#include "csan/recording/recording_output.h"
#include "csan/base/text.h"
#include "runtime/cli/process/child.h"
#include "runtime/cli/process/supervise.h"
#include "runtime/hook/run/process_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NAMED_MAX = 8 /* processes that a line each is written of */ };

struct tree_run {
    const struct program *program;
    const char *recording;
    const struct process_tree *tree;
    void (*raced)(const struct program *program);
    int status;        /* of the program's end */
    sigset_t signals;  /* this command's mask before it blocked them all */
    struct text notes; /* lines */
};

static const char *ending(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- What there is to say ---- */

/* Of what a slot, or all of them together, counted. */
static void counts_add(struct text *text, const struct tree_slot *counts, const char *device)
{
    struct csan_stats stats = {.ops = counts->ops};
    stats.launches[CSAN_LEVEL_UNKNOWN] = counts->unknown;
    text_add(text, "%" PRIu64 " race%s, %" PRIu64 " possible race%s", counts->races,
             ending(counts->races), counts->possible, ending(counts->possible));
    if (counts->errors)
        text_add(text, ", %" PRIu64 " other finding%s", counts->errors, ending(counts->errors));
    finding_checked_add(text, &stats, device);
}

static bool is_alive(const struct tree_slot *slot)
{
    return kill((pid_t)slot->pid, 0) == 0 || errno == EPERM;
}

/* A process that did not say itself what was checked. */
static void unsaid_add(struct text *text, const struct tree_slot *slot)
{
    const char *why = slot->state == TREE_UNSAID ? "could not write all it had to say"
                      : is_alive(slot)           ? "still runs"
                                       : "ended before its summary, for instance by a signal";
    text_add(text, "process %u (%s) %s: ", slot->pid, slot->command, why);
    counts_add(text, slot, slot->device);
    text_add(text, "%s\n", slot->state == TREE_RUNS ? " until then" : "");
}

static void unsaid_note(struct tree_run *run)
{
    unsigned count = 0, slots = process_tree_slots(run->tree);
    for (unsigned i = 0; i < slots; i++) {
        const struct tree_slot *slot = &run->tree->slots[i];
        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == TREE_SUMMED_UP)
            continue;
        if (count++ < NAMED_MAX)
            unsaid_add(&run->notes, slot);
    }
    if (count > NAMED_MAX)
        text_add(&run->notes, "%u more processes printed no summary\n", count - NAMED_MAX);
}

static void lost_note(struct tree_run *run)
{
    static const char *const why[] = {[TREE_LOSS_ENVIRONMENT] =
                                          "its environment was cleared or changed",
                                      [TREE_LOSS_STATIC] = "statically linked",
                                      [TREE_LOSS_RIGHTS] = "runs with other rights, as set-user-id",
                                      [TREE_LOSS_FOREIGN] = "for another kind of processor"};
    const uint32_t count = run->tree->losses;
    const char *separator = ": ";
    if (!count)
        return;
    text_add(&run->notes, "%u program%s started without csan and not checked", count,
             count == 1 ? " was" : "s were");
    for (int i = 0; i < TREE_LOSSES; i++) {
        const struct tree_lost *lost = &run->tree->lost[i];
        if (lost->why == TREE_WATCHED || lost->why > TREE_LOSS_FOREIGN)
            continue;
        text_add(&run->notes, "%s'%.*s' (%s)", separator, TREE_LOSS_BYTES, lost->path,
                 why[lost->why]);
        separator = ", ";
    }
    text_add(&run->notes, "%s\n", count > TREE_LOSSES ? ", ..." : "");
}

static void forked_note(struct tree_run *run)
{
    const uint32_t count = run->tree->forked;
    if (count)
        text_add(&run->notes,
                 "%u process%s forked after the parent had used CUDA, and not checked\n", count,
                 count == 1 ? " was" : "es were");
}

static void total_note(struct tree_run *run)
{
    struct tree_slot all = {.state = TREE_SUMMED_UP};
    const unsigned slots = process_tree_slots(run->tree);
    const char *device = "";
    bool several = false;
    for (unsigned i = 0; i < slots; i++) {
        const struct tree_slot *slot = &run->tree->slots[i];
        all.races += slot->races;
        all.possible += slot->possible;
        all.errors += slot->errors;
        all.ops += slot->ops;
        all.unknown += slot->unknown;
        several |= device[0] && slot->device[0] && strcmp(device, slot->device) != 0;
        device = slot->device[0] ? slot->device : device;
    }
    text_add(&run->notes, "%u processes used CUDA: ", run->tree->slots_taken);
    counts_add(&run->notes, &all, several ? "several devices" : device);
    text_add(&run->notes, "\n");
}

static void unused_note(struct tree_run *run)
{
    const struct options *options = &run->program->options;
    if (!options->check && !options->record[0])
        text_add(&run->notes, "checking was off (option check=0), so nothing was checked\n");
    else if (!run->recording)
        text_add(&run->notes, "no CUDA call was made, so nothing was checked\n");
    else
        text_add(&run->notes, "no CUDA call was made, so nothing was recorded\n");
}

/* ---- A recording of nothing: what reads it later finds one, and not that of an earlier run ----
 */

static void trouble_say(const char *line)
{
    fprintf(stderr, "csan record: %s\n", line);
}

/* Since when recordings are of this run. */
static uint64_t run_began(void)
{
    const char *since = getenv("CSAN_RECORD_SINCE");
    return since ? strtoull(since, NULL, 10) : 0;
}

static bool was_recorded(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 &&
           (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec >=
               run_began();
}

/* A name that differs from process to process has none for what no process did. */
static void nothing_record(const struct tree_run *run)
{
    static const char end[] =
        "note nothing was recorded: the program gave no work to a CUDA device\n";
    if (!run->recording || strchr(run->recording, '%') || was_recorded(run->recording))
        return;
    struct recording_output *file =
        recording_output_create(run->recording, run_began(), "check 0\n", trouble_say);
    if (file && recording_output_put(file, BLOCK_END, end, sizeof end - 1))
        recording_output_close(file);
    recording_output_destroy(file);
}

static void notes_gather(struct tree_run *run)
{
    const unsigned slots = process_tree_slots(run->tree);
    const struct options *options = &run->program->options;
    const bool document = strcmp(options->format, "text") != 0;
    unsaid_note(run);
    lost_note(run);
    forked_note(run);
    if (!slots)
        unused_note(run);
    else if (slots > 1 && !document) /* documents are merged by csan merge */
        total_note(run);
}

/* ---- Saying it ---- */

/* Where no process wrote a document there is to be one that says so. */
static void document_write(const struct tree_run *run)
{
    const struct options *options = &run->program->options;
    const bool sarif = strcmp(options->format, "sarif") == 0;
    struct document *document =
        document_open(sarif ? FINDING_SARIF : FINDING_JSON, options->log_path);
    if (!document)
        return;
    document_process_self(document);
    document_summary(document, &(struct csan_stats){0}, NULL, 0, 0);
    for (const char *line = run->notes.data; line && *line; line = strchr(line, '\n') + 1) {
        char note[1024];
        snprintf(note, sizeof note, "%.*s", (int)strcspn(line, "\n"), line);
        document_note(document, note);
    }
    document_finish(document);
    document_close(document);
}

static void notes_say(const struct tree_run *run)
{
    const struct options *options = &run->program->options;
    if (strcmp(options->format, "text") != 0 && !process_tree_slots(run->tree) && options->check) {
        document_write(run);
        return;
    }
    if (!options->print_summary)
        return;
    for (const char *line = run->notes.data; line && *line; line = strchr(line, '\n') + 1)
        program_fail(run->program, 0, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool has_findings(const struct tree_run *run)
{
    const unsigned slots = process_tree_slots(run->tree);
    for (unsigned i = 0; i < slots; i++) {
        const struct tree_slot *slot = &run->tree->slots[i];
        if (slot->races || slot->possible || slot->errors)
            return true;
    }
    return false;
}

static void finish(struct tree_run *run)
{
    const int code = run->program->options.exitcode;
    notes_gather(run);
    notes_say(run);
    nothing_record(run);
    text_free(&run->notes);
    if (run->raced && WIFEXITED(run->status) && has_findings(run)) {
        child_watch_signals();
        sigprocmask(SIG_SETMASK, &run->signals, NULL);
        run->raced(run->program);
    }
    if (__atomic_load_n(&run->tree->failed, __ATOMIC_ACQUIRE) && code)
        exit(code);
    supervise_end(run->status);
}

/* ---- The run ---- */

/* Another csan run above this one has the exit code for all. */
static bool is_below_another(void)
{
    const char *name = getenv("CSAN_TREE");
    return name && process_tree_open(name) != NULL;
}

int tree_run(const struct program *program, const char *recording,
             void (*raced)(const struct program *program))
{
    char name[TREE_NAME_BYTES];
    struct tree_run run = {.program = program, .recording = recording, .raced = raced};
    if (is_below_another())
        return program_become(program);
    run.tree = process_tree_create(name);
    if (!run.tree) {
        unsetenv("CSAN_TREE");
        program_fail(program, 0,
                     "cannot share memory with the program (%s): each process keeps its own exit "
                     "code, and nothing is said of one that ends without a summary",
                     strerror(errno));
        return program_become(program);
    }
    setenv("CSAN_TREE", name, 1);
    run.status = supervise_run(program, &run.signals);
    if (run.status < 0)
        return EXIT_CANNOT_RUN;
    finish(&run);
    return 0;
}
