/* The one way in which csan's libraries read an environment variable.
 *
 * In a process that runs with rights its caller lacks (set-user-id, set-group-id, file
 * capabilities: the kernel sets AT_SECURE, see getauxval(3)) every variable reads as absent, so
 * that csan stays off there and opens, loads and runs nothing that the caller named. A test greps
 * for readers that go around this one (tests/shell/test_security.sh). */
#ifndef CSAN_BASE_ENVIRONMENT_H
#define CSAN_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

/* The variable's value, or NULL: absent, or not to be trusted. It stays the environment's. Safe
 * wherever getenv(3) is. */
static inline const char *environment_get(const char *name)
{
    return secure_getenv(name);
}

/* As environment_get, but NULL where the value is empty, too. */
static inline const char *environment_get_text(const char *name)
{
    const char *value = environment_get(name);
    return value && *value ? value : NULL;
}

enum environment_switch { ENVIRONMENT_OFF, ENVIRONMENT_ON, ENVIRONMENT_UNCLEAR };

/* What the value of CSAN says: absent, empty, blank, 0, no, off and false are OFF; 1, yes, on and
 * true are ON; in upper case, too. */
static inline enum environment_switch environment_switch_of(const char *value)
{
    static const char *const words[][4] = {{"0", "no", "off", "false"}, {"1", "yes", "on", "true"}};
    while (value && (*value == ' ' || *value == '\t'))
        value++;
    if (!value || !*value)
        return ENVIRONMENT_OFF;
    for (int on = 0; on < 2; on++)
        for (int i = 0; i < 4; i++)
            if (strcasecmp(value, words[on][i]) == 0)
                return on ? ENVIRONMENT_ON : ENVIRONMENT_OFF;
    return ENVIRONMENT_UNCLEAR;
}

#endif
