/* Plays a program: real calls of the CUDA driver API, with csan's hooks in front and the embedded
 * device behind, and notes what came of each. One program at a time; every play leaves the device
 * idle and its memory as it found it. */
#ifndef ORACLE_PLAY_H
#define ORACLE_PLAY_H

#include "program.h"

#include <csan/csan.h>

/* What came of one op. */
struct happening {
    bool done;       /* false: it referred to something that was not there */
    bool success;    /* a query: the work is finished */
    uint64_t number; /* of the first op that csan counted for it (csan_race_access.sequence) */
    uint64_t second; /* an allocation: of what fills it */
    uint64_t base[RANGES]; /* the ranges' buffers; 0: there was none, and the range was left out */
    bool stale[RANGES];    /* freed already: only the first row was touched */
    uint64_t block, block_bytes; /* allocated or freed */
    bool streamed;               /* freed: it was of cuMemAllocAsync */
    unsigned ran;  /* a host function: the op during which it ran (the number of ops: after all) */
    unsigned turn; /* ... and its place among them */
    bool unseen;   /* an access of the host's that csan did not count */
    uint8_t read[32];
};

enum { RACES_MAX = 8192, OUTCOME_BYTES = 16384 };

struct play {
    struct happening happenings[PROGRAM_OPS];
    uint64_t buffers[BUFFER_DYNAMIC]; /* where the four lasting buffers are */
    struct csan_race races[RACES_MAX];
    size_t race_count;
    enum host_way way;            /* as of play_start */
    bool stuck;                   /* csan did not see a plain race made after the program */
    uint8_t bytes[OUTCOME_BYTES]; /* all that the host read, and all memory at the end */
    size_t byte_count;
};

/* Once in a process. `kernels`: the path of their PTX. `way`: which option host csan has. Ends the
 * process with a message when the device is not there. */
void play_start(const char *kernels, enum host_way way);

/* `schedule`: as in runtime/device/schedule/schedule.h. */
void play_program(const struct program *program, const char *schedule, struct play *play);

/* A kernel was given memory that had been freed: "accessing the memory from any subsequent work
 * launched on the GPU [...] results in undefined behavior" (cuMemFreeAsync). It may be another
 * block's by then or nobody's, as far as the stream of the free has come
 * (cudaMemPoolReuseAllowOpportunistic, CUDA Programming Guide), so such plays may differ though
 * nothing races; and csan knows the address alone. */
bool play_uses_freed_memory(const struct program *program, const struct play *play);

#endif
