/* See lock_order.h. */
#include "csan/base/lock_order.h"
#include "csan/base/output.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

const struct lock_kind_words lock_kinds[LOCK_KINDS] = {
    [LOCK_TRACER_READING] = {"the reader of traces", "its calls of the driver"},
    [LOCK_DEFERRED_TURN] = {"deferred work", "which thread flushes deferred work"},
    [LOCK_INJECTION] = {"injected faults", "the numbers of synchronizations, and their lines"},
    [LOCK_TRACER_CALLS] = {"calls that change modules", "the Sanitizer API, one caller at a time"},
    [LOCK_FFT_PLANS] = {"cuFFT plans", "what plans were made of"},
    [LOCK_PTX_READER] = {"the PTX reader", "one reading at a time"},
    [LOCK_KERNEL] = {"a kernel", "its analysis"},
    [LOCK_HOOKS] = {"the hooks", "streams, events, graphs and functions"},
    [LOCK_FAILURES] = {"failed kernels", "what is known of failures"},
    [LOCK_DUMPS] = {"core dumps", "the pipes that the driver writes dumps into"},
    [LOCK_WRONG_POINTERS] = {"wrong pointers", "which pointers were asked for"},
    [LOCK_OUT_OF_MEMORY] = {"shortages", "the newest allocation that failed"},
    [LOCK_PROGRESS] = {"progress", "the words that streams write behind launches"},
    [LOCK_TRACES] = {"traces", "launches whose traces are not there yet"},
    [LOCK_RANGE_VERIFIER] = {"the range verifier", "its counts and differences"},
    [LOCK_LEARNING_WAIT] = {"launches that are waited for",
                            "the launches that a learner waits for"},
    [LOCK_IDENTITY] = {"identities", "the names that kernels have from run to run"},
    [LOCK_WORKSPACES] = {"workspaces", "the workspaces that handles of cuBLAS were given"},
    [LOCK_LINKER] = {"nvJitLink", "links and the PTX that was added to them"},
    [LOCK_COMPILED_PTX] = {"compiled PTX", "the PTX of machine code that was made in the process"},
    [LOCK_NVTX] = {"NVTX", "names, domains and heaps"},
    [LOCK_TRACER_MODULES] = {"modules", "modules and kernels that are patched"},
    [LOCK_TRACER_RECORDS] = {"records", "traced launches that are not read yet"},
    [LOCK_TRACER_CONTEXTS] = {"contexts that are traced", "contexts and their streams"},
    [LOCK_TRACER_BUFFERS] = {"buffers of traces", "buffers that are free"},
    [LOCK_OBJECTS] = {"textures and tensor maps", "what is under each handle"},
    [LOCK_ARRAYS] = {"arrays", "ranges of CUDA arrays"},
    [LOCK_KNOWN_CONTENTS] = {"known contents", "what device memory holds"},
    [LOCK_COPIED_VALUES] = {"copied values", "what small copies wrote"},
    [LOCK_GRAPH_MEMORY] = {"memory of graphs", "what nodes allocate"},
    [LOCK_OPERATOR_SUMMARIES] = {"summaries of operators", "what operators made of launches"},
    [LOCK_KERNEL_READS] = {"kernels' reads", "what code reads of parameters"},
    [LOCK_NAMES] = {"names", "texts that live on"},
    [LOCK_DEVICE_NAME] = {"the device", "its name"},
    [LOCK_ADDED_ORDERS] = {"added orders", "places, and the events recorded for them"},
    [LOCK_ADDED_STREAMS] = {"numbered streams", "the streams of the program in order"},
    [LOCK_DEFERRED_FILLING] = {"a batch", "the batch that is filled"},
    [LOCK_DEFINITIONS] = {"definitions", "what a recording has written once"},
    [LOCK_DETECTOR] = {"the detector", "a context and all that it knows"},
    [LOCK_COUNTERS] = {"counters", "what is named in the summary"},
    [LOCK_DELIVERY] = {"reports", "findings and notes that wait to be written"},
};

enum { HELD_MOST = 32 };

static __thread struct {
    unsigned count;
    unsigned char kinds[HELD_MOST];
} held __attribute__((tls_model("initial-exec")));

/* SIGABRT past the program's handlers, and csan's own, which would wait for the lock. */
static void refuse(enum lock_kind wanted, enum lock_kind has)
{
    char line[256];
    const int length = snprintf(line, sizeof line,
                                "csan: lock order: the lock of %s is taken within the lock of %s\n",
                                lock_kinds[wanted].name, lock_kinds[has].name);
    output_write(STDERR_FILENO, line, (size_t)length);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
}

void lock_order_tried(enum lock_kind kind)
{
    if (held.count < HELD_MOST)
        held.kinds[held.count++] = (unsigned char)kind;
}

void lock_order_taking(enum lock_kind kind)
{
    for (unsigned i = 0; i < held.count; i++)
        if (held.kinds[i] >= kind)
            refuse(kind, held.kinds[i]);
    lock_order_tried(kind);
}

void lock_order_given(enum lock_kind kind)
{
    unsigned at = held.count;
    while (at > 0 && held.kinds[at - 1] != kind)
        at--;
    for (; at > 0 && at < held.count; at++)
        held.kinds[at - 1] = held.kinds[at];
    if (at > 0)
        held.count--;
}
