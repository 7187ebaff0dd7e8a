/* The directory that a command which runs a program many times (explore, fix, mutate) keeps its
 * files in while it does. Nothing but the command's own files is ever in it: it is new, or the user
 * named an empty one. */
#ifndef RUNTIME_CLI_PROCESS_SCRATCH_H
#define RUNTIME_CLI_PROCESS_SCRATCH_H

#include "runtime/cli/process/program.h"

#include <stddef.h>
#include <stdint.h>

struct scratch {
    char directory[PATH_MAX]; /* absolute: the program may go elsewhere */
    bool named;               /* the user's own, which stays when it is empty */
};

/* A new one under TMPDIR. 0, or the exit code with a message said. */
int scratch_make(struct scratch *scratch, const struct program *program);
/* This one, which is made where it is absent, and else must be empty. Likewise. */
int scratch_take(struct scratch *scratch, const struct program *program, const char *directory);

/* The path of a file in it. */
enum { SCRATCH_PATH = PATH_MAX + 256 };
void scratch_path(const struct scratch *scratch, const char *name, char path[SCRATCH_PATH]);

/* Delete its files, but those that `keeps` (or NULL) wants. */
void scratch_clean(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user);
/* Clean it, and delete the directory when nothing is left in it. */
void scratch_close(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user);

/* A hash of what is in the file, and how much that is. An absent file is an empty one. */
uint64_t scratch_hash(const char *path, uint64_t *bytes);

#endif
