/* What the rest of csan asks of a context beyond csan.h. */
#ifndef CSAN_DETECTOR_CONTEXT_H
#define CSAN_DETECTOR_CONTEXT_H

#include <csan/csan.h>

#include <stdbool.h>

struct csan_stats;
struct memory_usage;
struct range;
struct recording;

/* Records every entry. Without `check`, entries go to the recording only. Call it before the first
 * entry. The recording stays the caller's and outlives the context. */
void context_record(csan_context *context, struct recording *recording, int check);
bool context_is_recorded(const csan_context *context);

/* Called for each race before on_race, under on_race's rules. If it returns true, the race is
 * suppressed: on_race and csan_context_races_since leave it out, and it is counted apart. Set it
 * before the first op. */
void context_set_filter(csan_context *context,
                        bool (*suppresses)(void *user, const struct csan_race *race), void *user);

/* The program has declared an operator of a framework (PyTorch's adapter does): from now on reports
 * are worded as that framework's own. */
void context_set_framework(csan_context *context);

/* Sets csan_race.group: the first race, of those not suppressed, that the same missing order
 * explains. The context does so before it calls on_race. Call it again where races are suppressed
 * after that. */
void context_group(csan_context *context, const struct csan_race *race);

/* How often races were found between the two sites of that race so far. */
uint64_t context_occurrences(csan_context *context, uint64_t number);
/* The next race between its two sites is found as if it were the first. */
void context_renew(csan_context *context, const struct csan_race *race);
/* Another race that was found says the same better: from now on it is as if this one had not been
 * found. */
void context_withdraw(csan_context *context, const struct csan_race *race);
/* Marks a race that on_race received as suppressed: it is counted apart from now on, and
 * csan_context_races_since leaves it out. */
void context_suppress(csan_context *context, const struct csan_race *race);

/* A lane that stands for the host as if that call's waits were promised; csan_lane_observed_wait
 * uses it. CSAN_NO_LANE when there are too many. `what` lives as long as the context. */
csan_lane context_unpromised_lane(csan_context *context, const char *what);

/* The calling thread's ops touch nothing and its frees are not checked, until there were as many
 * ends as begins; see csan_ignore_begin. */
void context_ignore(bool begin);
bool context_ignores(void);
/* Sets the depth when this thread reports on behalf of another one; returns the previous depth. */
uint32_t context_ignore_swap(uint32_t depth);

/* Reports say from now on that the kernel that sites call `name` is defined at `place`,
 * "/src/app.cu:9". */
void context_define_kernel(csan_context *context, const char *name, const char *place);

/* The site with the same name and stack but with these arguments, as csan_site_intern returns it.
 */
csan_site context_site_with(csan_context *context, csan_site site, const char *const *arguments,
                            size_t argument_count);

/* The site of that name and those arguments with the stack of another; `name` NULL: the same. */
csan_site context_site_named(csan_context *context, csan_site site, const char *name,
                             const char *const *arguments, size_t argument_count);

/* The site's name, and its stack, innermost frame first; they stay valid. NULL, and none, of a site
 * that is unknown. */
const char *context_site_stack(csan_context *context, csan_site site, const void *const **frames,
                               size_t *count);

/* The range in which memory has ever been: a pointer to memory is within it or at its end. It takes
 * no lock: a thread that knows an address learned it after csan learned of its memory. */
struct range context_span(csan_context *context);

/* The block or allocation that each pointer points into, or to whose end it points if nothing
 * begins there; [0, 0): none. It also prefetches what the check of accesses through these pointers
 * will read. */
void context_pointees(csan_context *context, const uint64_t *pointers, size_t count,
                      struct range *owners);

/* Prefetches what else the check of accesses at these pointers will read, after context_pointees'
 * prefetch has arrived. */
void context_prefetch(csan_context *context, const uint64_t *addresses, size_t count);

/* The program's memory now, largest first (memory_usage.h); to be freed. `wanted` is asked under
 * the lock, of each allocation; NULL: all. */
