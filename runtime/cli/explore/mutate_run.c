/* One run of a program for csan mutate. See mutate_run.h. */
#include "runtime/cli/explore/mutate_run.h"
#include "csan/base/array.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char log_prefix[] = "log.", output_name[] = "output", errors_name[] = "errors";

/* ---- Files ---- */

void mutate_run_errors(const struct mutate_settings *settings)
{
    char path[SCRATCH_PATH];
    scratch_path(&settings->scratch, errors_name, path);
    child_print_errors(path);
}

/* ---- Reading ---- */

/* Room for one more element; false when memory is short. */

/* "sync 3: event wait at main app.cu:5" or "sync 4: as sync 3"; numbers come in order. */
static bool take_sync(struct mutate_run *run, const char *line)
{
    unsigned long number, first;
    int end = 0;
    if (sscanf(line, "sync %lu: %n", &number, &end) != 1 || !end)
        return true;
    run->processes += number == 1;
    if (number != run->sync_count + 1)
        return true;
    struct mutate_sync sync = {.first = run->sync_count};
    if (sscanf(line + end, "as sync %lu", &first) == 1 && first >= 1 && first < number)
        sync.first = first - 1;
    else if (!(sync.text = strdup(line + end)))
        return false;
    if (!array_grow(&run->syncs, run->sync_count, sizeof *run->syncs)) {
        free(sync.text);
        return false;
    }
    run->syncs[run->sync_count++] = sync;
    return true;
}

static bool take_race(struct mutate_run *run, const char *text)
{
    if (mutate_run_has(run, text))
        return true;
    char *copy = strdup(text);
    if (!copy || !array_grow(&run->races, run->race_count, sizeof *run->races)) {
        free(copy);
        return false;
    }
    run->races[run->race_count++] = copy;
    return true;
}

static bool take_line(struct mutate_run *run, const char *line)
{
    static const char own[] = "csan: ", race[] = "race: ";
    if (strncmp(line, own, sizeof own - 1) != 0)
        return true;
    line += sizeof own - 1;
    if (strncmp(line, race, sizeof race - 1) == 0)
        return take_race(run, line + sizeof race - 1);
    if (strncmp(line, "sync ", 5) != 0)
        return true;
    run->dropped |= strstr(line, " is dropped: ") != NULL;
    return take_sync(run, line);
}

static bool read_log(struct mutate_run *run, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool whole = true;
    FILE *file = fopen(path, "re");
    while (file && whole && (length = getline(&line, &room, file)) > 0)
        if (line[length - 1] == '\n') { /* what is cut off was not written */
            line[length - 1] = '\0';
            whole = take_line(run, line);
        }
    free(line);
    if (file)
        fclose(file);
    return whole;
}

/* One log for each process that csan was in. */
static bool read_logs(struct mutate_run *run, const struct mutate_settings *settings)
{
    DIR *directory = opendir(settings->scratch.directory);
    struct dirent *entry;
    bool whole = true;
    while (directory && whole && (entry = readdir(directory)))
        if (strncmp(entry->d_name, log_prefix, sizeof log_prefix - 1) == 0) {
            char path[SCRATCH_PATH];
            scratch_path(&settings->scratch, entry->d_name, path);
            whole = read_log(run, path);
        }
    if (directory)
        closedir(directory);
    return whole;
}

bool mutate_run_has(const struct mutate_run *run, const char *race)
{
    for (size_t i = 0; i < run->race_count; i++)
        if (strcmp(run->races[i], race) == 0)
            return true;
    return false;
}

/* ---- Running ---- */

struct run_request {
    const struct mutate_settings *settings;
    unsigned long drop;
};

static void set_environment(void *user)
{
    const struct run_request *request = user;
    char options[SCRATCH_PATH + 256];
    snprintf(options, sizeof options,
             "check=1:record='':exitcode=0:halt_on_error=0:report_limit=0:print_summary=0:print_"
             "suppressions=0:"
             "verbosity=0:help=0:"
             "color=never:format=text:list_syncs=%d:drop_sync=%lu:log_path='%s/%s%%p'",
             !request->drop, request->drop, request->settings->scratch.directory, log_prefix);
    program_add_options(options);
}

bool mutate_run_make(struct mutate_run *run, const struct mutate_settings *settings,
                     unsigned long drop)
{
    char output[SCRATCH_PATH], errors[SCRATCH_PATH];
    struct run_request request = {settings, drop};
    struct child_settings child = {.program = settings->program,
                                   .output = output,
                                   .errors = errors,
                                   .limit = settings->limit,
                                   .prepare = set_environment,
                                   .user = &request};
    uint64_t bytes;
    *run = (struct mutate_run){0};
    scratch_clean(&settings->scratch, NULL, NULL);
    scratch_path(&settings->scratch, output_name, output);
    scratch_path(&settings->scratch, errors_name, errors);
    if (!child_run(&child, &run->child))
        return false;
    run->output = scratch_hash(output, &bytes);
    if (!read_logs(run, settings)) {
        program_fail(settings->program, 0, "no memory for what csan said of the program");
        return false;
    }
    return true;
}

void mutate_run_free(struct mutate_run *run)
{
    for (size_t i = 0; i < run->sync_count; i++)
        free(run->syncs[i].text);
    for (size_t i = 0; i < run->race_count; i++)
        free(run->races[i]);
    free(run->syncs);
    free(run->races);
    *run = (struct mutate_run){0};
}
