/* See waits.h. Clocks are those of csan/order, with the recording's numbers of lanes. A number that
 * is used again goes on counting, so an epoch never stands for two things.
 *
 * A lane's epoch advances with each op, with each join that teaches it something, and with each
 * record of an event. `work` is the newest that is no record, nor a join of records alone. Who
 * knows the work of a lane as of a snapshot knows all that streams can learn of the snapshot. The
 * host may learn of a record, too. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/waits.h"
#include "csan/base/array.h"
#include "csan/order/clock.h"

#include <csan/csan.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { NUMBER_MAX = 1 << 24, TAUGHT_KEPT = 64, NO_LANE = -1 };

/* What was the case at some moment. */
struct moment {
    struct clock *clock; /* NULL: nothing */
    struct clock
        *asked; /* of all lanes: up to their newest ops and records, which is what counts */
    epoch_t epoch, work; /* of its lane, the second without records; 0: of many lanes, or none */
    bool known;          /* false: a promise, or there is none */
};

/* A wait that taught something. */
struct acquisition {
    uint64_t site; /* 0: the order of default streams */
    struct moment moment;
};

/* What a lane or a thread knows, and by which waits; the newest are kept. */
struct knower {
    struct clock *clock;
    struct acquisition acquisitions[TAUGHT_KEPT];
    uint64_t taught;
};

enum lane_class { LANE_NONE, LANE_DEVICE, LANE_ASIDE, LANE_HOST };

struct wait_lane {
    uint64_t sequence, work;
    uint64_t asked;  /* of the newest op or record of a device; joins that came behind are none */
    uint64_t thread; /* that makes it wait; 0: none did */
    bool shared;     /* several threads do */
    enum lane_class class;
    struct knower *knower; /* NULL: knows nothing */
};

struct counted_site {
    uint64_t site;
    size_t index;
    UT_hash_handle hh;
};

struct waits {
    struct wait_lane *lanes;
    size_t lane_capacity;
    struct moment *snapshots, *events;
    size_t snapshot_capacity, event_capacity;
    struct knower **threads;
    size_t thread_capacity;
    uint64_t context, thread; /* of the entries that come */
    bool several;             /* threads */
    struct clock *spare;

    struct counted_site *index;
    struct wait_site *sites;
    size_t site_count, site_capacity;

    /* the step before a stream's wait, and the host's wait that goes on */
    struct {
        bool open;
        uint64_t lane, site;
        enum wait_kind kind;
        bool unknown, ordered, any;
        enum wait_reason reason;
        uint64_t by;
    } now;
    size_t newest; /* index + 1 of the site whose newest wait ordered nothing; 0: it did */
    bool failed;
};

/* ---- moments and who knows them */

static void moment_clear(struct moment *moment)
{
    clock_release(moment->clock);
    clock_release(moment->asked);
    *moment = (struct moment){0};
}

static struct moment moment_share(const struct moment *moment)
{
    if (moment->clock)
        clock_share(moment->clock);
    if (moment->asked)
        clock_share(moment->asked);
    return *moment;
}

static bool moment_has(const struct moment *moment, epoch_t epoch)
{
    if (moment->epoch && epoch_lane(moment->epoch) == epoch_lane(epoch) &&
        epoch_sequence(epoch) <= epoch_sequence(moment->epoch))
        return true;
    return moment->clock && clock_knows(moment->clock, epoch);
}

static bool clock_covers(const struct clock *clock, const struct clock *other)
{
    for (uint32_t i = 0; i < other->lanes; i++)
        if (other->known[i] > clock_known(clock, i))
            return false;
    return true;
}

static bool covers_nothing(const struct moment *moment, bool records)
{
    const struct clock *clock = moment->asked ? moment->asked : moment->clock;
    for (uint32_t i = 0; clock && i < clock->lanes; i++)
        if (clock->known[i])
            return false;
    return !epoch_sequence(records ? moment->epoch : moment->work);
}

static bool knows(const struct knower *knower, const struct moment *moment, bool records)
{
    const epoch_t epoch = records ? moment->epoch : moment->work;
    if (covers_nothing(moment, records))
        return true;
    if (!knower)
        return false;
    if (moment->epoch)
        return clock_knows(knower->clock, epoch);
    return clock_covers(knower->clock, moment->asked ? moment->asked : moment->clock);
}

