/* See operator_deferred.h. */
#include "runtime/hook/operator/operator_deferred.h"
#include "csan/base/access_copy.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"

struct beginning {
    struct backlog_piece piece;
    struct operators *owner;
    struct operation_library call;
    struct csan_access accesses[];
};

struct ending {
    struct backlog_piece piece;
    struct operators *owner;
};

static __thread struct {
    struct operators *owner; /* while one runs */
    bool behind;             /* something was put off since the operators last changed at once */
} self __attribute__((tls_model("initial-exec")));

bool late_operator_or_other(void)
{
    return self.owner || (!self.behind && operation_has_operator());
}

struct operators *late_operator_owner(void)
{
    return self.owner;
}

static void begin_work(const struct backlog_piece *piece)
{
    const struct beginning *beginning = (const struct beginning *)piece;
    struct operators *before = operation_act_for(beginning->owner);
    operation_library_begin(&beginning->call);
    operation_act_for(before);
}

bool late_operator_begin(const struct operation_library *call)
{
    struct operators *owner = operation_operators();
    const size_t bytes = access_copy_bytes(call->accesses, call->count);
    struct beginning *beginning =
        owner ? (struct beginning *)backlog_begin(sizeof *beginning + bytes) : NULL;
    if (!beginning)
        return false;
    beginning->piece.work = begin_work;
    beginning->piece.context = NULL;
    beginning->owner = owner;
    beginning->call = *call;
    beginning->call.accesses = beginning->accesses;
    access_copy(beginning->accesses, call->accesses, call->count);
    backlog_end(&beginning->piece);
    self.owner = owner;
    self.behind = true;
    return true;
}

static void end_work(const struct backlog_piece *piece)
{
    const struct ending *ending = (const struct ending *)piece;
    struct operators *before = operation_act_for(ending->owner);
    uint64_t base, bytes;
    operation_library_end(&base, &bytes);
    operation_act_for(before);
}

void late_operator_end(void)
{
    struct ending now = {.owner = self.owner};
    struct ending *ending = (struct ending *)backlog_begin(sizeof *ending);
    self.owner = NULL;
    if (!ending) {
        backlog_work_off();
        end_work(&now.piece);
        return;
    }
    ending->piece.work = end_work;
    ending->piece.context = NULL;
    ending->owner = now.owner;
    backlog_end(&ending->piece);
}

bool late_operator_settle(void)
{
    if (!self.behind)
        return true;
    const bool entered = guard_enter(); /* which works off */
    if (entered)
        guard_leave();
    self.behind = false;
    return entered;
}
