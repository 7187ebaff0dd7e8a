/* Races as one HTML file that needs nothing else: what csan report --html writes. The page itself
 * is report_page.html; here the data are put into it: the JSON that csan report prints, what
 * happened around each race (page_order.h), and source (page_sources.h). */
#ifndef RUNTIME_CLI_REPORT_PAGE_H
#define RUNTIME_CLI_REPORT_PAGE_H

#include "csan/finding_text.h"
#include "csan/text.h"
#include "runtime/cli/surroundings.h"

#define REPORT_PAGE_EDITOR "vscode://file/{file}:{line}"

struct report_page {
    const char *document; /* csan's own JSON of the findings */
    struct finding *const *findings;
    const struct finding_process *processes;
    const struct surroundings *surroundings; /* one neighbourhood for each finding, or none */
    size_t finding_count, process_count;
    const char *editor; /* URL that opens an editor, with {file} and {line} in it; "": none; NULL:
                           REPORT_PAGE_EDITOR */
    bool without_source;
};

void report_page_add(struct text *text, const struct report_page *page);

/* NULL, or what is wrong with an editor's URL. */
const char *report_page_editor_problem(const char *editor);

/* The first process that saw it; NULL: not known. */
const struct finding_process *report_page_process(const struct report_page *page,
                                                  const struct finding *finding);
/* A source's path as seen from the process's directory. False: it is too long, or not known. */
bool report_page_path(const struct finding_process *process, const char *file, char *path,
                      size_t bytes);
/* When the program ran, at the latest: the race's time, else when what was read of it was written.
 * In nanoseconds since 1970; 0: not known. */
uint64_t report_page_time(const struct finding_process *process, const struct finding *finding);

#endif
