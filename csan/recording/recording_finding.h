/* A finding that is no race, as a recording stores it. It came from outside of the detector, so a
 * replay cannot find it again. Its texts are "key value", with a key for each known thing. So new
 * keys need no new format: a reader skips keys that it does not know. */
#ifndef CSAN_RECORDING_RECORDING_FINDING_H
#define CSAN_RECORDING_RECORDING_FINDING_H

#include "csan/detector/context.h"
#include "csan/recording/recording_format.h"

/* The entry's texts, their number first. */
void recording_finding_put(struct byte_buffer *buffer, const struct context_finding *finding);

/* Fills `finding` from the texts. Its strings are parts of the texts. The data of a failed
 * allocation goes into `out_of_memory`; its sites are the recording's numbers. False: the texts are
 * no finding. */
bool recording_finding_get(const char *const *texts, size_t count, struct context_finding *finding,
                           struct csan_out_of_memory *out_of_memory);

/* The value behind the key; NULL: there is none. */
const char *recording_finding_text(const char *const *texts, size_t count, const char *key);

#endif
