/* Findings in the two formats that tools read: csan's own JSON, which include/csan/
 * csan-report.schema.json describes, and SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange
 * Format"). A document is a head, findings with commas between them, and a tail. The head depends
 * on nothing that comes later, so that it can be written first and the tail again and again. */
#ifndef CSAN_REPORT_FINDING_DOCUMENT_H
#define CSAN_REPORT_FINDING_DOCUMENT_H

#include "csan/report/finding.h"

enum finding_format { FINDING_JSON, FINDING_SARIF };

/* A process whose races these are. Strings may be NULL: not known. */
struct finding_process {
    char *rank, *process, *machine, *command; /* numbers as text */
    char *directory; /* where the process was started; paths are relative to it */
    char *file;      /* what it was read from */
};

void finding_process_copy(struct finding_process *to, const struct finding_process *from);
void finding_process_clear(struct finding_process *process);

/* What a document has beside findings. */
struct finding_tail {
    const struct csan_stats
        *stats;         /* NULL: there is no summary, because the process did not end normally */
    const char *device; /* that it ran on; NULL: not known */
    const char *const *unmodelled;
    size_t unmodelled_count;
    uint64_t withheld;
    const uint64_t *known; /* fingerprints of races that the baseline has, too */
    size_t known_count;
    const char *const *notes;
    size_t note_count;
    struct finding_used { /* suppressions that matched */
        const char *line;
        uint64_t count;
    } const *used;
    size_t used_count;
    const uint64_t
        *occurrences; /* how often races between the two sites of race number i + 1 were found */
    size_t occurrence_count;
};

/* The end of a summary in words: "; checked 7 of 10 ops (3 unknown) on NVIDIA H100 PCIe". An op is
 * checked when csan knows what it touches. `device` as in finding_tail; "" is NULL, too. */
void finding_checked_add(struct text *text, const struct csan_stats *stats, const char *device);

void finding_head_add(struct text *text, enum finding_format format,
                      const struct finding_process *processes, size_t count);
void finding_add(struct text *text, enum finding_format format, const struct finding *finding);
void finding_tail_add(struct text *text, enum finding_format format,
                      const struct finding_process *processes, size_t count,
                      const struct finding_tail *tail);

/* Of this format's file; csan/report/finding_json.c and csan/report/finding_sarif.c. */
void finding_json_head(struct text *text, const struct finding_process *processes, size_t count);
void finding_json_add(struct text *text, const struct finding *finding);
void finding_json_tail(struct text *text, const struct finding_tail *tail);
void finding_sarif_head(struct text *text, const struct finding_process *processes, size_t count);
void finding_sarif_add(struct text *text, const struct finding *finding);
void finding_sarif_tail(struct text *text, const struct finding_process *processes, size_t count,
                        const struct finding_tail *tail);

#endif
