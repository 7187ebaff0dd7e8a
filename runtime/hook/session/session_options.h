/* What the environment asks of csan in this process: CSAN and CSAN_OPTIONS. */
#ifndef RUNTIME_HOOK_SESSION_SESSION_OPTIONS_H
#define RUNTIME_HOOK_SESSION_SESSION_OPTIONS_H

#include "csan/options.h"
#include "runtime/hook/session/access_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Option implicit_sync. */
enum implicit_sync { IMPLICIT_OBSERVED, IMPLICIT_PROMISED, IMPLICIT_NONE };

/* Option values the hooks use. */
struct session_options {
    bool strict_free;          /* report uses that only the wait inside cuMemFree orders */
    bool host_observed;        /* the host is ordered after a host function as soon as that ran */
    uint8_t implicit_sync;     /* enum implicit_sync */
    struct access_rule access; /* options access and trace */
    bool errors;           /* also find other errors: kernels that fail, accesses out of bounds */
    const char *blocking;  /* kernels whose launches wait; NULL: none; "": all; else a template */
    bool verify_ranges;    /* compare the device's trace with PTX's ranges */
    bool list_syncs;       /* name every synchronization */
    const char *add_order; /* "": none */
    bool native_stacks;    /* native frames beside an interpreter's, too */
    int learn_launches, learn_values, learn_cache_mb, learn_memory_mb, learn_warmup_ms;
    int learn_confirm_ms, learn_every;
    int drop_sync; /* the number of the one to leave out; 0: none */
    int verbosity;
    int pending_timeout_ms; /* how long an op waits for what it touches */
    int pending_limit;      /* entries that wait */
    size_t stack_depth;     /* frames of a stack; 0: no stacks */
};
const struct session_options *session_options(void);

/* Whether csan is to be on. In a child that starts anew (`restarted`) wrong settings are not
 * reported, here or later: its parent did so. */
bool session_is_wanted(bool restarted);
/* Reads the options, for session_options too. */
void session_options_read(void);
/* All of them, as last read. */
const struct options *session_all_options(void);

#endif
