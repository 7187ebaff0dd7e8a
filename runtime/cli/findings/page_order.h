/* What happened around the races, as JSON for the page of csan report --html:
 *
 *   {"recording": true, "lanes": [name, ...],
 *    "created": [{"file", "line"} or {}, ...],    where each lane was
 *    "hosts": [lane, ...],                        those that are a process's host
 *    "groups": [name, ...],                       of several processes, one for each; else none
 *    "group_of": [number, ...],                   of each lane
 *    "moments": [{"at", "kind", "lane", "op", "event", "name", "deed", "file", "line",
 *                 "from_lane", "from", "meet", "gives"}, ...],
 *                                                 ascending by "at"; what is not known is left out.
 *                                                 "meet": both sides of a message have the same
 *    "races": [{"accesses": [at, at],             the current one first; 0: not found
 *               "calls": [at, ...], "others": [at, ...],   as the race's; 0: not found
 *               "moments": [at, ...], "skipped": [number, ...]}, ...]}   see race_picture.h
 */
#ifndef RUNTIME_CLI_FINDINGS_PAGE_ORDER_H
#define RUNTIME_CLI_FINDINGS_PAGE_ORDER_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

/* One finding for each neighbourhood. */
void page_order_add(struct text *text, struct finding *const *findings,
                    const struct surroundings *surroundings);

#endif
