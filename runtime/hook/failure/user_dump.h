/* GPU core dumps that the user asked for by CUDA's own environment variables (cuda-gdb,
 * "GPU core dump support"). They stay as the user wants them: csan changes nothing, and reads the
 * file when a kernel has failed. */
#ifndef RUNTIME_HOOK_FAILURE_USER_DUMP_H
#define RUNTIME_HOOK_FAILURE_USER_DUMP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the environment asks for dumps. Remembers the time: older files are no dumps of this
 * process. */
bool user_dump_is_asked_for(void);

/* The path of the newest dump of this process, into `path` of `bytes`. False: there is no file. A
 * pipe is none, since its bytes belong to who reads it. */
bool user_dump_find(char *path, size_t bytes);

#endif
