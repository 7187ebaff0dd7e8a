/* Writes the atoms of JSON (RFC 8259). */
#ifndef CSAN_BASE_JSON_TEXT_H
#define CSAN_BASE_JSON_TEXT_H

#include "csan/base/text.h"

#include <stdint.h>

/* The string in quotes; what is not UTF-8 becomes U+FFFD. NULL: null. */
void json_string_add(struct text *text, const char *string);

/* Members of an object: `"key": value, `. Each ends with a comma; json_comma_drop takes the last
 * one back. */
void json_member_string(struct text *text, const char *key, const char *string);
void json_member_number(struct text *text, const char *key, uint64_t number);
void json_member_truth(struct text *text, const char *key, bool value);
/* A number, or null. */
void json_member_maybe(struct text *text, const char *key, bool known, uint64_t number);

/* Removes the comma behind the newest member or element, if there is one. */
void json_comma_drop(struct text *text);

#endif
