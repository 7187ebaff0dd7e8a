/* The recording of this process, if options or csan record ask for one: what enters the detector
 * goes to a file. process.c starts and ends it. */
#ifndef RUNTIME_HOOK_RUN_RECORDER_H
#define RUNTIME_HOOK_RUN_RECORDER_H

#include <csan/csan.h>

#include <stdbool.h>

struct options;

/* From here on the context's entries are recorded, if options say so. False: the process is neither
 * recorded nor checked (option check), so csan has nothing to do. That is said. */
bool recorder_start(csan_context *context, const struct options *options);
/* The process uses CUDA from here on. */
void recorder_begin(void);
/* True: nothing looks for races. */
bool recorder_only_records(void);
/* Writes out what there is, and the end, with what csan did not follow. If `say`, it says where the
 * recording is. Call it once. `halted`: from inside a call of the program, where locks of csan are
 * held; then the list of what csan did not follow is left out. */
void recorder_finish(bool say, bool halted);

#endif
