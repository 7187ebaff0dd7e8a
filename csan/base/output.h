/* Files that csan writes inside another program's process. Their names come from a pattern. They
 * never use descriptors 0 to 2, and a failed write sends the program no signal. The log and the
 * recording use this. Thread-safe. */
#ifndef CSAN_BASE_OUTPUT_H
#define CSAN_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Write the pattern to `path`, cut to `bytes`, with %p replaced by the process id, %h by the
 * machine's name, %r by the rank that a launcher of many processes gave this one (0 where none
 * did), and %% by %. False: the name may be another process's,
 * too: it has no %p, and no %r that stands for a rank. */
bool output_path_expand(char *path, size_t bytes, const char *pattern);

/* This process's rank, from RANK, OMPI_COMM_WORLD_RANK, PMI_RANK or SLURM_PROCID; NULL: none. */
const char *output_rank(void);

/* A file that csan keeps open, although the process may close all descriptors and open files of its
 * own under the same numbers. */
struct output_file {
    int descriptor; /* -1: not open */
    dev_t device;
    ino_t inode;
};

/* open(2) for writing, with `flags` beside O_WRONLY and O_CREAT. 0, or errno's value. */
int output_file_open(struct output_file *file, const char *path, int flags);
/* Checks that the descriptor still belongs to the file that was opened.
 * If not, it opens the file again by its path, with `flags`, and leaves the other's descriptor
 * alone. 0, or errno's value: the file is not open any more. */
int output_file_keep(struct output_file *file, const char *path, int flags);
void output_file_close(struct output_file *file);
/* Writes all of it at byte `at` of the file; -1: at its end for O_APPEND in `flags`. Keeps the file
 * before, and again where the program closes the descriptor meanwhile. 0, or errno's value. */
int output_file_write(struct output_file *file, const char *path, int flags, off_t at,
                      const void *bytes, size_t count);

/* Writes all of it. 0, or errno's value. If a pipe's reader does not read for a second, the rest is
 * lost. No SIGPIPE and no SIGXFSZ. */
int output_write(int descriptor, const void *bytes, size_t count);

#endif
