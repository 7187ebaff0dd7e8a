// What a litmus rule is, and what rules are written with.
//
// A rule is a function "A; <API>; B": it puts a piece of work A that lasts long and ends with a
// store into a stream, makes the call that the rule is about, and puts a quick B that looks at what
// A stores into another stream (or looks itself). If B finds the old value it overtook A. One call
// of the function is a trial; the same trial under csan gives csan's verdict, since A and B touch
// the same word and nothing else does.
#pragma once

#include <csan/csan.h>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

enum promise {
    PROMISED, // the documentation says that B comes after A
    NOTHING,  // it does not
};

enum { COPY_MAX = 16 << 20, LAZY_KERNELS = 24, NOT_SEEN = -1 };

// One trial's surroundings. Streams and buffers are made once and idle when a trial begins.
struct trial {
    unsigned hold_us;  // how long A lasts
    int number;        // of this rule, from 0
    int *word;         // 0; A stores 1
    int *seen;         // NOT_SEEN; B stores what it found
    int *pinned;       // a word in pinned memory, for A or B on the host or on another device
    int *pinned_seen;  // and one for what B found there
    cudaStream_t a, b; // non-blocking
    cudaStream_t blocking, blocking_too; // blocking
    cudaEvent_t event, event_too;
    int device_count;
    cudaStream_t there, there_blocking; // of the second device
    cudaEvent_t event_there;
    char *device, *device_too, *device_there;  // COPY_MAX bytes each, all zero
    char *pageable, *pageable_too, *page_lock; // of the host; pinned: page_lock, page_lock_too
    char *page_lock_too;
    int *managed;
    // What came of it.
    int additions;  // calls of add(): all must be in the word
    bool from_host; // what B found is host_seen
    int host_seen;
    const char *skipped; // why this machine cannot do it
    const char *failed;  // the call that failed, and its error
    cudaError_t error;
};

struct rule {
    const char *name;
    enum promise promise;
    const char *source; // where the documentation says so, or leaves it open
    void (*run)(struct trial &trial);
    int devices;         // needed; 0 is one
    int trials;          // at most; 0: any number
    const char *no_note; // why csan's report cannot say that the hardware was seen to order it
};

struct rules {
    const struct rule *first;
    size_t count;
};
struct rules stream_rules(), event_rules(), host_rules(), copy_rules(), memory_rules(),
    graph_rules(), launch_rules(), context_rules(), device_rules();

// A and B on the device. A: wait hold_us, store 1. B: store the word into seen.
void first(struct trial &trial, cudaStream_t stream);
void second(struct trial &trial, cudaStream_t stream);
// A without a store, where the call itself does what B looks at.
void hold(struct trial &trial, cudaStream_t stream);
// A and B in one: read the word, wait hold_us, store what was read plus one. Two that overlap lose
// one.
void add(struct trial &trial, cudaStream_t stream);
// B on the host, the word being in memory of the host.
void second_on_host(struct trial &trial, const int *word);
// The kernels themselves, for graphs and attributes.
const void *first_kernel(), *second_kernel(), *add_kernel();
// Kernels that were never launched before, `number` < LAZY_KERNELS. False when there are no more.
bool second_lazily(struct trial &trial, cudaStream_t stream, int number);
// Launch with attributes.
void first_with(struct trial &trial, cudaStream_t stream, const cudaLaunchAttribute &attribute);
// Programmatic dependent launch (sm_90): A lets the next kernel of its stream begin early; B waits
// for A's end (griddepcontrol.wait) or not.
void first_triggering(struct trial &trial, cudaStream_t stream);
void second_dependent(struct trial &trial, cudaStream_t stream, bool waits);

// The word is `word` from now on: 0, then read by B and written by A.
void use_word(struct trial &trial, int *word);
// B stores what it found there from now on: memory of the host.
void use_seen(struct trial &trial, int *seen);
// One statement that may fail: then the trial counts as failed, or skipped where it is not
// supported.
bool check(struct trial &trial, cudaError_t error, const char *call);
bool check_driver(struct trial &trial, int result, const char *call);
void skip(struct trial &trial, const char *why);
// A function of the driver API as of a version, or NULL (and the trial is skipped).
void *driver_function(struct trial &trial, const char *name, unsigned version);

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!check(trial, (call), #call))                                                          \
            return;                                                                                \
    } while (0)
#define TRY_DRIVER(call)                                                                           \
    do {                                                                                           \
        if (!check_driver(trial, (int)(call), #call))                                              \
            return;                                                                                \
    } while (0)