/* The earliest wait that is kept and taught it; NULL: none is kept. */
static const struct acquisition *acquisition_of(const struct knower *knower,
                                                const struct moment *moment, bool records)
{
    const epoch_t epoch = records ? moment->epoch : moment->work;
    const uint64_t kept = !knower ? 0 : knower->taught > TAUGHT_KEPT ? TAUGHT_KEPT : knower->taught;
    for (uint64_t back = kept; back > 0; back--) {
        const struct acquisition *acquisition =
            &knower->acquisitions[(knower->taught - back) % TAUGHT_KEPT];
        if (moment->epoch ? moment_has(&acquisition->moment, epoch) : back == 1)
            return acquisition;
    }
    return NULL;
}

static struct knower *knower_create(void)
{
    struct knower *knower = calloc(1, sizeof *knower);
    if (knower && !(knower->clock = clock_create(1))) {
        free(knower);
        return NULL;
    }
    return knower;
}

static void knower_destroy(struct knower *knower)
{
    if (!knower)
        return;
    for (int i = 0; i < TAUGHT_KEPT; i++)
        moment_clear(&knower->acquisitions[i].moment);
    clock_release(knower->clock);
    free(knower);
}

static void learn(struct waits *waits, struct knower **knower, const struct moment *moment,
                  uint64_t site)
{
    if (!*knower && !(*knower = knower_create())) {
        waits->failed = true;
        return;
    }
    struct acquisition *acquisition = &(*knower)->acquisitions[(*knower)->taught++ % TAUGHT_KEPT];
    moment_clear(&acquisition->moment);
    *acquisition = (struct acquisition){site, moment_share(moment)};
    if (moment->clock && !clock_join(&(*knower)->clock, moment->clock, &waits->spare))
        waits->failed = true;
    if (moment->epoch && !clock_learn(&(*knower)->clock, moment->epoch, &waits->spare))
        waits->failed = true;
}

/* ---- lanes, snapshots, events */

static struct wait_lane *lane_at(struct waits *waits, uint64_t number)
{
    if (number >= EPOCH_LANES || !array_reach(&waits->lanes, number, &waits->lane_capacity, 16,
                                              NUMBER_MAX, sizeof *waits->lanes)) {
        waits->failed = true;
        return NULL;
    }
    return &waits->lanes[number];
}

static struct moment *moment_at(struct waits *waits, struct moment **all, size_t *capacity,
                                uint64_t number)
{
    if (!array_reach(all, number, capacity, 16, NUMBER_MAX, sizeof **all)) {
        waits->failed = true;
        return NULL;
    }
    return &(*all)[number];
}

static struct moment *snapshot_at(struct waits *waits, const struct recorded *recorded)
{
    return moment_at(waits, &waits->snapshots, &waits->snapshot_capacity,
                     recorded->value[FIELD_SNAPSHOT]);
}

static struct moment *event_at(struct waits *waits, const struct recorded *recorded)
{
    return moment_at(waits, &waits->events, &waits->event_capacity, recorded->value[FIELD_EVENT]);
}

static enum lane_class class_of(const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_HOST_LANE)
        return LANE_HOST;
    if (recorded->kind == RECORDED_UNPROMISED ||
        (recorded->kind == RECORDED_LANE_AS && recorded->value[FIELD_FLAGS] == CSAN_LANE_CALL))
        return LANE_ASIDE;
    return LANE_DEVICE;
}

static void take_lane(struct waits *waits, const struct recorded *recorded)
{
    struct wait_lane *lane = lane_at(waits, recorded->value[FIELD_LANE]);
    if (!lane)
        return;
    knower_destroy(lane->knower);
    *lane = (struct wait_lane){.sequence = lane->sequence,
                               .work = lane->work,
                               .asked = lane->asked,
                               .class = class_of(recorded)};
}

enum advance { BY_OP, BY_RECORD, BY_JOIN, BY_JOIN_OF_RECORD };

static void advance(struct wait_lane *lane, enum advance by)
{
    lane->sequence++;
    if (by == BY_OP || by == BY_JOIN)
        lane->work = lane->sequence;
    if ((by == BY_OP || by == BY_RECORD) && lane->class == LANE_DEVICE)
        lane->asked = lane->sequence;
}

static bool is_host(const struct wait_lane *lane, uint64_t number)
{
    return number == CSAN_HOST || lane->class == LANE_HOST;
}

static void take_work(struct waits *waits, uint64_t number)
{
    struct wait_lane *lane = lane_at(waits, number);
    if (lane && !is_host(lane, number))
        advance(lane, BY_OP);
}

