/* See page_guard.h. */
#include "runtime/hook/host/page_guard.h"
#include "csan/base/now.h"
#include "runtime/hook/host/handler_lock.h"
#include "runtime/hook/host/host_page.h"
#include "runtime/hook/host/kernel_call.h"
#include "runtime/hook/host/unguarded.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    TABLE = 1 << 15,  /* pages; a power of two */
    WHOLE_PAGES = 64, /* of a larger range some are guarded: */
    SAMPLE_PAGES = 16,
    RECORDS_MOST = 4096,
    SECONDS_MOST = 5 /* then the lock's owner was stopped, or is not in this process */
};

/* What the processor may do to a page. */
enum access { OPEN, READ_ONLY, CLOSED };

struct page {
    uint64_t number;           /* 0: free */
    uint32_t writers, readers; /* ops that are not over */
    uint8_t now;               /* enum access, as the kernel has it */
    bool opened;               /* by an access: it stays open until the next op */
    uint16_t steps;            /* threads for which it is open for one instruction */
    uint32_t changes;          /* of its protection; wraps around */
};

/* An op's. Its pages are first..first+count-1, or those listed. */
struct record {
    uint64_t epoch;
    struct range bytes;
    uint64_t first;
    uint32_t count;
    bool writes, sampled, word;
    struct lmad touched; /* of the bytes, where there are gaps between */
    uint64_t sample[SAMPLE_PAGES];
};

static struct {
    uint32_t lock;
    uint32_t paused; /* devices that touch memory as the host does */
    bool on;
    struct page_guard_limits limits;
    struct page pages[TABLE];
    uint32_t used;                       /* of the table */
    struct record records[RECORDS_MOST]; /* page_guard_count of them */
    uint64_t guarded;                    /* bytes */
    uint64_t stretches;                  /* of pages, at most so many */
    uint64_t heard;    /* epoch of the newest op of which a word could not be guarded */
    uint64_t turn;     /* of sampling */
    int64_t credit;    /* nanoseconds that may be spent in the kernel, as of */
    uint64_t credited; /* this time */
    struct page_guard_counts counts;
    uint64_t opened, left_out; /* without the lock: pages and ops; atomic */
} guard;

size_t page_guard_count;

/* ---- The lock ---- */

static __thread bool holds __attribute__((tls_model("initial-exec")));

static bool take(void)
{
    return handler_lock_take(&guard.lock, &holds, SECONDS_MOST);
}

static void give(void)
{
    handler_lock_give(&guard.lock, &holds);
}

/* ---- Pages ---- */

static struct page *page_find(uint64_t number, bool make)
{
    uint64_t slot = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 49;
    for (uint32_t i = 0; i < TABLE; i++, slot = (slot + 1) % TABLE) {
        struct page *page = &guard.pages[slot];
        if (page->number == number)
            return page;
        if (page->number == 0) {
            if (!make || guard.used >= TABLE / 4 * 3)
                return NULL;
            guard.used++;
            page->number = number;
            return page;
        }
    }
    return NULL;
}

static enum access wanted(const struct page *page)
{
    if (page->opened || page->steps || guard.paused)
        return OPEN;
    return page->writers ? CLOSED : page->readers ? READ_ONLY : OPEN;
}

static bool change(uint64_t first, uint64_t count, enum access access)
{
    static const int protection[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE};
    return kernel_call(SYS_mprotect, (long)(first << host_page_shift()),
                       (long)(count << host_page_shift()), protection[access], 0, 0, 0) == 0;
}

/* The time that may be spent grows steadily, up to a tenth of a second's. So what is guarded is
 * spread over time, and a short run pays no more than a part of a long one. */
static bool has_credit(void)
{
    enum { BURSTS = 10 };
    const uint64_t now = now_coarse();
    const int64_t a_second = (int64_t)guard.limits.microseconds * 1000;
    const uint64_t passed = now - guard.credited < 1000000000 ? now - guard.credited : 1000000000;
    guard.credited = now;
    guard.credit += (int64_t)(passed * guard.limits.microseconds / 1000000);
    if (guard.credit > a_second / BURSTS)
        guard.credit = a_second / BURSTS;
    return guard.credit > 0;
}

/* A thread that was stopped in between has not spent that time. */
static bool protect(uint64_t first, uint64_t count, enum access access)
{
    enum { LONGEST = 100000 };
    const uint64_t before = now_of(CLOCK_MONOTONIC);
    const bool changed = change(first, count, access);
    const uint64_t spent = now_of(CLOCK_MONOTONIC) - before;
    guard.counts.changes++;
    guard.credit -= (int64_t)(spent < LONGEST ? spent : LONGEST);
    return changed;
}

