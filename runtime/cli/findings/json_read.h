/* JSON (RFC 8259) as a tree, for what csan itself has written: numbers are unsigned integers where
 * they can be. Owned by one document; not thread-safe. */
#ifndef RUNTIME_CLI_FINDINGS_JSON_READ_H
#define RUNTIME_CLI_FINDINGS_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type { JSON_NULL, JSON_TRUTH, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    bool truth;
    bool whole;      /* a number: `number` is exact */
    uint64_t number; /* 0 when it is not whole */
    double real;
    char *string; /* UTF-8; \u0000 becomes U+FFFD */
    /* Of an array or object: */
    struct json *items;
    char **keys; /* of an array NULLs */
    size_t count;
};

/* NULL: `message` says what is wrong, with the byte's offset. Nesting is limited to 64. */
struct json *json_parse(const char *text, size_t bytes, char *message, size_t message_bytes);
void json_free(struct json *json);

/* The member of an object; NULL: it is none, or has no such member. */
const struct json *json_member(const struct json *object, const char *key);

#endif
