/* See process_tree.h. */
#include "runtime/hook/run/process_tree.h"
#include "csan/base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "csan tree 2" /* changes with struct process_tree */

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static struct {
    struct process_tree *tree; /* NULL: no csan run above this process */
    struct tree_slot *slot;    /* NULL: it has not used CUDA */
    uint64_t ops, unknown;     /* of this process, in the slot; atomic */
    uint64_t races, possible, errors;
    uint32_t failed; /* in the table; atomic, as the two above */
    bool naming;     /* a thread is at the slot's `device`; atomic */
} own;

/* Several processes may share a slot, and several threads of one bring it up to date: each adds
 * what it counts anew, and one that comes late with an older count nothing. */
static void bring_to(uint64_t *shared, uint64_t *counted, uint64_t count)
{
    uint64_t before = __atomic_load_n(counted, __ATOMIC_RELAXED);
    while (before < count && !__atomic_compare_exchange_n(counted, &before, count, true,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (before < count)
        __atomic_fetch_add(shared, count - before, __ATOMIC_RELAXED);
}

/* ---- The memory ---- */

static void *map(int file)
{
    void *memory =
        mmap(NULL, sizeof(struct process_tree), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct process_tree *process_tree_create(char name[TREE_NAME_BYTES])
{
    struct process_tree *tree = NULL;
    int file = memfd_create("csan-tree", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return NULL;
    if (ftruncate(file, sizeof *tree) == 0 && fcntl(file, F_ADD_SEALS, SEALS) == 0)
        tree = map(file);
    if (!tree) {
        close(file);
        return NULL;
    }
    memcpy(tree->magic, MAGIC, sizeof MAGIC);
    snprintf(name, TREE_NAME_BYTES, "/proc/%d/fd/%d", (int)getpid(), file);
    return tree; /* the file stays open: it is what the name names */
}

/* The name is a link that the kernel follows to the memory itself. That it is a table is seen by
 * what only such memory has; other files are not waited for, and become no terminal. */
struct process_tree *process_tree_open(const char *name)
{
    struct stat status;
    struct process_tree *tree = NULL;
    if (strncmp(name, "/proc/", 6) != 0)
        return NULL;
    int error = errno, file = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_uid == geteuid() &&
        status.st_size == (off_t)sizeof *tree && fcntl(file, F_GET_SEALS) == SEALS)
        tree = map(file);
    if (file >= 0)
        close(file);
    errno = error;
    if (!tree || memcmp(tree->magic, MAGIC, sizeof MAGIC) == 0)
        return tree;
    munmap(tree, sizeof *tree);
    return NULL;
}

unsigned process_tree_slots(const struct process_tree *tree)
{
    const uint32_t taken = __atomic_load_n(&tree->slots_taken, __ATOMIC_ACQUIRE);
    return taken < TREE_SLOTS ? taken : TREE_SLOTS;
}

/* ---- A process ---- */

void process_tree_attach(void)
{
    const char *name = environment_get_text("CSAN_TREE");
    if (name && !own.tree)
        own.tree = process_tree_open(name);
}

bool process_tree_attached(void)
{
    return own.tree != NULL;
}

void process_tree_enter(void)
{
    if (!own.tree)
        return;
    uint32_t number = __atomic_fetch_add(&own.tree->slots_taken, 1, __ATOMIC_ACQ_REL);
    struct tree_slot *slot = &own.tree->slots[number < TREE_SLOTS ? number : TREE_SLOTS - 1];
    slot->pid = (uint32_t)getpid();
    snprintf(slot->command, sizeof slot->command, "%s", program_invocation_short_name);
    __atomic_store_n(&slot->state, TREE_RUNS, __ATOMIC_RELEASE);
    own.slot = slot;
    own.naming = false;
    own.ops = own.unknown = own.races = own.possible = own.errors = own.failed = 0;
}

void process_tree_race(const struct csan_race *race, bool decides)
{
    if (!own.slot)
        return;
    uint64_t *mine = race->possible ? &own.possible : &own.races;
    uint64_t *shared = race->possible ? &own.slot->possible : &own.slot->races;
    if (csan_is_error(race)) {
        mine = &own.errors;
        shared = &own.slot->errors;
    }
    __atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
    if (decides) {
        __atomic_fetch_add(&own.failed, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&own.tree->failed, 1, __ATOMIC_RELEASE);
    }
}

void process_tree_races_cleared(void)
{
    if (!own.slot)
        return;
    __atomic_fetch_sub(&own.slot->races, __atomic_exchange_n(&own.races, 0, __ATOMIC_RELAXED),
                       __ATOMIC_RELAXED);
    __atomic_fetch_sub(&own.slot->possible, __atomic_exchange_n(&own.possible, 0, __ATOMIC_RELAXED),
                       __ATOMIC_RELAXED);
    __atomic_fetch_sub(&own.slot->errors, __atomic_exchange_n(&own.errors, 0, __ATOMIC_RELAXED),
                       __ATOMIC_RELAXED);
    __atomic_fetch_sub(&own.tree->failed, __atomic_exchange_n(&own.failed, 0, __ATOMIC_RELAXED),
                       __ATOMIC_RELEASE);
}

/* One thread at a time: another one has the same name to write. */
static void device_name(const char *device)
{
    if (__atomic_exchange_n(&own.naming, true, __ATOMIC_ACQUIRE))
        return;
    if (strcmp(own.slot->device, device) != 0)
        snprintf(own.slot->device, TREE_DEVICE_BYTES, "%s", device);
    __atomic_store_n(&own.naming, false, __ATOMIC_RELEASE);
}

void process_tree_counts(const char *device, const struct csan_stats *stats)
{
    if (!own.slot)
        return;
    if (device)
        device_name(device);
    bring_to(&own.slot->ops, &own.ops, stats->ops);
    bring_to(&own.slot->unknown, &own.unknown, stats->launches[CSAN_LEVEL_UNKNOWN]);
}

void process_tree_summed_up(bool said)
{
    if (own.slot)
        __atomic_store_n(&own.slot->state, said ? TREE_SUMMED_UP : TREE_UNSAID, __ATOMIC_RELEASE);
}

void process_tree_forked(void)
{
    if (own.tree)
        __atomic_fetch_add(&own.tree->forked, 1, __ATOMIC_RELAXED);
}

int process_tree_lose(enum tree_loss why, const char *path)
{
    if (!own.tree || why == TREE_WATCHED)
        return -1;
    __atomic_fetch_add(&own.tree->losses, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < TREE_LOSSES; i++) {
        uint32_t expected = TREE_WATCHED;
        struct tree_lost *lost = &own.tree->lost[i];
        if (!__atomic_compare_exchange_n(&lost->why, &expected, why, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        size_t length = strnlen(path, TREE_LOSS_BYTES - 1);
        memcpy(lost->path, path, length);
        lost->path[length] = '\0';
        return i;
    }
    return TREE_LOSSES;
}

void process_tree_unlose(int loss)
{
    if (!own.tree || loss < 0)
        return;
    __atomic_fetch_sub(&own.tree->losses, 1, __ATOMIC_RELAXED);
    if (loss < TREE_LOSSES)
        __atomic_store_n(&own.tree->lost[loss].why, TREE_WATCHED, __ATOMIC_RELEASE);
}
