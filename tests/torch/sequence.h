/* Random sequences of handler calls, each made from its number alone: the same on every machine.
 *
 * Small numbers of streams, events and tensors make conflicts likely; how often each call comes
 * differs from sequence to sequence, so that some are full of races and some nearly in order.
 * Streams and events are used before they are created, created twice, deleted twice; tensors
 * likewise. */
#ifndef CSAN_TESTS_TORCH_SEQUENCE_H
#define CSAN_TESTS_TORCH_SEQUENCE_H

#include "call.h"

enum { SEQUENCE_CALLS = 48, SEQUENCE_TOUCHES = 4, SEQUENCE_STREAMS = 8 };

struct sequence {
    size_t count;
    struct call calls[SEQUENCE_CALLS];
    struct touch touches[SEQUENCE_CALLS][SEQUENCE_TOUCHES];
};

void sequence_make(struct sequence *sequence, uint64_t number);

/* The streams of every sequence, by index; the first is PyTorch's default stream. */
uint64_t sequence_stream(unsigned index);

#endif
