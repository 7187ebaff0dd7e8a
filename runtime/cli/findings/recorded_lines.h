/* Frames of an interpreted language in a recording: what they meant in the recorded process. This
 * process has one source for such frames (csan/stack/stack_source.h), so one recording is described
 * at a time. */
#ifndef RUNTIME_CLI_FINDINGS_RECORDED_LINES_H
#define RUNTIME_CLI_FINDINGS_RECORDED_LINES_H

struct replay_definitions;

/* From now on these describe frames; NULL: none do. They stay the caller's. */
void recorded_lines_use(const struct replay_definitions *definitions);

#endif
