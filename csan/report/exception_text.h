/* Why a kernel fails with an exception, and what to do, in words: error_text.c says so where
 * nothing is known of the memory. Exceptions are known by their words, which recordings keep.
 * Thread-safe.
 */
#ifndef CSAN_REPORT_EXCEPTION_TEXT_H
#define CSAN_REPORT_EXCEPTION_TEXT_H

#include <csan/csan.h>
#include "csan/base/text.h"

#include <stdbool.h>

/* Parts of a sentence. False, and nothing is added: the exception's words say all. */
bool exception_cause_add(struct text *text, const struct csan_race *race);
bool exception_fix_add(struct text *text, const struct csan_race *race);

#endif
