/* The texts that name a schedule: see schedule_text.h. */
#include "runtime/device/schedule/schedule_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A whole number at *text; steps over it and the character after it, which must be `end`. */
static bool parse_number(const char **text, char end, uint64_t *number)
{
    char *after = NULL;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoull(*text, &after, 0);
    if (errno || *after != end)
        return false;
    *text = end ? after + 1 : after;
    return true;
}

bool schedule_parse(const char *text, struct schedule_choice *choice)
{
    *choice = (struct schedule_choice){.policy = POLICY_EAGER, .seed = 1};
    const char *colon = strchr(text, ':'), *rest = colon ? colon + 1 : "";
    if (!strcmp(text, "eager"))
        return true;
    choice->policy = POLICY_LAZY;
    if (!strcmp(text, "lazy"))
        return true;
    choice->policy = POLICY_REVERSE;
    if (!strcmp(text, "reverse"))
        return true;
    choice->policy = POLICY_RANDOM;
    if (!strcmp(text, "random"))
        return true;
    if (!strncmp(text, "random:", 7))
        return parse_number(&rest, '\0', &choice->seed);
    choice->policy = POLICY_HOLD;
    if (!strncmp(text, "hold:", 5))
        return parse_number(&rest, '-', &choice->first) &&
               parse_number(&rest, ':', &choice->last) && parse_number(&rest, '\0', &choice->until);
    choice->policy = POLICY_REPLAY;
    choice->file = rest;
    return !strncmp(text, "replay:", 7) && *rest != '\0';
}