/* Neighbours that want the same are changed in one call. */
struct run {
    uint64_t first, count;
    enum access access;
};

/* Memory that is gone, or lies in huge pages, or the kernel's table of stretches is full: to guard
 * it was refused, and it stays open. To open whole ops needs no room in that table. */
static void refused(const struct run *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        struct page *page = page_find(run->first + i, false);
        page->now = OPEN;
        page->opened = true;
    }
    for (size_t i = 0; i < page_guard_count; i++) {
        const struct record *record = &guard.records[i];
        const uint64_t last = (record->bytes.end - 1) >> host_page_shift();
        if (record->first < run->first + run->count && run->first <= last)
            change(record->first, last - record->first + 1, OPEN);
    }
}

static void run_end(struct run *run)
{
    if (run->count && !protect(run->first, run->count, run->access))
        refused(run);
    run->count = 0;
}

static void settle(struct run *run, struct page *page)
{
    const enum access access = wanted(page);
    if (access == page->now) {
        run_end(run);
        return;
    }
    page->now = (uint8_t)access;
    page->changes++;
    if (run->count && (run->access != access || run->first + run->count != page->number))
        run_end(run);
    if (!run->count)
        *run = (struct run){.first = page->number, .access = access};
    run->count++;
}

static uint64_t page_of(uint64_t address)
{
    return address >> host_page_shift();
}

/* ---- Records ---- */

static uint64_t record_page(const struct record *record, uint32_t i)
{
    return record->sampled ? record->sample[i] : record->first + i;
}

static bool record_touches(const struct record *record, struct range bytes)
{
    struct range run;
    if (!range_overlaps(record->bytes, bytes))
        return false;
    return lmad_is_contiguous(&record->touched) ||
           (lmad_next_run(&record->touched, bytes.start, &run.start, &run.end) &&
            run.start < bytes.end);
}

static bool record_touches_page(const struct record *record, uint64_t number)
{
    return lmad_is_contiguous(&record->touched) ||
           record_touches(record, (struct range){number << host_page_shift(),
                                                 (number + 1) << host_page_shift()});
}

/* That page, or the next that is touched. */
static uint64_t touched_from(const struct record *record, uint64_t number)
{
    struct range run;
    return record_touches_page(record, number) ||
                   !lmad_next_run(&record->touched, number << host_page_shift(), &run.start,
                                  &run.end)
               ? number
               : page_of(run.start);
}

/* The ends, and as many from each part between, in another place each time. */
static void sample(struct record *record, uint64_t pages)
{
    guard.turn = guard.turn * UINT64_C(6364136223846793005) + 1442695040888963407u;
    record->sampled = true;
    record->count = SAMPLE_PAGES;
    record->sample[0] = record->first;
    record->sample[SAMPLE_PAGES - 1] = record->first + pages - 1;
    for (uint32_t i = 1; i < SAMPLE_PAGES - 1; i++) {
        const uint64_t from = (i - 1) * (pages - 2) / (SAMPLE_PAGES - 2);
        const uint64_t to = i * (pages - 2) / (SAMPLE_PAGES - 2);
        record->sample[i] =
            touched_from(record, record->first + 1 + from + (guard.turn >> 33) % (to - from));
    }
}

static bool must_stay_open(uint64_t number)
{
    return unguarded_has(
        (struct range){number << host_page_shift(), (number + 1) << host_page_shift()});
}

static struct range pages_of(struct range bytes)
{
    return (struct range){bytes.start >> host_page_shift() << host_page_shift(),
                          (bytes.end + host_page_bytes() - 1) >> host_page_shift()
                                                                     << host_page_shift()};
}

/* Returns how many of its pages are guarded; `touched`: of so many. */
static uint32_t record_guard(const struct record *record, uint32_t *touched)
{
    const bool some_open = unguarded_has(pages_of(record->bytes));
    struct run run = {0};
    uint32_t guarded = 0;
    for (uint32_t i = 0; i < record->count; i++) {
        const uint64_t number = record_page(record, i);
        struct page *page = record_touches_page(record, number) ? page_find(number, true) : NULL;
        if (!page)
            continue;
        page->writers += record->writes;
        page->readers += !record->writes;
        page->opened = some_open && must_stay_open(page->number);
        settle(&run, page);
    }
    run_end(&run);
    for (uint32_t i = 0; i < record->count; i++) {
        const uint64_t number = record_page(record, i);
        if (!record_touches_page(record, number))
            continue;
        const struct page *page = page_find(number, false);
        guarded += page && !page->opened;
        ++*touched;
    }
    return guarded;
}

