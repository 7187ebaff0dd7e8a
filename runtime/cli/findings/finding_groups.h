/* Races that one missing order explains, once those of several processes are put together and
 * numbered anew. */
#ifndef RUNTIME_CLI_FINDINGS_FINDING_GROUPS_H
#define RUNTIME_CLI_FINDINGS_FINDING_GROUPS_H

#include "csan/report/finding.h"

/* Number them from 1, in their texts, too, and let each group bear the number of its first one.
 * Numbers ascend, and no two are alike. */
void finding_groups_number(struct finding *const *findings, size_t count);

#endif
