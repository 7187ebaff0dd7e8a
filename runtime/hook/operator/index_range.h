/* The allowed values of an operator's indices (csan_operator_indices). The report of a failed
 * kernel of that operator uses them: "index (int64[8, 4]) must be in [0, 16), dimension 1 of self;
 * index[2, 1] was copied to the device as 16".
 *
 * Owns the declarations for the newest 2048 arguments, in a ring without a lock. An entry that is
 * overwritten while it is read is not found. */
#ifndef RUNTIME_HOOK_OPERATOR_INDEX_RANGE_H
#define RUNTIME_HOOK_OPERATOR_INDEX_RANGE_H

#include <csan/csan.h>

struct text;

/* Keeps a declaration, and checks the indices if their values are known (copied_values.h). Returns
 * its number, for index_range_add; never 0. */
uint64_t index_range_note(const struct csan_operator *what, const struct csan_indices *indices,
                          size_t count);

/* Adds a sentence for each argument. Nothing if the number is 0, or too old. */
void index_range_add(struct text *text, uint64_t number);

#endif
