/* What a compiled kernel and the engine know of each other. The compiler puts this file's text into
 * its code, so it includes nothing. A compiled kernel takes over from the interpreter where a
 * segment begins, with all registers in the frame's slots, and gives back in the same state: what
 * it cannot do, the interpreter does between two segments. Numbers of micro-operations, pcs, are
 * those of struct program. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_COMPILED_H
#define RUNTIME_DEVICE_EXEC_EXEC_COMPILED_H

struct compiled_call {
    void *warp;
    unsigned char *slots; /* of the frame */
    unsigned mask;        /* of the group */
    unsigned pc;          /* in and out: where the group stands */
    unsigned last;        /* out: the micro-operation that jumped */
    unsigned stop;        /* no micro-operation from here on may run; ~0: all may */
    long left;            /* in and out: micro-operations that may still run */
    unsigned alone;       /* the warp has one group, which may jump without being chosen again */
    const unsigned char *strong;          /* warp->strong */
    unsigned *spins;                      /* warp->spins */
    const unsigned char *params;          /* the kernel's */
    const unsigned *threads;              /* 3 times 32 of %tid */
    const unsigned *block, *shape, *grid; /* %ctaid, %ntid, %nctaid */
    unsigned long window;                 /* of the other spaces */
    /* Runs micro-operations [first, end) by their handlers, and counts them. 0 (FLOW_NEXT) after
     * the last of them; else what the handler returned, with pc and last set. */
    int (*interpret)(struct compiled_call *call, unsigned first, unsigned end);
    /* Runs the load or store `pc`. 0, or a fault; does not count. The others are for one element
     * that is as wide as its register: `affine` and `uniform` where the lanes' addresses are known
     * to be so, if threads are consecutive. */
    int (*access)(struct compiled_call *call, unsigned pc);
    int (*row)(struct compiled_call *call, unsigned pc);
    int (*affine)(struct compiled_call *call, unsigned pc);
    int (*uniform)(struct compiled_call *call, unsigned pc);
};

/* An enum flow; or COMPILED_STOPS: the segment at pc does not fit before stop, or there is none. */
typedef int compiled_run(struct compiled_call *call);
enum { COMPILED_STOPS = 100, COMPILED_INTERFACE = 3 };

#endif
