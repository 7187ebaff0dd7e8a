/* schema_check SCHEMA FILE...: whether JSON files are as a JSON schema says. It knows the keywords
 * that the schemas here use, and refuses a schema with others, so that no rule is passed over. Exit
 * code 0, 1 where a file is not, with the path to what is wrong, and 2 when it cannot decide. */
#include "runtime/cli/findings/json_read.h"

#include <json-c/linkhash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checking {
    struct json_object *root; /* of the schema */
    bool quiet, unable;
};

static bool check(struct checking *checking, struct json_object *schema, struct json_object *value,
                  const char *path);

static bool wrong(const struct checking *checking, const char *path, const char *what,
                  const char *which)
{
    if (!checking->quiet)
        fprintf(stderr, "%s: %s %s\n", path[0] ? path : "/", what, which);
    return false;
}

static struct json_object *resolve(struct checking *checking, const char *reference)
{
    struct json_object *at = checking->root;
    char name[128];
    if (*reference++ != '#')
        at = NULL;
    while (at && *reference == '/') {
        size_t length = strcspn(++reference, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, reference);
        at = json_member(at, name);
        reference += length;
    }
    checking->unable |= !at;
    return at;
}

static bool is_type(const char *type, struct json_object *value)
{
    static const char *const names[] = {"null",   "boolean", "number", "integer",
                                        "object", "array",   "string"};
    const enum json_type is = json_object_get_type(value);
    return strcmp(type, names[is]) == 0 || (is == json_type_int && strcmp(type, "number") == 0);
}

static size_t count_of(struct json_object *array)
{
    return json_object_array_length(array);
}

