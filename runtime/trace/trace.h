/* The trace of a kernel launch: which bytes it touched. All trace sources share these types
 * (runtime/hook/observe/trace_source.h). The embedded device traces every launch and reports it
 * through this interface. The device knows nothing of csan. The embedded libcuda.so.1 exports the
 * functions, and observers find them with dlsym. */
#ifndef RUNTIME_TRACE_TRACE_H
#define RUNTIME_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_trace_kind {
    DEVICE_TRACE_READ,
    DEVICE_TRACE_WRITE,
    DEVICE_TRACE_ATOMIC /* atom, red, and strong ld/st at gpu or sys scope */
};

/* bytes [address + sum(i_k * stride_k), + bytes) for 0 <= i_k < count_k, k < dims */
struct device_trace_range {
    uint64_t address;   /* device address as the program sees it */
    uint64_t bytes;     /* contiguous bytes of one element */
    uint32_t kind;      /* enum device_trace_kind */
    uint32_t dims;      /* 0 (one element) to 2 */
    uint64_t stride[2]; /* bytes, outermost first; each larger than what is inside it spans */
    uint64_t count[2];
};

/* Of a kernel that launched others: what it did itself between two launches, or what one of its
 * children did, with all that child launched. */
struct device_trace_part {
    const char *kernel;    /* as in the PTX */
    bool child;            /* else the kernel itself */
    const uint32_t *after; /* earlier parts that it comes after, those before them included */
    size_t after_count;
    const struct device_trace_range *ranges;
    size_t count;
};

struct device_trace_launch {
    uint64_t id;     /* as device_trace_last_launch gave it */
    uint32_t failed; /* 1: the kernel trapped or faulted; ranges hold what it touched before */
    bool inexact;    /* recorded more coarsely than touched: the ranges are only a bound */
    bool lost;       /* the record is incomplete or empty: the ranges mean nothing */
    bool unseen;     /* lost, as all launches of the kernel will be */
    size_t count;
    const struct device_trace_range *ranges; /* valid during the call; union of a kind's ranges is
                                                exactly the bytes touched; no two overlap in a kind.
                                                Those of a kernel's children are among them */
    const struct device_trace_part *parts;   /* valid during the call; NULL: it launched nothing */
    size_t part_count;
};

/* `done` is called once for each launch made after this call, when the kernel has finished, on
 * whatever thread ran it, with no lock of the device held that an API call needs. It must not call
 * the CUDA API. One subscriber; NULL unsubscribes. Symbol: device_trace_subscribe. */
typedef void device_trace_done(void *user, const struct device_trace_launch *launch);
void device_trace_subscribe(device_trace_done *done, void *user);

/* The id of the newest launch the calling thread has successfully enqueued; 0 when none.
 * Symbol: device_trace_last_launch. Captured launches have none, nor have those of machine code,
 * which the device does not run. */
uint64_t device_trace_last_launch(void);

#endif
