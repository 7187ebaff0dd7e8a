/* Handler calls made on csan's detector through include/csan/csan.h, as runtime/torch's
 * event_handler.py makes them: a stream is a lane, a tensor a declared block of one byte, each of
 * its lives an owner. */
#ifndef CSAN_TESTS_TORCH_REPLAY_H
#define CSAN_TESTS_TORCH_REPLAY_H

#include "call.h"

struct replay;
struct replay *replay_create(void);         /* NULL: message on stderr */
void replay_destroy(struct replay *replay); /* NULL is fine */

/* Begin another program in the same context: the device is synchronized, then all streams, events
 * and tensors of the former are gone, and their lanes and memory are there to be used again. */
void replay_restart(struct replay *replay);

/* Make the call. For a launch, *reported is what csan found, valid until the next call. */
size_t replay_call(struct replay *replay, const struct call *call,
                   const struct reported **reported);

#endif