size_t context_memory_usage(csan_context *context, bool (*wanted)(void *user, uint64_t base),
                            void *user, struct memory_usage **holdings);

/* Whether the lane is ordered after that op. */
bool context_knows(csan_context *context, csan_lane lane, uint64_t epoch);
/* Whether every entry that is still to come knows the snapshot, so that it may be forgotten. */
bool context_is_over(csan_context *context, const csan_snapshot *snapshot);

/* As csan_context_stats, without the counts of live objects, whose cost grows with their number. */
void context_counts(csan_context *context, struct csan_stats *stats);

/* For option init_check: a write that csan cannot see may have touched any live memory. */
void context_doubt(csan_context *context);

/* A finding that is no race, about what a call or kernel of that lane did at `site`. */
struct context_finding {
    int kind;       /* enum csan_race_kind */
    csan_lane lane; /* CSAN_HOST: of no stream */
    csan_site site;
    enum csan_level level;   /* CSAN_LEVEL_LIBRARY: a call; else a kernel's launch */
    int access;              /* enum csan_access_kind; 0: none is known */
    uint64_t address, bytes; /* that it concerns; bytes 0: none */
    uint16_t argument;       /* the index into the site's arguments, plus 1; 0: none */
    csan_site reported;      /* the call by which the program learned of the failure; 0: none */
    struct csan_error error; /* copied; the detector finds out where the address lies, and takes the
                                frames of `reported` from there */
};
/* The finding enters at once, also while entries wait in the queue, and is handed out as races are.
 * Any thread. */
void context_find(csan_context *context, const struct context_finding *finding);

/* The host changed bytes that an op of a stream reads, and was not ordered after the op: their
 * content says so, some call later than the store. */
struct context_host_change {
    csan_lane lane; /* the host's, or a thread's */
    csan_site site; /* of the call before which it was */
    csan_lane op_lane;
    uint64_t op_sequence, op; /* the op's epoch in its lane, and its number */
    csan_site op_site;
    enum csan_level op_level;
    struct csan_access access; /* the bytes, as the op reads them */
};
/* Enters at once and is a race from there on. Any thread. */
void context_host_changed(csan_context *context, const struct context_host_change *change);

/* What joins this process to others, as of what `lane` did and knows now. It orders nothing here:
 * only recordings have it, for csan merge --order. Any thread. */
void context_link(csan_context *context, csan_lane lane, const struct csan_link *link);

/* What is to be judged though it is no op. */
enum context_judged {
    CONTEXT_REFUSED,      /* a call that the driver refused as an invalid value
                             (CUDA_ERROR_INVALID_VALUE), with the accesses that it was to make */
    CONTEXT_REFUSED_FREE, /* a refused free: one access, of the byte at its address */
    CONTEXT_WRONG_POINTER /* a kernel's accesses in no allocation, through `pointer` */
};
struct context_call {
    enum context_judged what;
    csan_lane lane; /* CSAN_HOST: of no stream */
    csan_site site;
    enum csan_level level;
    const struct csan_access *accesses;
    size_t access_count;
    uint64_t pointer;
};
/* Enters in its turn; it touches nothing. Accesses out of bounds, or of freed memory, become
 * findings. */
void context_judge(csan_context *context, const struct context_call *call);

/* Whether the range has, or had until a free, memory of a device or managed memory. */
bool context_has_device_memory(csan_context *context, struct range range);

/* This number changes after each op of a kernel that certainly accessed memory in no allocation.
 * Without a lock. */
uint64_t context_unplaced(const csan_context *context);

/* A number that is another one after all that enters, but for ops of the host. It may be read
 * without the lock, atomically. */
const uint64_t *context_generation(const csan_context *context);

/* Sets the time that time-outs go by, in place of the clock: nanoseconds since an arbitrary moment,
 * not 0. `wall` is the same moment in nanoseconds since 1970, for races. */
void context_set_time(csan_context *context, uint64_t nanoseconds, uint64_t wall);

#endif
