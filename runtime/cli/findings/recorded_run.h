/* Runs the detector over a recording, for the commands that report its races: with options, symbols
 * of the recorded program, and a progress bar. */
#ifndef RUNTIME_CLI_FINDINGS_RECORDED_RUN_H
#define RUNTIME_CLI_FINDINGS_RECORDED_RUN_H

#include "csan/report/finding_document.h"
#include "csan/options.h"
#include "csan/recording/recording_read.h"
#include "csan/report/report.h"

#include <limits.h>
#include <stdbool.h>

struct replay;
struct symbolizer;

enum { RECORDED_RUN_BAD = 2 }; /* exit code: the file cannot be read, or not to its end */

struct recorded_run {
    const char *command; /* the subcommand, for messages */
    const char *purpose; /* what is not done when something fails, for messages; or NULL */
    const char *path;
    struct options options; /* of CSAN_OPTIONS and the command line */

    struct recording_reader *reader;
    csan_context *context;
    struct replay *replay;
    struct symbolizer *symbolizer; /* for the recorded program's addresses */
    struct recorded_progress {
        bool wanted, shown;
        double started, drawn; /* seconds */
    } progress;
    void (*on_race)(void *user, const struct csan_race *race);
    void *user;
    struct report_sink *sink; /* of recorded_run_report; knows what is suppressed */
    bool halted;
};

/* Prints "csan COMMAND: ..." on standard error. Returns the code. */
int recorded_run_fail(const struct recorded_run *run, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes options from CSAN_OPTIONS, then from text (NULL: none). 0, or an exit code, with a message
 * printed. Call it before recorded_run_open. */
int recorded_run_set_options(struct recorded_run *run, const char *text);

/* Opens run->path. on_race is called for each race when it is found; its arguments stay valid until
 * recorded_run_close. 0, or an exit code, with a message printed. */
int recorded_run_open(struct recorded_run *run,
                      void (*on_race)(void *user, const struct csan_race *race), void *user);

/* Replays all of it. 0; RECORDED_RUN_BAD if it cannot be read to its end, which is said; the races
 * up to there were reported. */
int recorded_run_play(struct recorded_run *run);
/* From on_race: no more. */
void recorded_run_halt(struct recorded_run *run);

/* A sink for reports in text, as the recorded program would have printed them. The caller has to
 * follow option baseline. */
struct report_sink *recorded_run_report(struct recorded_run *run);
/* The summary, with what the recorded process did not follow. */
void recorded_run_summarize(struct recorded_run *run, struct report_sink *sink);

/* The recorded process, as documents name it. What is not known is NULL. */
struct recorded_process {
    struct finding_process process; /* into `facts`, and the run's path */
    char facts[5][PATH_MAX];
};
void recorded_run_process(const struct recorded_run *run, struct recorded_process *recorded);

/* What the recorded program ran on, by name. False: the recording does not say. */
bool recorded_run_device(const struct recorded_run *run, char *name, size_t bytes);

void recorded_run_close(struct recorded_run *run);

#endif
