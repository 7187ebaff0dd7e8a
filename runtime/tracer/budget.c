/* Time for confirming. See budget.h. */
#include "runtime/tracer/budget.h"

static void begin_at(struct budget *budget, uint64_t now)
{
    if (!budget->begin)
        budget->begin = now;
}

static uint64_t spent_by(const struct budget *budget, uint64_t now)
{
    return budget->spent + (budget->busy_since ? now - budget->busy_since : 0);
}

uint64_t budget_opens(const struct budget *budget, uint64_t now)
{
    const uint64_t allowance = BUDGET_ALLOWANCE_MS * UINT64_C(1000000);
    uint64_t spent = spent_by(budget, now);
    return spent < allowance ? 0 : budget->begin + (spent - allowance + 1) * BUDGET_PART;
}

void budget_spend(struct budget *budget, uint64_t begin, uint64_t end)
{
    begin_at(budget, begin);
    budget->spent += end - begin;
}

void budget_busy(struct budget *budget, uint64_t now)
{
    begin_at(budget, now);
    if (!budget->busy_since)
        budget->busy_since = now;
}

void budget_idle(struct budget *budget, uint64_t now)
{
    budget->spent = spent_by(budget, now);
    budget->busy_since = 0;
}
