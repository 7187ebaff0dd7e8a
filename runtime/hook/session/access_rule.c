/* See access_rule.h. */
#include "runtime/hook/session/access_rule.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *value;
    struct access_rule rule;
} rules[] = {
    {"ptx", {.number = 0}},
    {"auto", {.number = 1, .traces = true, .learns = true}},
    {"learn",
     {.number = 2, .traces = true, .insists = true, .learns = true, .learned_first = true}},
    {"exact", {.number = 3, .traces = true, .insists = true, .traced_first = true}},
};

struct access_rule access_rule_of(const char *value, bool trace)
{
    if (strcmp(value, "auto") == 0 && !trace)
        value = "ptx";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(value, rules[i].value) == 0)
            return rules[i].rule;
    return (struct access_rule){0}; /* options.c accepts no other value */
}
