/* See recorded_device.h. */
#include "runtime/hook/session/recorded_device.h"
#include "csan/base/array.h"
#include "runtime/hook/session/recorded_wait.h"
#include "runtime/hook/session/session.h"

struct context_device {
    const void *context;
    uint64_t number; /* of its device, and one */
};

static struct {
    struct context_device *contexts; /* few */
    size_t count, capacity;
    uint64_t host; /* what the recording says of the host's calls */
} recorded;

static struct context_device *find(const void *context)
{
    for (size_t i = 0; i < recorded.count; i++)
        if (recorded.contexts[i].context == context)
            return &recorded.contexts[i];
    return NULL;
}

static void set(const void *context, uint64_t number)
{
    struct context_device *known = find(context);
    if (!known && array_room(&recorded.contexts, recorded.count, &recorded.capacity, 8, SIZE_MAX,
                             sizeof *known)) {
        known = &recorded.contexts[recorded.count++];
        known->context = context;
    }
    if (known)
        known->number = number;
}

static uint64_t number_of(const void *context)
{
    const struct context_device *known = find(context);
    return known ? known->number : 0;
}

void recorded_device_is(const void *context, int device)
{
    if (recorded_wait_wanted() && context && device >= 0)
        set(context, (uint64_t)device + 1);
}

void recorded_device_within(const void *part, const void *whole)
{
    const uint64_t number = number_of(whole);
    if (number)
        set(part, number);
}

void recorded_device_ended(const void *context)
{
    struct context_device *known = find(context);
    if (known)
        *known = recorded.contexts[--recorded.count];
}

void recorded_device_lane(csan_lane lane, const void *context)
{
    const uint64_t number = number_of(context);
    if (number)
        csan_step(session_context(), lane, CSAN_STEP_DEVICE, number, 0, 0);
}

void recorded_device_host(const void *context)
{
    if (!recorded_wait_wanted() || number_of(context) == recorded.host)
        return;
    recorded.host = number_of(context);
    csan_step(session_context(), CSAN_HOST, CSAN_STEP_DEVICE, recorded.host, 0, 0);
}
