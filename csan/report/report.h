/* Where races, notes and the summary go: to the log in words (race_text.h), or into a document for
 * tools (document.h), as option format says. The front end that owns the process opens one sink and
 * passes it the races that the detector found.
 *
 * Each report is one write(2), so that reports of several processes do not mix. The C library's
 * streams belong to the program and are never used. If a log cannot be opened or written, that is
 * said once on standard error, and reports go there. Thread-safe. errno is left alone. */
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

/* `symbolizer` stays the caller's. NULL: one is made from the options, and belongs to the sink. The
 * options are copied. NULL when memory is short. */
struct report_sink *report_open(const struct options *options, struct symbolizer *symbolizer);
/* The same for a forked process whose parent has already said what there is to say at the start.
 * Until the sink is hushed no more, it prints no line, but keeps each in a document. */
struct report_sink *report_open_hushed(const struct options *options);
void report_hush(struct report_sink *sink, bool hushed);
void report_close(struct report_sink *sink);

/* Source paths are shortened relative to that directory, in place of the one in which this process
 * was started. */
void report_set_directory(struct report_sink *sink, const char *directory);

/* The beginning of a line that says why a baseline cannot be used. */
#define BASELINE_UNUSED "the baseline is not used, so every race is reported"

/* Races of the baseline are not reported, but counted as known. The sink takes it over. Before the
 * first race. Option baseline does the same with a report in JSON. */
void report_use_baseline(struct report_sink *sink, struct baseline *baseline);

/* Whether there are suppressions or a baseline at all; and whether one of them says not to report
 * the race, which is then counted there. */
bool report_has_suppressions(const struct report_sink *sink);
bool report_suppresses(struct report_sink *sink, const struct csan_race *race);
/* Print which suppressions matched, and how often, unless option print_suppressions is 0. */
void report_suppressions(struct report_sink *sink);

/* The processes that a document's races belong to, if not this one. Before the first race. */
void report_set_process(struct report_sink *sink, const struct finding_process *process);
/* Writes what a document lacks; closing does so, too. 0, or errno's value of the first write that
 * failed, which was said on standard error. */
int report_finish(struct report_sink *sink);

/* What the program ran on, for the summary; NULL: not known. Copied. */
void report_set_device(struct report_sink *sink, const char *device);

/* The race in the form for tools. Prints nothing. NULL when memory is short. */
struct finding *report_finding(struct report_sink *sink, const struct csan_race *race);

/* Prints a race, unless option report_limit is reached, which is said once. If `wanted`, it returns
 * the report's text, printed or not: free() it. NULL when memory is short. */
char *report_race(struct report_sink *sink, const struct csan_race *race, bool wanted);

/* Print the race in one line, for scripts: "csan: race: [possible, ]" and both sides. It is the
 * same for the same race in another run. */
void report_race_line(struct report_sink *sink, const struct csan_race *race);

/* From now on, reports do without symbols that are not there yet. Thread-safe; waits for nothing.
 */
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

/* Prints the summary line: ops, launches by level of knowledge, and distinct races. Things that
 * went wrong are named only if there were any. `unmodelled` names what the program used and csan
 * does not follow yet. */
void report_summary(struct report_sink *sink, const struct csan_stats *stats,
                    const char *const *unmodelled, size_t unmodelled_count);

#endif
