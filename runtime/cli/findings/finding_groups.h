/* Groups of races that one missing order explains, after the races of several processes were merged
 * and numbered anew. */
#ifndef RUNTIME_CLI_FINDINGS_FINDING_GROUPS_H
#define RUNTIME_CLI_FINDINGS_FINDING_GROUPS_H

#include "csan/report/finding.h"

/* Numbers them from 1, in their texts, too. A group is named by the number of its first race.
 * Numbers ascend and are unique. */
void finding_groups_number(struct finding *const *findings, size_t count);

#endif
