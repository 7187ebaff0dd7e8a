/* See command.h. */
#include "runtime/cli/command.h"
#include "csan/base/nearest.h"

#include <stdio.h>

struct command_list command_list;

static const char *name_at(const void *names, size_t index)
{
    const struct command *command = &((const struct command *)names)[index];
    return command->summary ? command->name : NULL;
}

int command_unknown(const char *asker, const char *name)
{
    const char *nearest = nearest_name(name, name_at, command_list.all, command_list.count);
    fprintf(stderr, "%s: there is no command '%s'; ", asker, name);
    if (nearest)
        fprintf(stderr, "did you mean '%s'? ", nearest);
    fprintf(stderr, "`csan help` lists them\n");
    return 2;
}