static struct json_object *item_of(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static bool check_type(struct checking *checking, struct json_object *types,
                       struct json_object *value, const char *path)
{
    const bool one = is_type("string", types);
    for (size_t i = 0; i < (one ? 1 : count_of(types)); i++)
        if (is_type(json_object_get_string(one ? types : item_of(types, i)), value))
            return true;
    return wrong(checking, path, "is not of type", one ? json_object_get_string(types) : "allowed");
}

static bool check_members(struct checking *checking, struct json_object *schema,
                          struct json_object *value, const char *path)
{
    struct json_object *properties = json_member(schema, "properties");
    struct json_object *others = json_member(schema, "additionalProperties");
    bool good = true;
    if (!is_type("object", value))
        return true;
    json_object_object_foreach(value, key, item)
    {
        char member[512];
        struct json_object *own = json_member(properties, key);
        snprintf(member, sizeof member, "%s/%s", path, key);
        if (own)
            good &= check(checking, own, item, member);
        else if (is_type("object", others))
            good &= check(checking, others, item, member);
        else if (others && !json_object_get_boolean(others))
            good = wrong(checking, path, "has a member it may not have:", key);
    }
    return good;
}

static bool check_required(struct checking *checking, struct json_object *names,
                           struct json_object *value, const char *path)
{
    bool good = true;
    for (size_t i = 0; is_type("object", value) && i < count_of(names); i++) {
        const char *name = json_object_get_string(item_of(names, i));
        if (!json_object_object_get_ex(value, name, NULL))
            good = wrong(checking, path, "lacks", name);
    }
    return good;
}

static bool check_items(struct checking *checking, struct json_object *schema,
                        struct json_object *value, const char *path)
{
    bool good = true;
    for (size_t i = 0; is_type("array", value) && i < count_of(value); i++) {
        char item[512];
        snprintf(item, sizeof item, "%s/%zu", path, i);
        good &= check(checking, schema, item_of(value, i), item);
    }
    return good;
}

static bool check_any(struct checking *checking, struct json_object *schemas,
                      struct json_object *value, const char *path, size_t most)
{
    struct checking quiet = {checking->root, true, false};
    size_t matching = 0;
    for (size_t i = 0; i < count_of(schemas); i++)
        matching += check(&quiet, item_of(schemas, i), value, path);
    checking->unable |= quiet.unable;
    return (matching && matching <= most) || wrong(checking, path, "is none of what it may be", "");
}

static bool check_enum(struct checking *checking, struct json_object *values,
                       struct json_object *value, const char *path)
{
    for (size_t i = 0; i < count_of(values); i++)
        if (json_object_equal(item_of(values, i), value))
            return true;
    return wrong(checking, path, "is none of the values it may be", "");
}

static bool check_unique(struct checking *checking, struct json_object *value, const char *path)
{
    for (size_t i = 0; is_type("array", value) && i < count_of(value); i++)
        for (size_t k = 0; k < i; k++)
            if (json_object_equal(item_of(value, i), item_of(value, k)))
                return wrong(checking, path, "has an item twice", "");
    return true;
}

static bool is_annotation(const char *key)
{
    static const char *const keys[] = {"$schema",
                                       "$id",
                                       "id",
                                       "$comment",
                                       "$defs",
                                       "title",
                                       "format",
                                       "description",
                                       "definitions",
                                       "default",
                                       "pattern",
                                       "properties",
                                       "additionalProperties"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool check_keyword(struct checking *checking, const char *key, struct json_object *rule,
                          struct json_object *value, const char *path)
{
    const bool is_array = is_type("array", value), is_string = is_type("string", value);
    const bool is_number = is_type("number", value);
    if (strcmp(key, "type") == 0)
        return check_type(checking, rule, value, path);
    if (strcmp(key, "required") == 0)
        return check_required(checking, rule, value, path);
    if (strcmp(key, "items") == 0)
        return check_items(checking, rule, value, path);
    if (strcmp(key, "anyOf") == 0)
        return check_any(checking, rule, value, path, SIZE_MAX);
    if (strcmp(key, "oneOf") == 0)
        return check_any(checking, rule, value, path, 1);
    if (strcmp(key, "enum") == 0)
        return check_enum(checking, rule, value, path);
    if (strcmp(key, "const") == 0)
        return json_object_equal(rule, value) ||
               wrong(checking, path, "is not the value it must be", "");
    if (strcmp(key, "uniqueItems") == 0)
        return !json_object_get_boolean(rule) || check_unique(checking, value, path);
    if (strcmp(key, "minItems") == 0)
        return !is_array || count_of(value) >= json_object_get_uint64(rule) ||
               wrong(checking, path, "is too short", "");
    if (strcmp(key, "maxItems") == 0)
        return !is_array || count_of(value) <= json_object_get_uint64(rule) ||
               wrong(checking, path, "is too long", "");
    if (strcmp(key, "minLength") == 0)
        return !is_string ||
               strlen(json_object_get_string(value)) >= json_object_get_uint64(rule) ||
               wrong(checking, path, "is too short", "");
    if (strcmp(key, "minimum") == 0)
        return !is_number || json_object_get_double(value) >= json_object_get_double(rule) ||
               wrong(checking, path, "is too small", "");
    if (strcmp(key, "maximum") == 0)
        return !is_number || json_object_get_double(value) <= json_object_get_double(rule) ||
               wrong(checking, path, "is too large", "");
    if (strcmp(key, "$ref") == 0) {
        struct json_object *target = resolve(checking, json_object_get_string(rule));
        return target && check(checking, target, value, path);
    }
    if (!is_annotation(key)) {
        checking->unable = true;
        return wrong(&(struct checking){0}, path, "the schema has an unknown keyword", key);
    }
    return true;
}

static bool check(struct checking *checking, struct json_object *schema, struct json_object *value,
                  const char *path)
{
    bool good = check_members(checking, schema, value, path);
    json_object_object_foreach(schema, key, rule) good &=
        check_keyword(checking, key, rule, value, path);
    return good;
}

static struct json_object *load(const char *path)
{
    char message[256];
    static char text[8 << 20];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text, file) : 0;
    struct json_object *json = file ? json_read(text, bytes, message, sizeof message) : NULL;
    if (!json)
        fprintf(stderr, "%s: %s\n", path, file ? message : "cannot be read");
    if (file)
        fclose(file);
    return json;
}

int main(int argc, char **argv)
{
    struct json_object *schema = argc > 2 ? load(argv[1]) : NULL;
    struct checking checking = {.root = schema};
    int code = schema ? 0 : 2;
    for (int i = 2; schema && i < argc; i++) {
        struct json_object *value = load(argv[i]);
        if (!value || !check(&checking, schema, value, ""))
            code = 1;
        json_object_put(value);
    }
    json_object_put(schema);
    return checking.unable ? 2 : code;
}
