/* The budgets of time for learning and for confirming. See budget.h. */
#include "runtime/tracer/budget.h"

#define MS UINT64_C(1000000)

static bool may_be_spent(const struct budget *budget, uint64_t spent, uint64_t worked)
{
    return spent < budget->allowance || spent - budget->allowance < worked / budget->part;
}

bool budget_launch(struct budget *budget, uint64_t now)
{
    uint64_t last = __atomic_exchange_n(&budget->last_launch, now, __ATOMIC_RELAXED);
    uint64_t gap = last && last < now ? now - last : 0; /* another thread's may be newer */
    if (gap > BUDGET_GAP_MS * MS)
        gap = BUDGET_GAP_MS * MS;
    uint64_t worked = __atomic_add_fetch(&budget->worked, gap, __ATOMIC_RELAXED);
    return may_be_spent(budget, __atomic_load_n(&budget->spent, __ATOMIC_RELAXED), worked);
}

/* Since changed code runs: between launches, and behind the last one, which may be newer than now.
 */
static uint64_t busy_for(const struct budget *budget, uint64_t now)
{
    uint64_t worked = __atomic_load_n(&budget->worked, __ATOMIC_RELAXED) - budget->worked_before;
    uint64_t last = __atomic_load_n(&budget->last_launch, __ATOMIC_RELAXED);
    if (last < budget->busy_since)
        last = budget->busy_since;
    uint64_t wait = last < now ? now - last : 0;
    return worked + (wait < BUDGET_WAIT_MS * MS ? wait : BUDGET_WAIT_MS * MS);
}

static uint64_t spent_by(const struct budget *budget, uint64_t now)
{
    return budget->spent + (budget->busy_since ? busy_for(budget, now) : 0);
}

bool budget_allows(const struct budget *budget, uint64_t now)
{
    return may_be_spent(budget, spent_by(budget, now),
                        __atomic_load_n(&budget->worked, __ATOMIC_RELAXED));
}

void budget_spend(struct budget *budget, uint64_t begin, uint64_t end)
{
    __atomic_store_n(&budget->spent, budget->spent + (end - begin), __ATOMIC_RELAXED);
}

void budget_busy(struct budget *budget, uint64_t now)
{
    if (budget->busy_since)
        return;
    budget->busy_since = now;
    budget->worked_before = __atomic_load_n(&budget->worked, __ATOMIC_RELAXED);
}

void budget_idle(struct budget *budget, uint64_t now)
{
    __atomic_store_n(&budget->spent, spent_by(budget, now), __ATOMIC_RELAXED);
    budget->busy_since = 0;
}
