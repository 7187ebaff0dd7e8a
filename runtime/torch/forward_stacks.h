/* Where the operators of a forward pass were called, for the backward functions that autograd makes
 * of them: by the number that PyTorch gives both (Node::sequence_nr). The newest 65,536 operators
 * are remembered. Thread-safe. */
#ifndef RUNTIME_TORCH_FORWARD_STACKS_H
#define RUNTIME_TORCH_FORWARD_STACKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FORWARD_FRAMES_MAX = 40 };

/* `thread` is RecordFunction::currentThreadId() of the forward call. At most FORWARD_FRAMES_MAX
 * innermost frames are kept. Of several calls of one number the last counts. */
void forward_stacks_put(uint64_t thread, int64_t sequence, const void *const *frames, size_t count);
/* How many there are, at most `capacity`; 0: not known (any more). */
size_t forward_stacks_get(uint64_t thread, int64_t sequence, const void **frames, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
