/* For who guards the host's memory: be told of each op of the device and of what it touches, and
 * when the host is ordered after more. Both come under the context's lock, on whatever thread
 * entered it; neither may call the context, but for host_watch_knows. */
#ifndef CSAN_DETECTOR_HOST_WATCH_H
#define CSAN_DETECTOR_HOST_WATCH_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

struct host_watch {
    /* An op that is not the host's took its turn; `epoch` stands for it. */
    void (*touched)(void *user, uint64_t epoch, const struct csan_access *accesses, size_t count);
    /* The host may have learned something. */
    void (*learned)(void *user, const struct order *order);
    void *user;
};

/* Whether all of the host's threads are ordered after the op. Within `learned`. */
bool host_watch_knows(const struct order *order, uint64_t epoch);

/* Before the first op; lives as long as the context. NULL: nobody is told. */
void context_watch_host(csan_context *context, const struct host_watch *watch);

#endif
