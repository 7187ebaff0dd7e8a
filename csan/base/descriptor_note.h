/* A number that an open file carries for every process that has a descriptor of it, however that
 * one got it: by a socket, by pidfd_getfd, or from its parent. It goes when the last descriptor is
 * closed. Files that were opened apart do not share it, though they be of one device.
 *
 * It is a lock of the open file (fcntl(2), "Open file description locks"), on one byte far behind
 * what anyone else locks. /proc/self/fdinfo says which locks a descriptor has (proc(5)).
 * Thread-safe. */
#ifndef CSAN_BASE_DESCRIPTOR_NOTE_H
#define CSAN_BASE_DESCRIPTOR_NOTE_H

#include <stdbool.h>
#include <stdint.h>

/* Only the lowest bits of a number are kept. */
enum { DESCRIPTOR_NOTE_BITS = 61 };

/* The file must be open for reading, and have no number yet. False: it cannot carry one. */
bool descriptor_note_set(int descriptor, uint64_t number);
/* Its number, with the bits above cleared. False: it has none. */
bool descriptor_note_get(int descriptor, uint64_t *number);

#endif
