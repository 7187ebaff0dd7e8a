/* The source around the places that races name, as JSON for the page of csan report --html:
 *
 *   {"editor": URL with {file} and {line}, or null,
 *    "races": [{"accesses": [{"stack": top, "launch": top}, ...], "calls": [top, ...]}, ...],
 *    "excerpts": [{"file": index, "line": number}, ...],
 *    "files": [{"path": absolute, "problem": why a line is not there, "lines": {number: text}}]}
 *   top = {"frame": its index in the stack, "excerpt": index}, or null: no frame has a line
 */
#ifndef RUNTIME_CLI_FINDINGS_PAGE_SOURCES_H
#define RUNTIME_CLI_FINDINGS_PAGE_SOURCES_H

#include "csan/base/text.h"
#include "runtime/cli/findings/report_page.h"

void page_sources_add(struct text *text, const struct report_page *page);

#endif
