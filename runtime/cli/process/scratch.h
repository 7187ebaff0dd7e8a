/* The directory in which a command that runs a program many times (explore, fix, mutate) keeps its
 * files meanwhile. It holds only the command's own files: it is new, or the user named an empty
 * one. */
#ifndef RUNTIME_CLI_PROCESS_SCRATCH_H
#define RUNTIME_CLI_PROCESS_SCRATCH_H

#include "runtime/cli/process/program.h"

#include <stddef.h>
#include <stdint.h>

struct scratch {
    char directory[PATH_MAX]; /* absolute: the program may go elsewhere */
    bool named;               /* the user's own directory, which stays when it is empty */
};

/* Makes a new one under TMPDIR. 0, or the exit code with a message printed. */
int scratch_make(struct scratch *scratch, const struct program *program);
/* Takes this one. It is made if it does not exist, and must otherwise be empty. Returns likewise.
 */
int scratch_take(struct scratch *scratch, const struct program *program, const char *directory);

/* The path of a file in it. */
enum { SCRATCH_PATH = PATH_MAX + 256 };
void scratch_path(const struct scratch *scratch, const char *name, char path[SCRATCH_PATH]);

/* Deletes its files, but those that `keeps` (or NULL) wants. */
void scratch_clean(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user);
/* Cleans it, and deletes the directory if nothing is left in it. */
void scratch_close(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user);

/* A hash of the file's contents, and its size. A file that does not exist counts as empty. */
uint64_t scratch_hash(const char *path, uint64_t *bytes);

#endif
