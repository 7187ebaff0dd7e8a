/* What device memory is known to hold, so that csan can follow a table of pointers without asking
 * the device. These are the bytes of small host-to-device copies that csan saw, as long as nothing
 * can have written there since. They are also the constants that the host never wrote, which hold
 * their module's initial values.
 *
 * "Now" means: in the order in which the program enqueued. If a copy or a kernel is not ordered
 * with a reader, that is a race of its own, whatever the reader then sees. Memory that the host can
 * write by itself (managed, pinned) is never remembered.
 *
 * Owns its bytes: at most 256 pieces and 256 KiB; the oldest is dropped first. Thread-safe, with a
 * lock of its own that is taken last. The hooks of copies, sets, memory, modules and launches
 * report to it. */
#ifndef RUNTIME_HOOK_STATE_KNOWN_CONTENTS_H
#define RUNTIME_HOOK_STATE_KNOWN_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTENT_PIECE_MAX = 4096 }; /* bytes of the largest copy that is remembered */

/* A call of the host wrote [base, base + bytes). `source` holds those bytes; NULL if they are not
 * known or bytes > CONTENT_PIECE_MAX. `variable`: it may be one of a module's constants
 * (memory_type_may_be_constant). */
void known_contents_written(uint64_t base, uint64_t bytes, const void *source, bool variable);

/* [base, base + bytes) may have any contents now, because of a kernel or because the memory changed
 * hands. 1 if something was forgotten. */
bool known_contents_forget(uint64_t base, uint64_t bytes);
bool known_contents_forget_all(void);
/* The same for a launch of which csan does not know what it writes, but whose caller declares that
 * otherwise (copied_values.h uses such declarations). */
bool known_contents_doubt_all(void);

/* 1 if anything is remembered; else known_contents_forget need not be called. */
bool known_contents_any(void);

/* The `bytes` bytes at `address`; false: not known. */
bool known_contents_read(uint64_t address, uint32_t bytes, void *to);
/* 1 if no call of the host wrote any of [address, address + bytes) of a module's constants. */
bool known_contents_is_initial(uint64_t address, uint64_t bytes);

/* A number that grows whenever an answer of the two functions above may have changed. */
uint64_t known_contents_version(void);

/* Addresses that answers depend on have changed: a context or a module is gone. */
void known_contents_addresses_changed(void);
/* A reader could not ask yet, and now can. */
void known_contents_answers_changed(void);

#endif
