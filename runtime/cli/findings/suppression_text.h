/* Writes suppressions for races: a file for option suppressions that a person then shortens. */
#ifndef RUNTIME_CLI_FINDINGS_SUPPRESSION_TEXT_H
#define RUNTIME_CLI_FINDINGS_SUPPRESSION_TEXT_H

#include "csan/report/finding.h"

/* For each race: what it is about, and the rule that matches it alone, its fingerprint. A wider
 * rule that does not depend on lines is proposed as a comment. The findings must differ. */
void suppression_text_add(struct text *text, const struct finding *const *findings, size_t count);

#endif
