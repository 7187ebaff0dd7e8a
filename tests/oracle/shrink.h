/* Makes a program smaller for as long as it stays wrong (delta debugging; A. Zeller, R.
 * Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 2002). */
#ifndef ORACLE_SHRINK_H
#define ORACLE_SHRINK_H

#include "program.h"

void shrink(struct program *program, bool (*is_wrong)(const struct program *program));

#endif
