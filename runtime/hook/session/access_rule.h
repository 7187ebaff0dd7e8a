/* What option access decides: from where csan takes what a launch touches. Only this file knows the
 * option's values; all others ask for a field of the rule.
 *
 *                  ptx  auto  learn  exact
 *   traces          -    x     x      x     launches are traced
 *   insists         -    -     x      x     also if the PTX or an operator says everything
 *   learns          -    x     x      -     traced launches show what later ones touch
 *   learned_first   -    -     x      -     what was learned replaces what the PTX says exactly
 *   traced_first    -    -     -      x     a launch's own trace replaces all other sources
 *
 * With auto, traces fill in what the PTX and operators leave open. If the source traces every
 * launch, each launch's own trace does that, and nothing is learned; see trace.c. */
#ifndef RUNTIME_HOOK_SESSION_ACCESS_RULE_H
#define RUNTIME_HOOK_SESSION_ACCESS_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct access_rule {
    bool traces, insists, learns, learned_first, traced_first;
    uint8_t number; /* identifies the rule in stored programs (program.c) */
};

/* The rule for the option's value. `trace` is the option of that name: with 0, auto means ptx. */
struct access_rule access_rule_of(const char *value, bool trace);

#endif