static struct moment moment_of(const struct waits *waits, uint64_t number)
{
    const struct wait_lane *lane = &waits->lanes[number];
    if (is_host(lane, number))
        return (struct moment){.known = true};
    return (struct moment){.clock = lane->knower ? clock_share(lane->knower->clock) : NULL,
                           .epoch = epoch_make((uint32_t)number, lane->sequence),
                           .work = epoch_make((uint32_t)number, lane->work),
                           .known = true};
}

static struct moment moment_of_all(struct waits *waits)
{
    const uint32_t count = (uint32_t)waits->lane_capacity;
    struct moment moment = {
        .clock = clock_create(count), .asked = clock_create(count), .known = true};
    for (uint32_t i = 1; moment.clock && moment.asked && i < count; i++) {
        moment.clock->known[i] =
            waits->lanes[i].class == LANE_DEVICE ? waits->lanes[i].sequence : waits->lanes[i].asked;
        moment.asked->known[i] = waits->lanes[i].asked;
    }
    waits->failed |= !moment.clock || !moment.asked;
    return moment;
}

static void take_snapshot(struct waits *waits, const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_LANE];
    struct moment *snapshot = snapshot_at(waits, recorded), taken = {0};
    if (!snapshot)
        return;
    if (recorded->kind == RECORDED_SNAPSHOT_ALL)
        taken = moment_of_all(waits);
    else if (recorded->kind == RECORDED_SNAPSHOT_EVENT) {
        const struct moment *event = event_at(waits, recorded);
        taken = event ? moment_share(event) : taken;
    } else if (recorded->kind == RECORDED_SNAPSHOT && lane_at(waits, number))
        taken = moment_of(waits, number);
    moment_clear(snapshot);
    *snapshot = taken;
}

static void take_record(struct waits *waits, const struct recorded *recorded)
{
    struct moment *event = event_at(waits, recorded), recorded_now = {0};
    if (!event)
        return;
    if (recorded->kind == RECORDED_RECORD_SNAPSHOT) {
        const struct moment *snapshot = snapshot_at(waits, recorded);
        recorded_now = snapshot ? moment_share(snapshot) : recorded_now;
    } else if (recorded->kind == RECORDED_RECORD) {
        const uint64_t number = recorded->value[FIELD_LANE];
        struct wait_lane *lane = lane_at(waits, number);
        if (!lane)
            return;
        if (!is_host(lane, number))
            advance(lane, BY_RECORD);
        recorded_now = moment_of(waits, number);
    }
    moment_clear(event);
    *event = recorded_now;
}

/* ---- what waits order */

static struct wait_site *site_of(struct waits *waits, uint64_t number, enum wait_kind kind)
{
    struct counted_site *counted;
    HASH_FIND(hh, waits->index, &number, sizeof number, counted);
    if (counted)
        return &waits->sites[counted->index];
    counted = calloc(1, sizeof *counted);
    if (!counted || !array_room(&waits->sites, waits->site_count, &waits->site_capacity, 16,
                                NUMBER_MAX, sizeof *waits->sites)) {
        free(counted);
        waits->failed = true;
        return NULL;
    }
    *counted = (struct counted_site){.site = number, .index = waits->site_count};
    HASH_ADD(hh, waits->index, site, sizeof counted->site, counted);
    waits->sites[waits->site_count] = (struct wait_site){.site = number, .kind = kind};
    return &waits->sites[waits->site_count++];
}

/* The wait is over: count it. */
static void count(struct waits *waits)
{
    struct wait_site *site = site_of(waits, waits->now.site, waits->now.kind);
    waits->now.open = false;
    waits->newest = 0;
    if (!site)
        return;
    site->calls++;
    if (!waits->now.any || waits->now.ordered || waits->now.unknown)
        return;
    site->nothing++;
    site->reason = waits->now.reason;
    site->by = waits->now.by;
    waits->newest = (size_t)(site - waits->sites) + 1;
}

static void begin(struct waits *waits, const struct recorded *recorded, enum wait_kind kind)
{
    memset(&waits->now, 0, sizeof waits->now);
    waits->now.open = true;
    waits->now.lane = recorded->value[FIELD_LANE];
    waits->now.site = recorded->value[FIELD_SITE];
    waits->now.kind = kind;
}

static void because(struct waits *waits, const struct knower *knower, const struct moment *moment,
                    bool records)
{
    const struct acquisition *acquisition = acquisition_of(knower, moment, records);
    if (covers_nothing(moment, records)) {
        if (waits->now.reason == WAIT_REASON_NONE)
            waits->now.reason = WAIT_REASON_NO_WORK;
        return;
    }
    waits->now.reason =
        acquisition && !acquisition->site ? WAIT_REASON_STREAMS : WAIT_REASON_WAITED;
    waits->now.by = acquisition ? acquisition->site : 0;
}

