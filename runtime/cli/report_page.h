/* Races as one HTML file that needs nothing else: what csan report --html writes. The page itself
 * is report_page.html; here the data are put into it, as the JSON that csan report prints and the
 * surroundings of each race. */
#ifndef RUNTIME_CLI_REPORT_PAGE_H
#define RUNTIME_CLI_REPORT_PAGE_H

#include "csan/text.h"
#include "runtime/cli/surroundings.h"

/* `document`: csan's own JSON. */
void report_page_add(struct text *text, const char *document,
                     const struct surroundings *surroundings);

#endif