static uint64_t stretches(const struct record *record)
{
    return record->sampled || !lmad_is_contiguous(&record->touched) ? record->count : 1;
}

static void records_limits(const struct record *record, bool begins)
{
    const uint64_t bytes = (uint64_t)record->count << host_page_shift();
    guard.guarded += begins ? bytes : -bytes;
    guard.stretches += begins ? stretches(record) : -stretches(record);
}

static void record_release(const struct record *record)
{
    struct run run = {0};
    for (uint32_t i = 0; i < record->count; i++) {
        const uint64_t number = record_page(record, i);
        struct page *page = record_touches_page(record, number) ? page_find(number, false) : NULL;
        if (!page)
            continue;
        page->writers -= record->writes && page->writers;
        page->readers -= !record->writes && page->readers;
        page->opened &= page->writers || page->readers;
        settle(&run, page);
    }
    run_end(&run);
}

/* The table fills with pages that are guarded no more. */
static bool is_filled(void)
{
    return __atomic_load_n(&guard.used, __ATOMIC_RELAXED) >= TABLE / 2;
}

static void sweep(void)
{
    if (!is_filled() || page_guard_count)
        return;
    memset(guard.pages, 0, sizeof guard.pages);
    guard.used = 0;
}

void page_guard_start(struct page_guard_limits limits)
{
    guard.limits = limits;
    guard.on = true;
}

static bool is_within_limits(uint64_t pages)
{
    if (guard.guarded + (pages << host_page_shift()) > guard.limits.bytes ||
        guard.stretches + SAMPLE_PAGES > guard.limits.stretches)
        return false;
    return has_credit();
}

/* Returns how much of it is guarded. */
static enum page_guard_part add(const struct record *of)
{
    const uint64_t pages = page_of(of->bytes.end - 1) - of->first + 1;
    const bool samples = pages > WHOLE_PAGES;
    if (page_guard_count == RECORDS_MOST || !is_within_limits(samples ? SAMPLE_PAGES : pages)) {
        guard.counts.skipped++;
        return PAGE_GUARD_NONE;
    }
    /* Counted first: see unguarded_begin. */
    struct record *record = &guard.records[page_guard_count];
    __atomic_store_n(&page_guard_count, page_guard_count + 1, __ATOMIC_SEQ_CST);
    *record = *of;
    record->count = (uint32_t)pages;
    if (samples)
        sample(record, pages);
    records_limits(record, true);
    uint32_t touched = 0;
    const uint32_t guarded = record_guard(record, &touched);
    guard.counts.ops += guarded != 0;
    guard.counts.refused += guarded == 0;
    if (!guarded)
        return PAGE_GUARD_NONE;
    guard.counts.in_part += samples || guarded < touched;
    if (guarded < touched)
        return PAGE_GUARD_PART;
    return samples ? PAGE_GUARD_SAMPLED : PAGE_GUARD_WHOLE;
}

/* Those that do not end stay in their order. */
static void record_stays(size_t *kept, size_t i)
{
    if (*kept != i)
        guard.records[*kept] = guard.records[i];
    ++*kept;
}

static void record_ends(const struct record *record)
{
    record_release(record);
    records_limits(record, false);
}

static void forget_all(void)
{
    for (size_t i = 0; i < page_guard_count; i++)
        record_release(&guard.records[i]);
    page_guard_count = 0;
    guard.guarded = guard.stretches = 0;
}

static bool take_for_op(void)
{
    const bool taken = take();
    if (!taken)
        __atomic_fetch_add(&guard.left_out, 1, __ATOMIC_RELAXED);
    return taken;
}

enum page_guard_part page_guard_add_strided(uint64_t epoch, const struct lmad *bytes, bool writes)
{
    const struct range hull = {bytes->base, bytes->base + bytes->span};
    enum page_guard_part part = PAGE_GUARD_NONE;
    if (!guard.on || hull.start >= hull.end || !take_for_op())
        return PAGE_GUARD_NONE;
    if (epoch != guard.heard)
        part = add(&(struct record){.epoch = epoch,
                                    .bytes = hull,
                                    .touched = *bytes,
                                    .first = page_of(hull.start),
                                    .writes = writes});
    give();
    return part;
}

