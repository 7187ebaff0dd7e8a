/* The texts that name a schedule (schedule.h lists them), taken apart. The device uses it, and the
 * csan command uses it to report a wrong one before the program starts. It needs no other module.
 */
#ifndef RUNTIME_DEVICE_SCHEDULE_SCHEDULE_TEXT_H
#define RUNTIME_DEVICE_SCHEDULE_SCHEDULE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum policy {
    POLICY_EAGER,
    POLICY_LAZY,
    POLICY_RANDOM,
    POLICY_REVERSE,
    POLICY_HOLD,
    POLICY_REPLAY
};

struct schedule_choice {
    enum policy policy;
    uint64_t seed;
    uint64_t first, last, until; /* hold: items of these numbers wait for that one */
    const char *file;            /* replay; points into the text */
};

/* False: the text names no schedule. */
bool schedule_parse(const char *text, struct schedule_choice *choice);

#endif
