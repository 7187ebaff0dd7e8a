/* The command's output in a form that is safe for a terminal: names of files, programs and kernels
 * may contain any bytes (csan/base/text.h). */
#ifndef RUNTIME_CLI_SHOWN_H
#define RUNTIME_CLI_SHOWN_H

#include <stdbool.h>

/* From now on standard error, and standard output if it is a terminal, go through text_add_shown.
 * Call it before anything is printed. */
void shown_start(void);

/* From now on lines on standard output are broken at the terminal's width, if that is a terminal.
 * For what people read: no document, and nothing to be copied as it is. */
void shown_wrap(void);

/* Shows how far the command is, on standard error if that is a terminal: a line that the next such
 * line replaces. Names in it are shown as above. "" removes the line. */
void shown_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For work that takes longer than a second: when to show how far it is. */
struct shown_pace {
    double began, drawn; /* seconds; 0: not yet */
    bool shown;
};
/* Whether it is time for shown_progress: standard error is a terminal, a second has passed since
 * the first call, and a fifth of one since the last time. */
bool shown_is_due(struct shown_pace *pace);
/* Removes the line, before something else is printed and at the end. */
void shown_done(struct shown_pace *pace);

#endif
