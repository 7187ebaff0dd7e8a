/* Reads a report that csan wrote as JSON. */
#ifndef RUNTIME_CLI_FINDINGS_FINDING_READ_H
#define RUNTIME_CLI_FINDINGS_FINDING_READ_H

#include "csan/report/finding_document.h"

#include <stdbool.h>

struct finding_report {
    struct finding_process *processes;
    size_t process_count;
    struct finding **findings;
    size_t finding_count;
    struct csan_stats stats; /* what the summary has of them */
    bool ended;              /* it has one */
    char *device;            /* NULL: not known */
    uint64_t withheld;
    uint64_t *known; /* fingerprints of races that a baseline had */
    size_t known_count;
    char **unmodelled, **notes;
    size_t unmodelled_count, note_count;
};

/* False: `message` says what is wrong, without the file's name; there is nothing to free. */
bool finding_report_read(struct finding_report *report, const char *text, size_t bytes,
                         char *message, size_t message_bytes);
void finding_report_free(struct finding_report *report);

#endif
