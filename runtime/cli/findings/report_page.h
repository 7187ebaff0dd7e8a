/* Writes races as one HTML file that needs no other files: csan report --html. The page itself is
 * report_page.html. The data are inserted here: the JSON that csan report prints, what happened
 * around each race (page_order.h), and source (page_sources.h). */
#ifndef RUNTIME_CLI_FINDINGS_REPORT_PAGE_H
#define RUNTIME_CLI_FINDINGS_REPORT_PAGE_H

#include "csan/report/finding_document.h"
#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

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

#endif
