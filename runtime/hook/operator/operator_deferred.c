/* See operator_deferred.h. */
#include "runtime/hook/operator/operator_deferred.h"
#include "csan/base/access_copy.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"

struct beginning {
    struct deferred_piece piece;
    struct operators *owner;
    struct operator_library call;
    struct csan_access accesses[];
};

struct ending {
    struct deferred_piece piece;
    struct operators *owner;
};

static __thread struct {
    struct operators *owner; /* while one runs */
} self __attribute__((tls_model("initial-exec")));

bool operator_deferred_or_other(void)
{
    return self.owner || (operator_is_open() && !operator_is_behind());
}

struct operators *operator_deferred_owner(void)
{
    return self.owner;
}

static void begin_work(const struct deferred_piece *piece)
{
    const struct beginning *beginning = (const struct beginning *)piece;
    struct operators *before = operator_act_for(beginning->owner);
    operator_library_begin(&beginning->call);
    operator_act_for(before);
}

bool operator_deferred_begin(const struct operator_library *call)
{
    struct operators *owner =
        host_access_concerns(call->accesses, call->count) ? NULL : operators_of_thread();
    const size_t bytes = access_copy_bytes(call->accesses, call->count);
    struct beginning *beginning =
        owner ? (struct beginning *)deferred_begin(sizeof *beginning + bytes) : NULL;
    if (!beginning)
        return false;
    beginning->piece.work = begin_work;
    beginning->piece.context = NULL;
    beginning->owner = owner;
    beginning->call = *call;
    beginning->call.accesses = beginning->accesses;
    access_copy(beginning->accesses, call->accesses, call->count);
    deferred_end(&beginning->piece);
    self.owner = owner;
    operator_falls_behind();
    return true;
}

static void end_work(const struct deferred_piece *piece)
{
    const struct ending *ending = (const struct ending *)piece;
    struct operators *before = operator_act_for(ending->owner);
    uint64_t base, bytes;
    operator_library_end(&base, &bytes);
    operator_act_for(before);
}

void operator_deferred_end(void)
{
    struct ending now = {.owner = self.owner};
    struct ending *ending = (struct ending *)deferred_begin(sizeof *ending);
    self.owner = NULL;
    if (!ending) {
        deferred_flush();
        end_work(&now.piece);
        return;
    }
    ending->piece.work = end_work;
    ending->piece.context = NULL;
    ending->owner = now.owner;
    deferred_end(&ending->piece);
}
