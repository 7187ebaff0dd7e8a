/* The name of a file without its folders. */
#ifndef CSAN_BASE_PATH_NAME_H
#define CSAN_BASE_PATH_NAME_H

#include <stddef.h>
#include <string.h>

/* A part of `path`; NULL for NULL. */
static inline const char *path_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

#endif