enum page_guard_part page_guard_add(uint64_t epoch, struct range bytes, bool writes)
{
    const struct lmad all = {.base = bytes.start, .span = bytes.end - bytes.start};
    return bytes.start < bytes.end ? page_guard_add_strided(epoch, &all, writes) : PAGE_GUARD_NONE;
}

enum page_guard_part page_guard_add_word(uint64_t epoch, struct range word, bool writes)
{
    if (!guard.on || word.start >= word.end || !take_for_op())
        return PAGE_GUARD_NONE;
    const enum page_guard_part part = add(&(struct record){.epoch = epoch,
                                                           .bytes = word,
                                                           .first = page_of(word.start),
                                                           .writes = writes,
                                                           .word = true});
    if (part == PAGE_GUARD_NONE) {
        guard.heard = epoch;
        forget_all();
    }
    give();
    return part;
}

void page_guard_forget_all(void)
{
    if (!take())
        return;
    forget_all();
    give();
}

void page_guard_release(bool (*is_over)(void *user, uint64_t epoch), void *user)
{
    size_t kept = 0;
    if (!guard.on || (!page_guard_any() && !is_filled()) || !take())
        return;
    for (size_t i = 0; i < page_guard_count; i++) {
        if (is_over(user, guard.records[i].epoch))
            record_ends(&guard.records[i]);
        else
            record_stays(&kept, i);
    }
    page_guard_count = kept;
    sweep();
    give();
}

static void open_page(struct run *run, struct page *page)
{
    page->opened = true;
    settle(run, page);
}

static void open_pages(uint64_t first, uint64_t last)
{
    struct run run = {0};
    if (last - first < TABLE / 8) {
        for (uint64_t number = first; number <= last; number++) {
            struct page *page = page_find(number, false);
            if (page)
                open_page(&run, page);
        }
    } else {
        for (uint32_t i = 0; i < TABLE; i++)
            if (guard.pages[i].number >= first && guard.pages[i].number <= last)
                open_page(&run, &guard.pages[i]);
    }
    run_end(&run);
}

void page_guard_forget(struct range bytes)
{
    size_t kept = 0;
    if (!guard.on || bytes.start >= bytes.end ||
        !__atomic_load_n(&page_guard_count, __ATOMIC_RELAXED) || !take())
        return;
    for (size_t i = 0; i < page_guard_count; i++) {
        if (range_overlaps(guard.records[i].bytes, bytes))
            record_ends(&guard.records[i]);
        else
            record_stays(&kept, i);
    }
    page_guard_count = kept;
    give();
}

static void settle_all(void)
{
    for (size_t i = 0; i < page_guard_count; i++) {
        const struct record *record = &guard.records[i];
        struct run run = {0};
        for (uint32_t k = 0; k < record->count; k++) {
            struct page *page = page_find(record_page(record, k), false);
            if (page)
                settle(&run, page);
        }
        run_end(&run);
    }
}

void page_guard_pause(void)
{
    if (!guard.on || !take())
        return;
    if (guard.paused++ == 0)
        settle_all();
    give();
}

void page_guard_resume(void)
{
    if (!guard.on || !take())
        return;
    if (guard.paused && --guard.paused == 0)
        settle_all();
    give();
}

void page_guard_stop(void)
{
    const bool held = take();
    for (uint32_t i = 0; guard.on && i < TABLE; i++)
        if (guard.pages[i].number && guard.pages[i].now != OPEN)
            protect(guard.pages[i].number, 1, OPEN);
    guard.on = false;
    if (held)
        give();
}

void page_guard_forked(void)
{
    handler_lock_forked(&guard.lock, &holds);
    page_guard_stop();
}

/* ---- For signal handlers ---- */

static enum page_guard_found met(struct range bytes, bool writes)
{
    enum page_guard_found found = PAGE_GUARD_OTHERS;
    for (size_t i = 0; i < page_guard_count; i++) {
        const struct record *record = &guard.records[i];
        if (!(writes || record->writes) || !record_touches(record, bytes))
            continue;
        if (!record->word)
            return PAGE_GUARD_GUARDED;
        found = PAGE_GUARD_WORD;
    }
    return found;
}

/* Nobody can be asked: better unguarded than stuck. */
static enum page_guard_found open_regardless(uint64_t address)
{
    const struct page *page = page_find(page_of(address), false);
    if (!page)
        return PAGE_GUARD_NOT;
    __atomic_fetch_add(&guard.opened, 1, __ATOMIC_RELAXED);
    change(page->number, 1, OPEN);
    return PAGE_GUARD_RETRY;
}

