/* schema_check SCHEMA FILE...: whether JSON files are as a JSON schema says. It knows the keywords
 * that the schemas here use, and refuses a schema with others, so that no rule is passed over. Exit
 * code 0, 1 where a file is not, with the path to what is wrong, and 2 when it cannot decide. */
#include "runtime/cli/findings/json_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checking {
    const struct json *root; /* of the schema */
    bool quiet, unable;
};

static bool check(struct checking *checking, const struct json *schema, const struct json *value,
                  const char *path);

static bool wrong(const struct checking *checking, const char *path, const char *what,
                  const char *which)
{
    if (!checking->quiet)
        fprintf(stderr, "%s: %s %s\n", path[0] ? path : "/", what, which);
    return false;
}

static const struct json *resolve(struct checking *checking, const char *reference)
{
    const struct json *at = checking->root;
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

static bool is_type(const char *type, const struct json *value)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    if (strcmp(type, "integer") == 0)
        return value->type == JSON_NUMBER && (value->whole || value->real < 0);
    return strcmp(type, names[value->type]) == 0;
}

static bool equal(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    return a->type == JSON_STRING ? strcmp(a->string, b->string) == 0
                                  : a->number == b->number && a->truth == b->truth;
}

static bool check_type(struct checking *checking, const struct json *types,
                       const struct json *value, const char *path)
{
    bool one = types->type == JSON_STRING;
    for (size_t i = 0; i < (one ? 1 : types->count); i++)
        if (is_type(one ? types->string : types->items[i].string, value))
            return true;
    return wrong(checking, path, "is not of type", one ? types->string : "allowed");
}

static bool check_members(struct checking *checking, const struct json *schema,
                          const struct json *value, const char *path)
{
    const struct json *properties = json_member(schema, "properties");
    const struct json *others = json_member(schema, "additionalProperties");
    bool good = true;
    for (size_t i = 0; value->type == JSON_OBJECT && i < value->count; i++) {
        char member[512];
        const struct json *own = json_member(properties, value->keys[i]);
        snprintf(member, sizeof member, "%s/%s", path, value->keys[i]);
        if (own)
            good &= check(checking, own, &value->items[i], member);
        else if (others && others->type == JSON_OBJECT)
            good &= check(checking, others, &value->items[i], member);
        else if (others && !others->truth)
            good = wrong(checking, path, "has a member it may not have:", value->keys[i]);
    }
    return good;
}

static bool check_required(struct checking *checking, const struct json *names,
                           const struct json *value, const char *path)
{
    bool good = true;
    for (size_t i = 0; value->type == JSON_OBJECT && i < names->count; i++)
        if (!json_member(value, names->items[i].string))
            good = wrong(checking, path, "lacks", names->items[i].string);
    return good;
}

static bool check_items(struct checking *checking, const struct json *schema,
                        const struct json *value, const char *path)
{
    bool good = true;
    for (size_t i = 0; value->type == JSON_ARRAY && i < value->count; i++) {
        char item[512];
        snprintf(item, sizeof item, "%s/%zu", path, i);
        good &= check(checking, schema, &value->items[i], item);
    }
    return good;
}

static bool check_any(struct checking *checking, const struct json *schemas,
                      const struct json *value, const char *path, size_t most)
{
    struct checking quiet = {checking->root, true, false};
    size_t matching = 0;
    for (size_t i = 0; i < schemas->count; i++)
        matching += check(&quiet, &schemas->items[i], value, path);
    checking->unable |= quiet.unable;
    return (matching && matching <= most) || wrong(checking, path, "is none of what it may be", "");
}

static bool check_enum(struct checking *checking, const struct json *values,
                       const struct json *value, const char *path)
{
    for (size_t i = 0; i < values->count; i++)
        if (equal(&values->items[i], value))
            return true;
    return wrong(checking, path, "is none of the values it may be", "");
}

static bool check_unique(struct checking *checking, const struct json *value, const char *path)
{
    for (size_t i = 0; value->type == JSON_ARRAY && i < value->count; i++)
        for (size_t k = 0; k < i; k++)
            if (value->items[i].type < JSON_ARRAY && equal(&value->items[i], &value->items[k]))
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

static bool check_keyword(struct checking *checking, const char *key, const struct json *rule,
                          const struct json *value, const char *path)
{
    bool is_array = value->type == JSON_ARRAY, is_string = value->type == JSON_STRING;
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
        return equal(rule, value) || wrong(checking, path, "is not the value it must be", "");
    if (strcmp(key, "uniqueItems") == 0)
        return !rule->truth || check_unique(checking, value, path);
    if (strcmp(key, "minItems") == 0)
        return !is_array || value->count >= rule->number ||
               wrong(checking, path, "is too short", "");
    if (strcmp(key, "maxItems") == 0)
        return !is_array || value->count <= rule->number ||
               wrong(checking, path, "is too long", "");
    if (strcmp(key, "minLength") == 0)
        return !is_string || strlen(value->string) >= rule->number ||
               wrong(checking, path, "is too short", "");
    if (strcmp(key, "minimum") == 0)
        return value->type != JSON_NUMBER || value->real >= rule->real ||
               wrong(checking, path, "is too small", "");
    if (strcmp(key, "maximum") == 0)
        return value->type != JSON_NUMBER || value->real <= rule->real ||
               wrong(checking, path, "is too large", "");
    if (strcmp(key, "$ref") == 0) {
        const struct json *target = resolve(checking, rule->string);
        return target && check(checking, target, value, path);
    }
    if (!is_annotation(key)) {
        checking->unable = true;
        return wrong(&(struct checking){0}, path, "the schema has an unknown keyword", key);
    }
    return true;
}

static bool check(struct checking *checking, const struct json *schema, const struct json *value,
                  const char *path)
{
    bool good = check_members(checking, schema, value, path);
    for (size_t i = 0; i < schema->count; i++)
        good &= check_keyword(checking, schema->keys[i], &schema->items[i], value, path);
    return good;
}

static struct json *load(const char *path)
{
    char message[256];
    static char text[8 << 20];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text, file) : 0;
    struct json *json = file ? json_parse(text, bytes, message, sizeof message) : NULL;
    if (!json)
        fprintf(stderr, "%s: %s\n", path, file ? message : "cannot be read");
    if (file)
        fclose(file);
    return json;
}

int main(int argc, char **argv)
{
    struct json *schema = argc > 2 ? load(argv[1]) : NULL;
    struct checking checking = {.root = schema};
    int code = schema ? 0 : 2;
    for (int i = 2; schema && i < argc; i++) {
        struct json *value = load(argv[i]);
        if (!value || !check(&checking, schema, value, ""))
            code = 1;
        json_free(value);
    }
    json_free(schema);
    return checking.unable ? 2 : code;
}
