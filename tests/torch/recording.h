/* A recording of torch.cuda._sanitizer.EventHandler at work: its calls and its verdicts, one a
 * line, written by record_live.py and record_golden.py. `#` begins a comment.
 *
 *   launch STREAM read PTR... write PTR...
 *     race read|write PTR stream STREAM    what PyTorch said of that launch; any number of lines
 *   event_creation E | event_deletion E | event_record E STREAM | event_wait E STREAM
 *   memory_allocation PTR | memory_deallocation PTR | stream_creation STREAM
 *   device_synchronization | stream_synchronization STREAM | event_synchronization E */
#ifndef CSAN_TESTS_TORCH_RECORDING_H
#define CSAN_TESTS_TORCH_RECORDING_H

#include "call.h"

struct recorded_call {
    struct call call;
    struct touch *touches;
    struct named *named;
    size_t named_count;
};

struct recording {
    struct recorded_call *calls;
    size_t count;
};

/* NULL, and a line on stderr that names the line that is wrong. */
struct recording *recording_load(const char *path);
void recording_free(struct recording *recording);

#endif
