/* A report for tools while it grows: findings, notes and a summary, as JSON or SARIF.
 *
 * If the log is a file, the document in it is complete after every race. So a program that is
 * killed leaves a file that can be read. If the log is a stream, all of the document is written at
 * the end. Not thread-safe; the report's lock covers it. */
#ifndef CSAN_REPORT_DOCUMENT_H
#define CSAN_REPORT_DOCUMENT_H

#include "csan/report/finding_document.h"

struct document;

/* `log_path` as the option has it. NULL: no memory. Nothing is written yet. */
struct document *document_open(enum finding_format format, const char *log_path);

/* The processes that the races belong to. Copied, one after the other. Before the first race. */
void document_process(struct document *document, const struct finding_process *process);
/* This one. */
void document_process_self(struct document *document);
void document_processes_forget(struct document *document);

void document_race(struct document *document, struct finding *finding);
/* From now on each race is compared with a baseline: those of document_race are new. Before the
 * first. */
void document_compares(struct document *document);
/* Whether the document also lists races of the baseline: SARIF does. */
bool document_has_known(const struct document *document);
/* Adds a race of the baseline. Nothing keeps `finding`; NULL if the document lists no such races.
 */
void document_known(struct document *document, uint64_t fingerprint, struct finding *finding);
void document_note(struct document *document, const char *line);
/* What the program ran on; "": not known. */
void document_device(struct document *document, const char *device);
void document_summary(struct document *document, const struct csan_stats *stats,
                      const char *const *unmodelled, size_t unmodelled_count, uint64_t withheld);
/* How often races were found between the two sites of the next race by number: of race 1 first. */
void document_occurrences(struct document *document, uint64_t count);
void document_suppression(struct document *document, const char *line, uint64_t count);

/* Writes what has not been written. A document with nothing to say is not written. 0, or errno's
 * value, which is also printed on standard error. */
int document_finish(struct document *document);
void document_close(struct document *document);

#endif
