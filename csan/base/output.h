/* Files that csan writes from inside somebody else's process: named by a pattern, kept clear of
 * descriptors 0 to 2, and written without a signal to the program. The log and the recording use
 * it. Thread-safe. */
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

/* A file that csan keeps open, in a process that may close every descriptor and open files of its
 * own in their place. */
struct output_file {
    int descriptor; /* -1: not open */
    dev_t device;
    ino_t inode;
};

/* open(2) for writing, with `flags` beside O_WRONLY and O_CREAT. 0, or errno's value. */
int output_file_open(struct output_file *file, const char *path, int flags);
/* Is it still what was opened, or could it be opened again by its path, with `flags`? Before each
 * write. 0, or errno's value: it is not open any more. A descriptor that became somebody else's is
 * left alone. */
int output_file_keep(struct output_file *file, const char *path, int flags);
void output_file_close(struct output_file *file);

/* Write all of it. 0, or errno's value: a pipe's reader who does not read for a second loses the
 * rest. No SIGPIPE and no SIGXFSZ. */
int output_write(int descriptor, const void *bytes, size_t count);

#endif
