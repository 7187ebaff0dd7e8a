#include "judge.h"
#include "world.h"

#include <string.h>

enum { PAGE_BYTES = 512, PAGES = 256 };

/* What is said of a byte. */
enum { RACES = 1, RACES_SURELY = 2, REPORTED = 4, REPORTED_SURELY = 8 };

struct page {
    uint64_t base;
    uint8_t said[PAGE_BYTES];
};

struct runs {
    struct {
        uint64_t start, end;
    } items[256];
    unsigned count;
};

static struct {
    struct world world;
    struct page pages[PAGES];
    unsigned page_count, page_last;
    bool functions; /* the program has some */
    bool left_out;
    uint64_t changes;
} judge;

static const uint8_t csan_kinds[] = {[TOUCH_READ] = CSAN_READ,
                                     [TOUCH_WRITE] = CSAN_WRITE,
                                     [TOUCH_ATOMIC] = CSAN_ATOMIC,
                                     [TOUCH_BIRTH] = CSAN_ALLOCATE,
                                     [TOUCH_FREE] = CSAN_FREE};

/* ---- Bytes ---- */

static uint8_t *byte_at(uint64_t address)
{
    static uint8_t lost;
    uint64_t base = address / PAGE_BYTES * PAGE_BYTES;
    if (judge.page_last < judge.page_count && judge.pages[judge.page_last].base == base)
        return &judge.pages[judge.page_last].said[address - base];
    for (unsigned i = 0; i <= judge.page_count && i < PAGES; i++) {
        struct page *page = &judge.pages[i];
        if (i == judge.page_count) {
            judge.page_count++;
            memset(page, 0, sizeof *page);
            page->base = base;
        }
        if (page->base != base)
            continue;
        judge.page_last = i;
        return &page->said[address - base];
    }
    return &lost;
}

static void say(uint64_t start, uint64_t end, uint8_t what)
{
    for (uint64_t i = start; i < end; i++)
        *byte_at(i) |= what;
}

static void say_races(void *user, uint64_t start, uint64_t end)
{
    say(start, end, *(enum verdict *)user == VERDICT_CERTAIN ? RACES | RACES_SURELY : RACES);
}

static void note_left_out(void *user, uint64_t start, uint64_t end)
{
    (void)user;
    judge.left_out |= start < end;
}

static void mark_races(void)
{
    const struct world *world = &judge.world;
    for (unsigned i = 0; i < world->touch_count; i++)
        for (unsigned j = i + 1; j < world->touch_count; j++) {
            enum verdict verdict = world_verdict(world, &world->touches[i], &world->touches[j]);
            if (verdict == VERDICT_LEFT_OUT)
                world_common(&world->touches[i], &world->touches[j], note_left_out, NULL);
            if (verdict >= VERDICT_POSSIBLE)
                world_common(&world->touches[i], &world->touches[j], say_races, &verdict);
        }
}

/* ---- Reports ---- */

static void add_run(void *user, uint64_t start, uint64_t end)
{
    struct runs *runs = user;
    if (runs->count < sizeof runs->items / sizeof *runs->items) {
        runs->items[runs->count].start = start;
        runs->items[runs->count++].end = end;
    }
}

static bool runs_contain(const struct runs *runs, uint64_t address)
{
    for (unsigned i = 0; i < runs->count; i++)
        if (address >= runs->items[i].start && address < runs->items[i].end)
            return true;
    return false;
}

static bool is_side(const struct touch *touch, const struct csan_race_access *side)
{
    return touch->number == side->sequence && csan_kinds[touch->kind] == side->kind;
}

/* One range, in one piece: csan brings several together, or takes them apart. */
static bool is_plain(const struct touch *touch)
{
    const struct world *world = &judge.world;
    for (unsigned i = 0; i < world->touch_count; i++) {
        const struct touch *other = &world->touches[i];
        if (other != touch && other->number == touch->number && other->kind == touch->kind)
            return false;
    }
    return touch->rows == 1;
}

/* Which owner an access belongs to depends on where csan cuts it; and, in memory of no allocation,
 * on which declared blocks came to lie together there, and for how long. */
static bool owner_is_sure(const struct touch *touch)
{
    return touch->memory != 0 && is_plain(touch);
}

