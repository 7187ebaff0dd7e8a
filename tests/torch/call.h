/* One call of torch.cuda._sanitizer.EventHandler, as data: what sequence.c makes up, recording.c
 * reads from a file, replay.c makes on csan.h and history.c checks. Python reads these structs too
 * (parity.py). */
#ifndef CSAN_TESTS_TORCH_CALL_H
#define CSAN_TESTS_TORCH_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum call_kind {
    CALL_KERNEL_LAUNCH,       /* stream, touches */
    CALL_EVENT_CREATION,      /* event */
    CALL_EVENT_DELETION,      /* event */
    CALL_EVENT_RECORD,        /* event, stream */
    CALL_EVENT_WAIT,          /* event, stream */
    CALL_MEMORY_ALLOCATION,   /* data_ptr */
    CALL_MEMORY_DEALLOCATION, /* data_ptr */
    CALL_STREAM_CREATION,     /* stream */
    CALL_DEVICE_SYNCHRONIZATION,
    CALL_STREAM_SYNCHRONIZATION, /* stream */
    CALL_EVENT_SYNCHRONIZATION,  /* event */
    CALL_KINDS
};

/* A kernel's access to a tensor. */
struct touch {
    uint64_t data_ptr;
    uint32_t kind; /* CSAN_READ or CSAN_WRITE */
};

struct call {
    uint32_t kind; /* enum call_kind */
    uint32_t touch_count;
    uint64_t stream, event, data_ptr;
    const struct touch *touches; /* of a launch: the reads, then the writes */
};

/* What PyTorch says of a launch: its touch of this number races with an access by this stream. */
struct named {
    uint32_t touch;
    uint64_t stream;
};

/* What csan says: with the access of this kind that this launch, counted from 1, made. */
struct reported {
    uint32_t touch;
    uint32_t launch;
    uint32_t kind;
    uint32_t reuse; /* the tensor had another owner then */
};

#endif
