/* Windows of MPI whose values a process reads or writes in an epoch that others may have at the
 * same time (CSAN_LACK_ONE_SIDED): what one read there may be what another one wrote meanwhile. Not
 * thread-safe. */
#ifndef CSAN_REPLAY_EXPOSED_WINDOWS_H
#define CSAN_REPLAY_EXPOSED_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exposed_window {
    uint64_t window;
    uint32_t process;
    bool reads; /* else it writes */
};

struct exposed_windows {
    struct exposed_window *items;
    size_t count;
};

/* False: memory is short. */
bool exposed_windows_add(struct exposed_windows *windows, const struct exposed_window *window);
/* Sets `exposed` of each process, by number, that reads a window which another process writes.
 * Their order is lost. */
void exposed_windows_resolve(struct exposed_windows *windows, bool *exposed);
void exposed_windows_clear(struct exposed_windows *windows);

#endif
