/* The command's output in a form that is safe for a terminal: names of files, programs and kernels
 * may contain any bytes (csan/base/text.h). */
#ifndef RUNTIME_CLI_SHOWN_H
#define RUNTIME_CLI_SHOWN_H

/* From now on standard error, and standard output if it is a terminal, go through text_add_shown.
 * Call it before anything is printed. */
void shown_start(void);

/* Shows how far the command is, on standard error if that is a terminal: a line that the next such
 * line replaces. Names in it are shown as above. "" removes the line. */
void shown_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