/* What the calling thread waited for. */
static struct knower **thread_now(struct waits *waits)
{
    if (!array_reach(&waits->threads, waits->thread, &waits->thread_capacity, 16, NUMBER_MAX,
                     sizeof(*waits->threads))) {
        waits->failed = true;
        return NULL;
    }
    return &waits->threads[waits->thread];
}

/* In the host's wait: the thread joins that. */
static void host_joins(struct waits *waits, const struct moment *moment)
{
    struct knower **thread = thread_now(waits);
    if (!thread)
        return;
    waits->now.any = true;
    waits->now.unknown |= !moment->known;
    if (!moment->known)
        return;
    if (knows(*thread, moment, true)) {
        because(waits, *thread, moment, true);
        return;
    }
    waits->now.ordered = true;
    learn(waits, thread, moment, waits->now.site);
}

static bool is_own(const struct moment *moment, uint64_t lane)
{
    return moment->epoch && epoch_lane(moment->epoch) == lane;
}

/* A stream joins that: by a wait of the program's, or else by a rule of streams. */
static void lane_joins(struct waits *waits, struct wait_lane *lane, uint64_t number,
                       const struct moment *moment, uint64_t site)
{
    if (!moment->known || is_own(moment, number) || knows(lane->knower, moment, true))
        return;
    if (lane->shared || (!site && waits->several))
        return;
    const bool work = !knows(lane->knower, moment, false);
    learn(waits, &lane->knower, moment, site);
    advance(lane, work ? BY_JOIN : BY_JOIN_OF_RECORD);
}

static void take_join(struct waits *waits, uint64_t number, const struct moment *moment)
{
    struct wait_lane *lane = lane_at(waits, number);
    if (!lane)
        return;
    const bool waiting = waits->now.open && waits->now.kind != WAIT_KIND_STREAM_EVENT;
    if (!is_host(lane, number))
        lane_joins(waits, lane, number, moment, 0);
    else if (waiting && number == waits->now.lane)
        host_joins(waits, moment);
}

static void take_join_lane(struct waits *waits, const struct recorded *recorded)
{
    const uint64_t other = recorded->value[FIELD_OTHER];
    const struct wait_lane *of = lane_at(waits, other);
    if (!of || is_host(of, other))
        return;
    struct moment moment = moment_of(waits, other);
    take_join(waits, recorded->value[FIELD_LANE], &moment);
    moment_clear(&moment);
}

/* A stream waits for an event, of which the step before says more. */
static void take_wait(struct waits *waits, const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_LANE];
    struct wait_lane *lane = lane_at(waits, number);
    const struct moment *event = event_at(waits, recorded);
    struct knower **thread = thread_now(waits);
    if (!lane || !event || !thread || is_host(lane, number))
        return;
    const bool explained =
        waits->now.open && waits->now.lane == number && waits->now.kind == WAIT_KIND_STREAM_EVENT;
    if (lane->thread && lane->thread != waits->thread)
        lane->shared = true;
    lane->thread = waits->thread;
    waits->now.any = true;
    waits->now.unknown = !event->known || !waits->thread; /* recordings before 1.14 have none */
    if (is_own(event, number))
        waits->now.reason = WAIT_REASON_SAME_STREAM;
    else if (knows(*thread, event, false))
        because(waits, *thread, event, false);
    else if (!lane->shared && knows(lane->knower, event, false))
        because(waits, lane->knower, event, false);
    else
        waits->now.ordered = true;
    const uint64_t site = explained ? waits->now.site : 0;
    if (explained)
        count(waits);
    lane_joins(waits, lane, number, event, site);
}

/* The newest wait was for what other processes record, too. */
static void take_link(struct waits *waits, const struct recorded *recorded)
{
    if (recorded->value[FIELD_FLAGS] != CSAN_LINK_WAIT || !waits->newest)
        return;
    waits->sites[waits->newest - 1].nothing--;
    waits->newest = 0;
}

static enum wait_kind kind_of(uint64_t synchronization)
{
    return synchronization == CSAN_SYNCHRONIZED_EVENT    ? WAIT_KIND_EVENT
           : synchronization == CSAN_SYNCHRONIZED_STREAM ? WAIT_KIND_STREAM
           : synchronization == CSAN_SYNCHRONIZED_DEVICE ? WAIT_KIND_DEVICE
                                                         : WAIT_KIND_COPY;
}

