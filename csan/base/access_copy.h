/* Copies accesses, with their dims behind them, into one piece of memory. */
#ifndef CSAN_BASE_ACCESS_COPY_H
#define CSAN_BASE_ACCESS_COPY_H

#include <csan/csan.h>

size_t access_copy_bytes(const struct csan_access *accesses, size_t count);

/* Into that many bytes at `to`, aligned as they are. */
void access_copy(struct csan_access *to, const struct csan_access *accesses, size_t count);

#endif
