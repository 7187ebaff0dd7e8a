/* See file_from_here.h. */
#include "runtime/cli/process/file_from_here.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *file_from_here(const char *name)
{
    char here[PATH_MAX], *path;
    if (name[0] == '/' || !name[0] || !getcwd(here, sizeof here) || strpbrk(here, "'%\n"))
        return strdup(name);
    const char *between = here[1] ? "/" : "";
    return asprintf(&path, "%s%s%s", here, between, name) < 0 ? NULL : path;
}
