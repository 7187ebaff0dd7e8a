/* See json_read.h. */
#include "runtime/cli/findings/json_read.h"

#include <json-c/json_tokener.h>
#include <limits.h>
#include <stdio.h>

enum { DEPTH_MAX = 64 };

/* NULL: `at` is where `wrong` is. */
static struct json_object *parse(struct json_tokener *tokener, const char *text, size_t bytes,
                                 size_t *at, const char **wrong)
{
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)bytes);
    *at = json_tokener_get_parse_end(tokener);
    if (json_tokener_get_error(tokener) == json_tokener_continue)
        root = json_tokener_parse_ex(tokener, "", 1); /* a number may end here */
    const enum json_tokener_error error = json_tokener_get_error(tokener);
    if (error != json_tokener_success)
        *wrong = json_tokener_error_desc(error);
    else if (*at != bytes)
        *wrong = "something follows its end";
    else if (!root)
        *wrong = "it is null";
    if (*wrong)
        json_object_put(root);
    return *wrong ? NULL : root;
}

static size_t line_of(const char *text, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

struct json_object *json_read(const char *text, size_t bytes, char *message, size_t message_bytes)
{
    size_t at = 0;
    const char *wrong = NULL;
    struct json_object *root = NULL;
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    if (!tokener)
        wrong = "there is no memory";
    else if (bytes > INT_MAX)
        wrong = "it has more than 2 GB";
    else {
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        root = parse(tokener, text, bytes, &at, &wrong);
    }
    if (tokener)
        json_tokener_free(tokener);
    if (wrong)
        snprintf(message, message_bytes, "line %zu, byte %zu: %s", line_of(text, at), at, wrong);
    return root;
}

struct json_object *json_member(const struct json_object *object, const char *key)
{
    struct json_object *member = NULL;
    return json_object_is_type(object, json_type_object) &&
                   json_object_object_get_ex(object, key, &member)
               ? member
               : NULL;
}

bool json_whole(const struct json_object *value, uint64_t *number)
{
    if (!json_object_is_type(value, json_type_int) || json_object_get_int64(value) < 0)
        return false;
    *number = json_object_get_uint64(value);
    return true;
}
