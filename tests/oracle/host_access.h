/* The host's accesses to memory that csan knows, in the three ways in which csan may see them. */
#ifndef ORACLE_HOST_ACCESS_H
#define ORACLE_HOST_ACCESS_H

#include "program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Within one buffer. */
struct host_access {
    uint8_t *place;
    size_t count;
    uint8_t *to;         /* a read; else: */
    const uint8_t *from; /* or NULL: */
    uint8_t value;       /* for all bytes */
};

/* Makes the access, and takes no notice of csan. */
void host_access_plainly(const struct host_access *access);
/* Makes the access, so that csan may see it in that way. Returns whether csan counts an op for it.
 */
bool host_access_make(const struct host_access *access, enum host_way way);

#endif
