/* What a compiled kernel and the engine know of each other. The compiler puts this file's text into
 * its code, so it includes nothing. A compiled kernel takes over from the interpreter where a
 * segment begins, with all registers in the frame's slots, and gives back in the same state: what
 * it cannot do, the interpreter does between two segments. Numbers of micro-operations, pcs, are
 * those of struct program. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_COMPILED_H
#define RUNTIME_DEVICE_EXEC_EXEC_COMPILED_H

struct compiled_call {
    /* Of the warp whose turn it is: `wait` may change it. */
    void *warp;
    unsigned char *slots; /* of the frame */
    unsigned mask;        /* of the group */
    unsigned pc;          /* in and out: where the group stands */
    unsigned last;        /* out: the micro-operation that jumped */
    unsigned stop;        /* no micro-operation from here on may run; ~0: all may */
    long left;            /* in and out: micro-operations that may still run */
    unsigned alone;       /* the warp has one group, which may jump without being chosen again */
    /* Where in a warp these are: a byte, a word, 3 times 32 words of %tid. */
    unsigned strong, spins, threads;
    const unsigned char *params;          /* the kernel's */
    const unsigned *block, *shape, *grid; /* %ctaid, %ntid, %nctaid */
    unsigned long window;                 /* of the other spaces */
    /* Runs micro-operations [first, end) by their handlers, and counts them. 0 (FLOW_NEXT) after
     * the last of them; else what the handler returned, with pc and last set. */
    int (*interpret)(struct compiled_call *call, unsigned first, unsigned end);
    /* The interpreter makes the jump `pc`, which was counted: as interpret. */
    int (*jump)(struct compiled_call *call, unsigned pc, long left);
    /* Runs the barrier `pc`, number `id`, and counts it. 0: go on at call->pc, with the warp that
     * call has now; else as interpret, or COMPILED_NOBODY. */
    int (*wait)(struct compiled_call *call, unsigned pc, unsigned id, long left);
    /* The lanes `taken` jump over the next `count` micro-operations. The others run these, and then
     * all go on; returns whose mask that is, or 0: they must part. `left` as it is now. */
    unsigned (*part)(struct compiled_call *call, unsigned taken, long count, long left);
    unsigned (*meet)(struct compiled_call *call, long left);
    /* Runs the load or store `pc`. 0, or a fault, with pc set; `left` is that behind the segment,
     * and the fault's is found then. The others are for one element that is as wide as its
     * register: `affine` and `uniform` where the lanes' addresses are known to be so, if threads
     * are consecutive. */
    int (*access)(struct compiled_call *call, unsigned pc);
    int (*row)(struct compiled_call *call, unsigned pc);
    int (*affine)(struct compiled_call *call, unsigned pc);
    int (*uniform)(struct compiled_call *call, unsigned pc);
    /* The same of weak accesses of shared memory with 4 and 8 bytes: the lanes' addresses are 32
     * bits at `at`, and are affine, or all are the number `at`; `lanes` is the register, `mask` the
     * lanes that run. */
    int (*load_row[2])(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                       void *lanes, unsigned mask);
    int (*store_row[2])(struct compiled_call *call, unsigned pc, const void *at, unsigned imm,
                        const void *lanes, unsigned mask);
    int (*load_same[2])(struct compiled_call *call, unsigned pc, unsigned long at, void *lanes,
                        unsigned mask);
    /* The engine's own. */
    const void *code;   /* struct micro of the program */
    const void *form;   /* struct compiled */
    long parted;        /* `left` when the lanes parted; while `apart` */
    unsigned long less; /* instructions that some lanes did not run */
    unsigned apart;
    void *round;    /* struct round: other warps may have their turns; or NULL */
    unsigned place; /* of the warp in its block; in lockstep */
    struct compiled_sweep {
        unsigned barrier; /* pc of it; ~0: there is no sweep, or nobody may follow */
        unsigned hops;    /* warps that may follow */
        unsigned swept;   /* what that was in the beginning; 0: there is no sweep */
        const struct compiled_warp *at, *first, *end; /* the one that runs, and all of the block */
        long left;                                    /* when its turn began */
        unsigned long progress;                       /* the same */
        unsigned long round;                          /* when the first warp's did */
    } sweep;
    unsigned char *shared; /* the block's memory */
    /* 0: there are no rows (exec_state.consecutive). */
    unsigned long shared_bytes;
    unsigned long *progress; /* exec_state.progress */
};

/* An enum flow; or COMPILED_STOPS: the segment at pc does not fit before stop, or there is none; or
 * COMPILED_NOBODY: the warp's turn is over, and no other warp's has begun. */
typedef int compiled_run(struct compiled_call *call);
enum { COMPILED_STOPS = 100, COMPILED_NOBODY = 101, COMPILED_INTERFACE = 4 };

#endif
