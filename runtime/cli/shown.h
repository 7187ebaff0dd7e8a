/* What the command prints, as a terminal may be shown it: names of files, programs and kernels may
 * hold any bytes (csan/base/text.h). */
#ifndef RUNTIME_CLI_SHOWN_H
#define RUNTIME_CLI_SHOWN_H

/* From here on standard error, and standard output where it is a terminal, go through
 * text_add_shown. Before anything is printed. */
void shown_start(void);

/* How far the command is, on standard error, which is a terminal: a line that the next such line
 * replaces. Names in it are shown as above. "" takes the line away. */
void shown_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