static void take_step(struct waits *waits, const struct recorded *recorded)
{
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_STEP_THREAD:
        waits->several |= waits->thread && waits->thread != recorded->value[FIELD_FIRST];
        waits->thread = recorded->value[FIELD_FIRST];
        return;
    case CSAN_STEP_WAIT:
        begin(waits, recorded, WAIT_KIND_STREAM_EVENT);
        return;
    case CSAN_STEP_WAIT_UNRECORDED:
        begin(waits, recorded, WAIT_KIND_STREAM_EVENT);
        waits->now.any = true;
        waits->now.reason = WAIT_REASON_UNRECORDED;
        count(waits);
        return;
    case CSAN_STEP_HOST_WAIT:
        begin(waits, recorded, kind_of(recorded->value[FIELD_FIRST]));
        return;
    case CSAN_STEP_HOST_WAITED:
        if (waits->now.open)
            count(waits);
        return;
    default:
        return;
    }
}

/* ---- all of them */

struct waits *waits_create(void)
{
    return calloc(1, sizeof(struct waits));
}

void waits_destroy(struct waits *waits)
{
    struct counted_site *site, *next;
    if (!waits)
        return;
    for (size_t i = 0; i < waits->lane_capacity; i++)
        knower_destroy(waits->lanes[i].knower);
    for (size_t i = 0; i < waits->thread_capacity; i++)
        knower_destroy(waits->threads[i]);
    for (size_t i = 0; i < waits->snapshot_capacity; i++)
        moment_clear(&waits->snapshots[i]);
    for (size_t i = 0; i < waits->event_capacity; i++)
        moment_clear(&waits->events[i]);
    HASH_ITER(hh, waits->index, site, next)
    {
        HASH_DELETE(hh, waits->index, site);
        free(site);
    }
    free(waits->lanes);
    free(waits->threads);
    free(waits->snapshots);
    free(waits->events);
    free(waits->sites);
    free(waits->spare);
    free(waits);
}

static void take_moment(struct waits *waits, const struct recorded *recorded)
{
    struct moment *moment;
    switch (recorded->kind) {
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
        take_snapshot(waits, recorded);
        return;
    case RECORDED_RELEASE:
        if ((moment = snapshot_at(waits, recorded)))
            moment_clear(moment);
        return;
    case RECORDED_EVENT:
    case RECORDED_EVENT_DESTROY:
        if ((moment = event_at(waits, recorded)))
            moment_clear(moment);
        return;
    case RECORDED_JOIN:
        if ((moment = snapshot_at(waits, recorded)))
            take_join(waits, recorded->value[FIELD_LANE], moment);
        return;
    default:
        take_record(waits, recorded);
        return;
    }
}

static void take(struct waits *waits, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
    case RECORDED_UNPROMISED:
        take_lane(waits, recorded);
        return;
    case RECORDED_LANE_KIND:
        if (recorded->value[FIELD_FLAGS] == CSAN_LANE_REQUEST &&
            lane_at(waits, recorded->value[FIELD_LANE]))
            waits->lanes[recorded->value[FIELD_LANE]].class = LANE_ASIDE;
        return;
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
    case RECORDED_BIRTH:
    case RECORDED_FREE_BEGIN:
        take_work(waits, recorded->value[FIELD_LANE]);
        return;
    case RECORDED_JOIN_LANE:
        take_join_lane(waits, recorded);
        return;
    case RECORDED_WAIT:
        take_wait(waits, recorded);
        return;
    case RECORDED_LINK:
        take_link(waits, recorded);
        return;
    case RECORDED_STEP:
        take_step(waits, recorded);
        return;
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
    case RECORDED_RELEASE:
    case RECORDED_EVENT:
    case RECORDED_EVENT_DESTROY:
    case RECORDED_JOIN:
    case RECORDED_RECORD:
    case RECORDED_RECORD_SNAPSHOT:
        take_moment(waits, recorded);
        return;
    default:
        return;
    }
}

/* Branches are graphs that are checked by themselves. */
bool waits_take(struct waits *waits, const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_CONTEXT)
        waits->context = recorded->value[FIELD_CONTEXT];
    else if (!waits->context && !waits->failed)
        take(waits, recorded);
    return !waits->failed;
}

const struct wait_site *waits_sites(const struct waits *waits, size_t *count)
{
    *count = waits->site_count;
    return waits->sites;
}
