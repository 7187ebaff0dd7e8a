/* Frames of an interpreted language in a recording: what they meant in the recorded process. They
 * have one source in this process (csan/stack/stack_source.h), so one recording is described at a
 * time.
 */
#ifndef RUNTIME_CLI_FINDINGS_RECORDED_LINES_H
#define RUNTIME_CLI_FINDINGS_RECORDED_LINES_H

struct replay_definitions;

/* From now on frames are described by these; NULL: by none. They stay the caller's. */
void recorded_lines_use(const struct replay_definitions *definitions);

#endif
