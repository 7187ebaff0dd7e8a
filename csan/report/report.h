/* Where races, notes and the summary go: to the log in words (race_text.h), or into a document for
 * tools (document.h), as option format says. The front end that owns the process opens one sink and
 * hands it the races the detector found.
 *
 * Each report is one write(2), so that reports of several processes do not mix; the C library's
 * streams, which belong to the program, are never touched. A log that cannot be opened or written
 * is said once on standard error and reports go there. Thread-safe. errno is left alone. */
#ifndef CSAN_REPORT_REPORT_H
#define CSAN_REPORT_REPORT_H

#include <csan/csan.h>

#include <stdbool.h>

struct baseline;
struct finding;
struct finding_process;
struct options;
struct symbolizer;
struct report_sink;

/* `symbolizer` stays the caller's; NULL: one is made from the options, and belongs to the sink. The
 * options are copied. NULL when memory is short. */
struct report_sink *report_open(const struct options *options, struct symbolizer *symbolizer);
/* The same in a process that was forked from one that has said all that there is to say at the
 * start: until it is hushed no more it writes no line, but keeps each in a document. */
struct report_sink *report_open_hushed(const struct options *options);
void report_hush(struct report_sink *sink, bool hushed);
void report_close(struct report_sink *sink);

/* Source paths are shortened as seen from there, and not from where this process was started. */
void report_set_directory(struct report_sink *sink, const char *directory);

/* Begins a line that says why a baseline cannot be used. */
#define BASELINE_UNUSED "the baseline is not used, so every race is reported"

/* Races that it has are not reported, but counted as known; it is the sink's from here on. Before
 * the first race. Option baseline does the same for a report in JSON. */
void report_use_baseline(struct report_sink *sink, struct baseline *baseline);

/* Whether there are suppressions or a baseline at all; whether one says not to report the race:
 * then it is counted there. */
bool report_has_suppressions(const struct report_sink *sink);
bool report_suppresses(struct report_sink *sink, const struct csan_race *race);
/* Print which suppressions matched, and how often, unless option print_suppressions is 0. */
void report_suppressions(struct report_sink *sink);

/* Whose races a document holds, if not this process's. Before the first. */
void report_set_process(struct report_sink *sink, const struct finding_process *process);
/* Write what a document lacks; closing does, too. 0, or errno's value of the first write that
 * failed, said on standard error. */
int report_finish(struct report_sink *sink);

/* What the program ran on, for the summary; NULL: not known. Copied. */
void report_set_device(struct report_sink *sink, const char *device);

/* The race as tools take it, printed nowhere; NULL when memory is short. */
struct finding *report_finding(struct report_sink *sink, const struct csan_race *race);

/* Print a race, unless option report_limit is reached: that is said once. Returns the report's text
 * when `wanted`, printed or not: free() it. NULL when memory is short. */
char *report_race(struct report_sink *sink, const struct csan_race *race, bool wanted);

/* Print the race in one line, for scripts: "csan: race: [possible, ]" and both sides. It is the
 * same for the same race in another run. */
void report_race_line(struct report_sink *sink, const struct csan_race *race);

/* Symbols that are not there by now are done without. Thread-safe; waits for nothing. */
void report_hurry(struct report_sink *sink);

/* See struct symbolizer. */
bool report_device_line(struct report_sink *sink, const char *path, uint64_t address, char *file,
                        size_t bytes, uint32_t *line);

/* Print one line, after "csan: ". */
void report_note(struct report_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, followed by " at " and where the program was: its innermost frames, joined by " < ". */
void report_note_stack(struct report_sink *sink, const void *const *frames, size_t frame_count,
                       const char *line);

/* How often each race occurred: in text, one line for each group that one missing order explains.
 */
void report_occurrences(struct report_sink *sink, csan_context *context);

/* Print the summary line: ops, launches by level of knowledge, distinct races; what went wrong only
 * when it did. `unmodelled` names what the program used and csan does not follow yet. */
void report_summary(struct report_sink *sink, const struct csan_stats *stats,
                    const char *const *unmodelled, size_t unmodelled_count);

#endif