static bool same_kind(const struct csan_race *race, const struct touch *first,
                      const struct touch *second)
{
    int kind = world_race_kind(&judge.world, first, second);
    if (kind == race->kind)
        return true;
    bool reuse = kind == CSAN_RACE_REUSE, reported = race->kind == CSAN_RACE_REUSE;
    bool plain = kind == CSAN_RACE_DATA || kind == CSAN_RACE_ATOMIC;
    bool plainly = race->kind == CSAN_RACE_DATA || race->kind == CSAN_RACE_ATOMIC;
    return ((reuse && plainly) || (plain && reported)) &&
           !(owner_is_sure(first) && owner_is_sure(second) && !judge.functions);
}

/* The pairs of touches that the report may mean. csan brings the ranges of a kernel together, so
 * several may be one to it. */
struct meant {
    struct runs runs;
    bool whole; /* one range on each side, in one piece: the report names all its bytes */
};

/* Which of the two csan saw first is its own affair: what waits for a host function is seen late.
 */
static bool may_mean(const struct csan_race *race, const struct touch *first,
                     const struct touch *second)
{
    return (is_side(first, &race->previous) && is_side(second, &race->current)) ||
           (is_side(first, &race->current) && is_side(second, &race->previous));
}

static void find_meant(const struct csan_race *race, struct meant *meant)
{
    const struct world *world = &judge.world;
    meant->runs.count = 0;
    meant->whole = true;
    for (unsigned i = 0; i < world->touch_count; i++)
        for (unsigned j = i + 1; j < world->touch_count; j++) {
            const struct touch *first = &world->touches[i], *second = &world->touches[j];
            if (!may_mean(race, first, second))
                continue;
            enum verdict verdict = world_verdict(world, first, second);
            meant->whole &= is_plain(first) && is_plain(second);
            if (verdict == VERDICT_OPTIONAL ||
                (same_kind(race, first, second) &&
                 verdict == (race->possible ? VERDICT_POSSIBLE : VERDICT_CERTAIN)))
                world_common(first, second, add_run, &meant->runs);
        }
}

/* What lies in a block that the pool took back: that is judged by addresses (tests/unit/
 * test_bounds.c), and no order of the program's matters. */
static bool is_of_freed_block(const struct csan_race *race)
{
    return race->kind == CSAN_RACE_USE_AFTER_FREE && race->previous.sequence == 0;
}

/* A store of the host's that only the content of memory shows: there must be one that races with
 * the op, among the bytes that the report has. */
static bool is_change(const struct csan_race *race)
{
    static const char name[] = "the host's store before the call";
    return race->current.host && race->current.name && strcmp(race->current.name, name) == 0;
}

static bool is_changed_too_early(const struct csan_race *race, const struct touch *source)
{
    const struct world *world = &judge.world;
    const struct touch reported = {
        .base = race->address, .width = race->bytes, .rows = 1, .kind = TOUCH_READ};
    for (unsigned i = 0; i < world->touch_count; i++) {
        const struct touch *store = &world->touches[i];
        struct runs runs = {.count = 0};
        if (!store->unseen || store->kind != TOUCH_WRITE ||
            order_before(&world->order, source->node, store->node) ||
            order_before(&world->order, store->node, source->node))
            continue;
        world_common(&reported, store, add_run, &runs);
        if (runs.count)
            return true;
    }
    return false;
}

static bool take_change(const struct csan_race *race)
{
    const struct world *world = &judge.world;
    judge.changes++;
    for (unsigned i = 0; i < world->touch_count; i++)
        if (is_side(&world->touches[i], &race->previous) &&
            is_changed_too_early(race, &world->touches[i]))
            return true;
    return false;
}

/* Reports of strided accesses name the first run of several. */
static bool take_report(const struct csan_race *race)
{
    struct meant meant;
    uint8_t what = race->possible ? REPORTED : REPORTED | REPORTED_SURELY;
    if (is_of_freed_block(race))
        return true;
    if (is_change(race))
        return take_change(race);
    find_meant(race, &meant);
    for (uint64_t i = 0; i < race->bytes; i++)
        if (!runs_contain(&meant.runs, race->address + i))
            return false;
    if (meant.whole)
        say(race->address, race->address + race->bytes, what);
    for (unsigned i = 0; !meant.whole && i < meant.runs.count; i++)
        say(meant.runs.items[i].start, meant.runs.items[i].end, what);
    return true;
}

