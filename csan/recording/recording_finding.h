/* A finding that is no race, as a recording has it: it came from outside of the detector, so that a
 * replay cannot find it again. Its texts are "key value", a key for each thing that is known, so
 * that more can be said without another form; a reader passes over keys that it does not know. */
#ifndef CSAN_RECORDING_RECORDING_FINDING_H
#define CSAN_RECORDING_RECORDING_FINDING_H

#include "csan/detector/context.h"
#include "csan/recording/recording_format.h"

/* The entry's texts, their number first. */
void recording_finding_put(struct byte_buffer *buffer, const struct context_finding *finding);

/* What the texts say, into `finding`, whose strings are the texts' from here on. The data of a
 * failed allocation goes into `out_of_memory`; its sites are the recording's numbers. False: they
 * are no finding. */
bool recording_finding_get(const char *const *texts, size_t count, struct context_finding *finding,
                           struct csan_out_of_memory *out_of_memory);

/* What the texts have behind the key; NULL: nothing. */
const char *recording_finding_text(const char *const *texts, size_t count, const char *key);

#endif
