/* A memory file that another process of this machine can open: what CUDA's handles for other
 * processes stand for on the embedded device. The other one opens it as /proc/PID/fd/N, so the file
 * lives as long as its owner or somebody who has it open, and nothing is left behind.
 *
 * Called with the device's lock held. */
#ifndef RUNTIME_DEVICE_MEMORY_SHARED_FILE_H
#define RUNTIME_DEVICE_MEMORY_SHARED_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum shared_kind { SHARED_MEMORY = 1, SHARED_EVENT = 2, SHARED_POOL = 3, SHARED_POOL_MEMORY = 4 };

/* The bytes of a CUipcMemHandle or CUipcEventHandle. */
struct shared_handle {
    char magic[7];
    uint8_t kind;     /* enum shared_kind */
    int32_t process;  /* of the owner */
    int32_t file;     /* its descriptor there */
    uint64_t started; /* when the owner started, as /proc/PID/stat has it */
    uint64_t inode;   /* of the file: a descriptor may be closed, and used for another */
    uint64_t id;      /* of the thing, never used again */
    uint64_t base;    /* where it is: in the owner's memory, or in the file */
    uint64_t bytes;
};
_Static_assert(sizeof(struct shared_handle) == 56, "a handle of CUDA's has 64 bytes");

/* A new file of `bytes`, which cost nothing until they are touched. -1: there is none. The
 * descriptor is a high one, which programs that count theirs do not meet. */
int shared_file_create(const char *name, uint64_t bytes);

/* What a handle of this process for the file begins with. */
struct shared_handle shared_handle_of(enum shared_kind kind, int file);
/* Whether these bytes are a handle of that kind, of any process. */
bool shared_handle_is(const struct shared_handle *handle, enum shared_kind kind);
/* Whether this process made it. */
bool shared_handle_is_own(const struct shared_handle *handle);
/* A descriptor of the owner's file; -1: the owner has ended, or has closed it. */
int shared_handle_open(const struct shared_handle *handle);
/* Whether a process that started then still runs. */
bool shared_process_lives(int32_t process, uint64_t started);
/* When this process started. */
uint64_t shared_process_started(void);

#endif
