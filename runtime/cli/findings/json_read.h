/* Reads JSON (RFC 8259) that csan itself has written, into json-c's tree. json-c keeps whole
 * numbers of 64 bits, such as addresses. */
#ifndef RUNTIME_CLI_FINDINGS_JSON_READ_H
#define RUNTIME_CLI_FINDINGS_JSON_READ_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The document, which the caller gives back with json_object_put. NULL: `message` says what is
 * wrong, and in which line. A document may nest 64 deep, and must not be `null` as a whole. */
struct json_object *json_read(const char *text, size_t bytes, char *message, size_t message_bytes);

/* The member of an object; NULL: it is no object, or has no such member, or that is null. */
struct json_object *json_member(const struct json_object *object, const char *key);

/* False: it is no whole number from 0 on. */
bool json_whole(const struct json_object *value, uint64_t *number);

#endif
