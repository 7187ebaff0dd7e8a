/* Follows traced launches from the driver's call to the report of what they touched. A thread of
 * csan's own polls the event behind each launch, reads the launch's record and reports it.
 *
 * Thread-safe. */
#ifndef RUNTIME_TRACER_READER_H
#define RUNTIME_TRACER_READER_H

#include "runtime/hook/observe/trace_source.h"
#include "runtime/tracer/buffer.h"
#include "runtime/tracer/module.h"

/* A traced launch, from the request to the report. */
struct watch {
    uint64_t id; /* 0: the driver has not launched it yet */
    CUstream stream;
    bool thread_default;
    bool failed;         /* no event could be recorded behind it */
    bool discarded;      /* the driver's call failed: the reader only empties the record */
    bool blind;          /* some of what it touches is in no record */
    bool mixed;          /* another launch may have used its record */
    CUgraphNode node;    /* of a graph; NULL: it is launched by itself */
    CUfunction function; /* a node's, as the driver reports it */
    struct buffer *buffer;
    uint32_t largest; /* record there is for it */
    struct module_launch launch;
    struct watch *next;
    uint32_t mapped_count; /* what it touches through tensor maps, besides what is recorded */
    struct device_trace_range mapped[];
};

/* Once: `done` as in device_trace_subscribe. False: no thread could be started. */
bool reader_start(device_trace_done *done, void *user);

/* After the driver's call for a launch that began: an event is recorded behind it, and the reader
 * has it from now on. */
void reader_take(struct watch *watch);
/* The launch did not happen: its record is unused. */
void watch_drop(struct watch *watch);

/* As struct trace_source has them. */
bool reader_rest(void);
void reader_resume(void);

#endif
