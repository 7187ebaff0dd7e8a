/* Records in device memory (record.h), one for each launch that is being traced. They are made in a
 * context when needed, up to a limit, used by a launch, read when that is done, and cleared.
 *
 * All calls reach the driver behind the hooks. None waits for the program's work: copies and clears
 * go through a stream of the pool's own, for which only the reader waits. */
#ifndef RUNTIME_TRACER_BUFFER_H
#define RUNTIME_TRACER_BUFFER_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/tracer/recorded.h"

struct buffer_pool;

struct buffer {
    struct buffer_pool *pool;
    CUdeviceptr record;
    uint32_t size; /* of the record (record.h) */
    CUevent done;  /* after the launch; after the first clear, which comes before the launch */
    bool clearing; /* it is not known to be empty yet */
    struct buffer *next;
};

/* The records of one context, which must be current to the calling thread, of at most `limit`
 * bytes of device memory; NULL when none can be had. The caller holds it. */
struct buffer_pool *buffer_pool_create(CUcontext context, uint64_t limit);
/* The largest records it has. */
uint32_t buffer_pool_largest(const struct buffer_pool *pool);
void buffer_pool_hold(struct buffer_pool *pool);
void buffer_pool_release(struct buffer_pool *pool);

/* The context is gone, and with it the pool's memory, streams and events. No record is handed out
 * again, and none of it is given to the driver. May be called with the driver's locks held. */
void buffer_pool_close(struct buffer_pool *pool);

/* An empty record of that size, or of the next that there is, with the pool's context current;
 * NULL: none is free, and the limit is reached or the device does not come to clear a new one. A
 * buffer holds its pool, until it is returned, read or dropped. */
struct buffer *buffer_take(struct buffer_pool *pool, uint32_t size);

/* Whose kernels can reach its record. */
CUcontext buffer_context(const struct buffer *buffer);

/* Returns a record that no launch has used. */
void buffer_return(struct buffer *buffer);
/* Drops a record that a launch may still write to: its memory is never used again. */
void buffer_drop(struct buffer *buffer);

/* Records `done` after the stream's present work. False: the driver refused. */
bool buffer_mark(struct buffer *buffer, CUstream stream, bool thread_default);

enum buffer_state { BUFFER_BUSY, BUFFER_DONE, BUFFER_BROKEN };

/* Whether the marked work is done; BROKEN: the device or the context failed. */
enum buffer_state buffer_state(const struct buffer *buffer);

/* Of one that is done: what the launch, whose granules had 1 << granule_shift bytes, touched goes
 * to *recorded, unless that is NULL; the buffer is empty then and given back. False: it could not
 * be, and was dropped. By one thread at a time. */
bool buffer_read(struct buffer *buffer, uint32_t granule_shift, struct recorded *recorded);

#endif
