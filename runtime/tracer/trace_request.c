/* Wishes to trace. See trace_request.h. */
#include "runtime/tracer/trace_request.h"

/* Launches that a wish outlasts, and before its module is patched. */
enum { TURNS = 8, TURNS_PLAIN = 4096 };

/* After so many tries in a row in vain, the next takes 16 wishes, then 32, and so on. */
enum { IN_VAIN = 4, IN_VAIN_MAX = 24 };

void wish_set(struct wish *wish, enum wish_for what)
{
    if (what == WISH_TO_LEARN)
        wish->caught = false;
    wish->turns = 0;
    wish->what = what;
}

bool wish_is_worth_a_try(struct wish *wish)
{
    return !wish_is_never_caught(wish) || ++wish->waited >= 1u << wish->in_vain;
}

void wish_try_begins(struct wish *wish)
{
    wish->turns = 0;
}

bool wish_outlasts_launch(struct wish *wish, bool patched)
{
    return wish->what != WISH_NOTHING && ++wish->turns <= (patched ? TURNS : TURNS_PLAIN);
}

void wish_catch(struct wish *wish)
{
    wish->turns = TURNS; /* it need not outlast another */
    wish->caught = true;
    wish->in_vain = 0;
}

void wish_try_ends(struct wish *wish)
{
    if (wish->what != WISH_TO_LEARN || wish->caught || wish->turns == 0)
        return;
    wish->in_vain += wish->in_vain < IN_VAIN_MAX;
    wish->waited = 0;
}

bool wish_is_never_caught(const struct wish *wish)
{
    return wish->in_vain >= IN_VAIN;
}
