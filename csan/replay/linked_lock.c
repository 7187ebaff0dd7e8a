/* Sections of locks that processes have one after the other. What the one knew when it began to
 * give the lock back, the next one knows when it has the lock at the latest. Where a process learns
 * that only behind its own release, its release passes on what it came behind all the same. See
 * linked_state.h and lock_sections.h. */
#include "csan/replay/linked_state.h"

static const struct lock_section *section_of(const struct linked_process *process, bool unlock)
{
    const struct lock_sections *locks = link_scan_locks(process->linked->scan);
    return unlock ? lock_sections_of_unlock(locks, process->number, process->release_count)
                  : lock_sections_of_lock(locks, process->number, process->lock_count);
}

bool linked_lock_ready(const struct linked_process *process, bool unlock, struct linked_want *want)
{
    const struct lock_sections *locks = link_scan_locks(process->linked->scan);
    const struct lock_section *section = section_of(process, unlock);
    want->what = WANT_LOCK;
    for (size_t i = 0; i < section->count; i++) {
        const struct lock_source *before = &locks->before[section->first + i];
        if (process->linked->processes[before->process]->release_count <= before->number)
            return false;
    }
    return true;
}

/* A release that was waited for in vain joins nothing. */
static void join_release(const struct linked *linked, const struct lock_source *source,
                         csan_lane lane)
{
    struct linked_process *of = linked->processes[source->process];
    if (source->number >= of->release_count || source->number >= of->release_capacity ||
        !of->releases[source->number])
        return;
    csan_snapshot_join(linked->context, lane, of->releases[source->number]);
    if (--of->release_uses_left[source->number])
        return;
    csan_snapshot_release(linked->context, of->releases[source->number]);
    of->releases[source->number] = NULL;
}

static void join_releases(const struct linked *linked, const struct lock_section *section,
                          csan_lane lane)
{
    const struct lock_sections *locks = link_scan_locks(linked->scan);
    for (size_t i = 0; i < section->count; i++)
        join_release(linked, &locks->before[section->first + i], lane);
}

/* What the lane knows and those before, which it has not joined yet. */
static csan_snapshot *release_take(const struct linked *linked, const struct lock_section *section,
                                   csan_lane lane)
{
    csan_context *context = linked->context;
    if (section->acquired < section->released) {
        join_releases(linked, section, lane);
        return csan_snapshot_take(context, lane);
    }
    const csan_lane all = csan_lane_create_as(context, CSAN_LANE_CALL, 0, "lock", CSAN_HOST);
    if (all == CSAN_NO_LANE)
        return NULL;
    csan_lane_waits(context, all, lane);
    join_releases(linked, section, all);
    csan_snapshot *release = csan_snapshot_take(context, all);
    csan_lane_destroy(context, all);
    return release;
}

const char *linked_take_lock(struct linked_process *process, bool unlock, csan_lane lane)
{
    const struct linked *linked = process->linked;
    const struct lock_section *section = section_of(process, unlock);
    if (!unlock) {
        process->lock_count++;
        join_releases(linked, section, lane);
        return NULL;
    }
    const size_t number = process->release_count++;
    csan_snapshot *release = release_take(linked, section, lane);
    if (!release)
        return linked_no_memory;
    if (!section->uses ||
        !replay_grow((void **)&process->releases, &process->release_capacity,
                     sizeof *process->releases, number) ||
        !replay_grow((void **)&process->release_uses_left, &process->release_uses_capacity,
                     sizeof *process->release_uses_left, number)) {
        csan_snapshot_release(linked->context, release);
        return section->uses ? linked_no_memory : NULL;
    }
    process->releases[number] = release;
    process->release_uses_left[number] = section->uses;
    return NULL;
}
