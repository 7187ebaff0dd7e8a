/* The sections of locks that several processes have, and which come before which.
 *
 * Where MPI acquires the lock of a window lazily, a process learns late that it has it. That may be
 * after it has given it back. So a section has two times: `acquired`, when the process had the lock
 * at the latest, and `released`, when it began to give it back at the earliest. Section A comes
 * before B for certain if B cannot come before A: B's release began behind A's acquisition. Where
 * neither is certain, that is said. Sections that share a lock have no order. */
#ifndef CSAN_REPLAY_LOCK_SECTIONS_H
#define CSAN_REPLAY_LOCK_SECTIONS_H

#include "csan/recording/recording_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section, by the number of its UNLOCK in its process. */
struct lock_source {
    uint32_t process, number;
};

struct lock_section {
    uint64_t key, machine, acquired, released;
    uint32_t process, unlock; /* unlock: the number of its UNLOCK; UINT32_MAX: there is none */
    size_t first, count;      /* of lock_sections.before: whose release comes before it */
    uint32_t uses;            /* how often others, or its own two entries, ask for its release */
    bool locked, shared;
};

struct lock_process;
struct lock_sections {
    struct lock_section *items;
    size_t count, capacity;
    struct lock_source *before;
    size_t before_count, before_capacity;
    struct lock_process *processes;
    size_t process_count;
};

/* For so many processes. False: memory is short. */
bool lock_sections_init(struct lock_sections *sections, size_t processes);
void lock_sections_clear(struct lock_sections *sections);
/* A LOCK or UNLOCK. False: memory is short. */
bool lock_sections_take(struct lock_sections *sections, size_t process,
                        const struct recorded *recorded);
/* After the last. `uncertain`: by process: the order of a section of it is not known. False: memory
 * is short. */
bool lock_sections_resolve(struct lock_sections *sections, bool *uncertain);

/* Then: by the number of a LOCK or UNLOCK of the process, from 0. */
const struct lock_section *lock_sections_of_lock(const struct lock_sections *sections,
                                                 size_t process, size_t number);
const struct lock_section *lock_sections_of_unlock(const struct lock_sections *sections,
                                                   size_t process, size_t number);

#endif
