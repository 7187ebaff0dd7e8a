/* What processes below one `csan run` report to it: a table in memory that they share.
 *
 * `csan run` makes the table (process_tree_create) and passes its name in CSAN_TREE. A process with
 * csan in it maps the table at its start (process_tree_attach) and takes a slot at its first CUDA
 * call. Counts are added at once, so they survive the process however it ends. The memory is a
 * memfd of the user's own, whose size is sealed. So nobody else can write to it or truncate it, it
 * needs no name in a file system, and it ends with the last process. */
#ifndef RUNTIME_HOOK_RUN_PROCESS_TREE_H
#define RUNTIME_HOOK_RUN_PROCESS_TREE_H

#include <csan/csan.h>

#include <stdbool.h>
#include <sys/types.h>

enum {
    TREE_SLOTS = 8192,      /* processes beyond share the last one */
    TREE_DEVICE_BYTES = 96, /* of a device's name */
    TREE_LOSSES = 4,        /* so many programs are named; further ones are counted */
    TREE_LOSS_BYTES = 256,
    TREE_NAME_BYTES = 64, /* of the table's own */
};

/* How far a process came. */
enum tree_state {
    TREE_RUNS = 1,
    TREE_SUMMED_UP,
    TREE_UNSAID /* its summary could not be written */
};

struct tree_slot {
    uint32_t pid, state;
    char command[32];               /* the program's name, without its directory */
    char device[TREE_DEVICE_BYTES]; /* "": not known */
    uint64_t races, possible;       /* reported; atomic */
    uint64_t errors;                /* other findings */
    uint64_t ops, unknown;          /* as of the newest look, less than a second old */
};

/* Why csan is not in a program that a process of the tree started. */
enum tree_loss {
    TREE_WATCHED, /* it is */
    TREE_LOSS_ENVIRONMENT,
    TREE_LOSS_STATIC,
    TREE_LOSS_RIGHTS,
    TREE_LOSS_FOREIGN
};

struct process_tree {
    char magic[16];
    uint32_t slots_taken; /* all processes that asked for a slot; atomic, as the others are */
    uint32_t failed;      /* races that decide the exit code */
    uint32_t forked;      /* processes that used CUDA, and were forked after their parent used it */
    uint32_t losses;      /* programs that were started without csan */
    struct tree_lost {
        uint32_t why; /* enum tree_loss; TREE_WATCHED: the place is free */
        char path[TREE_LOSS_BYTES];
    } lost[TREE_LOSSES];
    struct tree_slot slots[TREE_SLOTS];
};

/* ---- csan run's side */

/* A new table, mapped, and its name for CSAN_TREE. NULL with errno: there can be none. */
struct process_tree *process_tree_create(char name[TREE_NAME_BYTES]);
/* The table of that name, mapped; NULL: none of this user's, or of another version. */
struct process_tree *process_tree_open(const char *name);
/* The slots that are in use. */
unsigned process_tree_slots(const struct process_tree *tree);

/* ---- for a process; without a table nothing happens, and the result is false */

/* Once, at the start. */
void process_tree_attach(void);
bool process_tree_attached(void);
/* The process uses CUDA from now on. Call it again in a forked child. */
void process_tree_enter(void);
/* A race or another finding was reported. Safe in a signal handler. */
void process_tree_race(const struct csan_race *race, bool decides);
/* What this process reported so far does not count any more (csan_races_clear). */
void process_tree_races_cleared(void);
/* What it checked so far. Any thread, also several at once. */
void process_tree_counts(const char *device, const struct csan_stats *stats);
void process_tree_summed_up(bool said);
/* This forked child used CUDA and is not checked. */
void process_tree_forked(void);
/* A program is about to be started without csan in it. If it was not started, pass the result to
 * process_tree_unlose. Safe in a child of vfork. */
int process_tree_lose(enum tree_loss why, const char *path);
void process_tree_unlose(int loss);

#endif
