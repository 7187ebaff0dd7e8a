/* What a program did according to CUDA's documentation: a graph of what is ordered before what, and
 * every access with its place in the graph. From these follows by brute force which pairs of
 * accesses race on which bytes.
 *
 * This is a second opinion: it shares no code and no idea with csan/ and runtime/hook/. Its rules
 * are those of the CUDA Driver API reference ("Stream synchronization behavior", "API
 * synchronization behavior", the pages of the calls) and the choices of csan's design where the
 * documentation leaves one; each is named where it is made, in world.c. */
#ifndef ORACLE_WORLD_H
#define ORACLE_WORLD_H

#include "order.h"
#include "play.h"

enum touch_kind { TOUCH_READ, TOUCH_WRITE, TOUCH_ATOMIC, TOUCH_BIRTH, TOUCH_FREE };

/* Rows of bytes that one op touches. */
struct touch {
    unsigned node;
    uint64_t number; /* the op's, as csan counts */
    uint64_t base, width, stride, rows;
    enum touch_kind kind;
    unsigned element; /* bytes of an atomic */
    bool bounded;     /* csan cannot know whether it happens */
    bool at_call;     /* accesses that a call may make before it returns, apart from its stream */
    bool at_host;     /* by the host, or a function of it */
    unsigned memory;  /* which of the memories, at the time */
    unsigned owner;   /* a number for each allocation and declared block */
    unsigned host;    /* the host's newest node at the time */
    bool late;        /* the memory had been freed */
    bool forgotten;   /* ... and the host knew */
    bool armed;       /* a guard surely knows of it */
    bool waits;       /* or perhaps only later */
    bool unseen;      /* by the host, and not reported by a guard */
    bool excused;     /* ... which a guard may leave out */
};

/* A piece of memory from its birth on. */
struct memory {
    uint64_t base, bytes;
    unsigned owner;
    bool gone;  /* freed at the host, with all work waited for */
    bool freed; /* on a stream, or without waiting: the free itself is the access */
    unsigned free;
};

enum { TOUCHES = 512, MEMORIES = PROGRAM_OPS + 8 };

struct world {
    struct order order;
    struct touch touches[TOUCHES];
    unsigned touch_count;
    struct memory memories[MEMORIES];
    unsigned memory_count;
};

/* Option implicit_sync: which waits inside calls order the host. */
enum waits {
    WAITS_OBSERVED, /* what is promised, and that a free waits for the device */
    WAITS_PROMISED,
    WAITS_NONE, /* neither; every copy and set is asynchronous */
};

/* `traced`: csan uses the device's trace for what its own analysis does not know. False: what came
 * of the program cannot be. */
bool world_make(struct world *world, const struct program *program, const struct play *play,
                bool traced, enum waits waits);

/* How two touches race. The first was enqueued before the second. */
enum verdict {
    VERDICT_NONE,
    VERDICT_LEFT_OUT, /* a race of which no guard reported one side */
    VERDICT_OPTIONAL, /* csan may have forgotten the first */
    VERDICT_POSSIBLE, /* one side is bounded */
    VERDICT_CERTAIN
};
enum verdict world_verdict(const struct world *world, const struct touch *first,
                           const struct touch *second);

/* What csan calls the race of two touches: enum csan_race_kind. */
int world_race_kind(const struct world *world, const struct touch *first,
                    const struct touch *second);

/* Calls it for each run of bytes that both touch. */
void world_common(const struct touch *first, const struct touch *second,
                  void (*run)(void *user, uint64_t start, uint64_t end), void *user);

#endif