/* ---- The verdict ---- */

/* Which op of the program csan's number is, from 1; 0: none. */
static unsigned op_of(const struct program *program, const struct play *play, uint64_t number)
{
    unsigned found = 0;
    uint64_t best = 0;
    for (unsigned i = 0; i < program->count; i++) {
        const struct happening *happening = &play->happenings[i];
        if (happening->done && happening->number > best && happening->number <= number) {
            best = happening->number;
            found = i + 1;
        }
    }
    return found;
}

/* The address in words. */
static const char *name_byte(const struct play *play, uint64_t address, char name[64])
{
    static const char *const buffers[] = {"d", "pinned", "pageable", "managed"};
    for (int i = 0; i < BUFFER_DYNAMIC; i++)
        if (address - play->buffers[i] < BUFFER_BYTES) {
            snprintf(name, 64, "%s + %d", buffers[i], (int)(address - play->buffers[i]));
            return name;
        }
    snprintf(name, 64, "%#llx", (unsigned long long)address);
    return name;
}

static void describe_false(const struct program *program, const struct play *play,
                           const struct csan_race *race, char *text)
{
    char name[64];
    snprintf(text, JUDGE_TEXT,
             "csan reports a %srace of kind %d between op %u (access %d) and op %u (access %d) at "
             "%s, %d bytes; by brute force they do not race so",
             race->possible ? "possible " : "", race->kind,
             op_of(program, play, race->previous.sequence), race->previous.kind,
             op_of(program, play, race->current.sequence), race->current.kind,
             name_byte(play, race->address, name), (int)race->bytes);
}

static void report_missed(void *user, uint64_t start, uint64_t end)
{
    struct runs *runs = user;
    if (runs->items[0].start >= start && runs->items[0].start < end)
        runs->count = 1;
}

static void describe_missed(const struct program *program, const struct play *play,
                            uint64_t address, uint8_t said, char *text)
{
    const struct world *world = &judge.world;
    char name[64];
    bool surely = (said & RACES_SURELY) && !(said & REPORTED_SURELY);
    int length = snprintf(text, JUDGE_TEXT, "csan reports no %srace at %s; by brute force there:",
                          surely ? "certain " : "", name_byte(play, address, name));
    for (unsigned i = 0; i < world->touch_count; i++)
        for (unsigned j = i + 1; j < world->touch_count; j++) {
            const struct touch *first = &world->touches[i], *second = &world->touches[j];
            struct runs at = {.items = {{address, 0}}};
            if (world_verdict(world, first, second) < (surely ? VERDICT_CERTAIN : VERDICT_POSSIBLE))
                continue;
            world_common(first, second, report_missed, &at);
            if (at.count && length < JUDGE_TEXT - 64)
                length += snprintf(text + length, JUDGE_TEXT - (size_t)length, " ops %u and %u;",
                                   op_of(program, play, first->number),
                                   op_of(program, play, second->number));
        }
}

bool judge_play(const struct program *program, const struct play *play, bool traced,
                enum waits waits, char *text)
{
    if (!world_make(&judge.world, program, play, traced, waits)) {
        snprintf(text, JUDGE_TEXT, "what came of the program goes round in a circle");
        return false;
    }
    if (play->stuck) {
        snprintf(text, JUDGE_TEXT, "csan is stuck: something it holds back is never decided");
        return false;
    }
    judge.page_count = judge.page_last = 0;
    judge.left_out = false;
    judge.changes = 0;
    judge.functions = program_has_functions(program);
    mark_races();
    for (size_t i = 0; i < play->race_count; i++)
        if (!take_report(&play->races[i])) {
            describe_false(program, play, &play->races[i], text);
            return false;
        }
    for (unsigned i = 0; i < judge.page_count; i++)
        for (unsigned j = 0; j < PAGE_BYTES; j++) {
            uint8_t said = judge.pages[i].said[j];
            if (((said & RACES) && !(said & REPORTED)) ||
                ((said & RACES_SURELY) && !(said & REPORTED_SURELY))) {
                describe_missed(program, play, judge.pages[i].base + j, said, text);
                return false;
            }
        }
    return true;
}

bool judge_left_out(void)
{
    return judge.left_out;
}

uint64_t judge_changes(void)
{
    return judge.changes;
}
