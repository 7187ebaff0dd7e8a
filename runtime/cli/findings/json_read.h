/* JSON (RFC 8259) as csan itself has written it, read by json-c into its own tree. That keeps whole
 * numbers of 64 bits, as addresses have them. */
#ifndef RUNTIME_CLI_FINDINGS_JSON_READ_H
#define RUNTIME_CLI_FINDINGS_JSON_READ_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The document; to be given back with json_object_put. NULL: `message` says what is wrong, and in
 * which line. It nests at most 64 deep; what is `null` as a whole is wrong, too. */
struct json_object *json_read(const char *text, size_t bytes, char *message, size_t message_bytes);

/* The member of an object; NULL: it is no object, or has no such member, or that is null. */
struct json_object *json_member(const struct json_object *object, const char *key);

/* False: it is no whole number from 0 on. */
bool json_whole(const struct json_object *value, uint64_t *number);

#endif
