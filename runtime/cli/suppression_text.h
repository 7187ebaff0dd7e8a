/* Suppressions for races: a file for option suppressions that a person then makes shorter. */
#ifndef RUNTIME_CLI_SUPPRESSION_TEXT_H
#define RUNTIME_CLI_SUPPRESSION_TEXT_H

#include "csan/finding.h"

/* A line for each race, the narrowest there is, and what it is of; equal ones once. */
void suppression_text_add(struct text *text, const struct finding *const *findings, size_t count);

#endif