void page_guard_insist(uint64_t address)
{
    const struct page *page = page_find(page_of(address), false);
    if (page && (page->writers || page->readers) && !must_stay_open(page->number))
        change(page->number, 1, OPEN);
}

uint32_t page_guard_changes(uint64_t address)
{
    const struct page *page = page_find(page_of(address), false);
    return page ? page->changes : 0;
}

enum page_guard_found page_guard_find(uint64_t address, struct range bytes, bool writes)
{
    if (!__atomic_load_n(&guard.on, __ATOMIC_ACQUIRE))
        return PAGE_GUARD_NOT;
    if (!take())
        return open_regardless(address);
    const struct page *page = page_find(page_of(address), false);
    const enum page_guard_found found = !page                               ? PAGE_GUARD_NOT
                                        : page->now == OPEN                 ? PAGE_GUARD_RETRY
                                        : page->now == READ_ONLY && !writes ? PAGE_GUARD_RETRY
                                                                            : met(bytes, writes);
    give();
    return found;
}

size_t page_guard_epochs(struct range bytes, bool writes, uint64_t *epochs, size_t most)
{
    size_t count = 0;
    if (!take())
        return most + 1;
    for (size_t i = 0; i < page_guard_count; i++) {
        const struct record *record = &guard.records[i];
        if (!(writes || record->writes) || !record_touches(record, bytes))
            continue;
        if (count < most)
            epochs[count] = record->epoch;
        count++;
    }
    give();
    return count;
}

uint64_t page_guard_lend(struct range bytes, bool writes)
{
    uint64_t epoch = 0;
    bool guarded = false;
    if (bytes.start >= bytes.end || !__atomic_load_n(&guard.on, __ATOMIC_ACQUIRE) ||
        !__atomic_load_n(&page_guard_count, __ATOMIC_SEQ_CST))
        return 0;
    if (!take()) {
        for (uint64_t at = bytes.start; at < bytes.end; at += host_page_bytes())
            open_regardless(at);
        open_regardless(bytes.end - 1);
        return 0;
    }
    for (size_t i = 0; i < page_guard_count; i++) {
        const struct record *record = &guard.records[i];
        guarded |= range_overlaps(pages_of(record->bytes), bytes);
        if (!epoch && (writes || record->writes) && record_touches(record, bytes))
            epoch = record->epoch;
    }
    if (guarded)
        open_pages(page_of(bytes.start), page_of(bytes.end - 1));
    give();
    return epoch;
}

bool page_guard_meets(uint64_t epoch, struct range bytes)
{
    bool meets = false;
    if (!take())
        return false;
    for (size_t i = 0; i < page_guard_count && !meets; i++)
        meets = guard.records[i].epoch == epoch && record_touches(&guard.records[i], bytes);
    give();
    return meets;
}

void page_guard_open(struct range bytes, bool unchecked)
{
    if (bytes.start >= bytes.end || !take())
        return;
    guard.counts.unchecked += unchecked;
    open_pages(page_of(bytes.start), page_of(bytes.end - 1));
    give();
}

bool page_guard_step(struct range bytes)
{
    bool may = false;
    if (!take())
        return false;
    may = is_within_limits(0);
    if (may) {
        struct run run = {0};
        for (uint64_t number = page_of(bytes.start); number <= page_of(bytes.end - 1); number++) {
            struct page *page = page_find(number, false);
            if (!page)
                continue;
            page->steps++;
            settle(&run, page);
        }
        run_end(&run);
    } else {
        guard.counts.unchecked++;
        open_pages(page_of(bytes.start), page_of(bytes.end - 1));
    }
    give();
    return may;
}

void page_guard_close(struct range bytes)
{
    if (!take())
        return;
    struct run run = {0};
    for (uint64_t number = page_of(bytes.start); number <= page_of(bytes.end - 1); number++) {
        struct page *page = page_find(number, false);
        if (!page || !page->steps)
            continue;
        page->steps--;
        settle(&run, page);
    }
    run_end(&run);
    give();
}

struct page_guard_counts page_guard_counts(void)
{
    struct page_guard_counts counts = {0};
    if (take()) {
        counts = guard.counts;
        give();
    }
    counts.unchecked += __atomic_load_n(&guard.opened, __ATOMIC_RELAXED);
    counts.skipped += __atomic_load_n(&guard.left_out, __ATOMIC_RELAXED);
    return counts;
}
