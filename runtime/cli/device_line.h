/* Lines of a GPU's machine code. nvcc -lineinfo makes a table of lines without the entries for
 * functions and units, so libdw's usual look-ups find nothing. */
#ifndef RUNTIME_CLI_DEVICE_LINE_H
#define RUNTIME_CLI_DEVICE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source of the instruction at that address, which is relative to the file's sections: a path
 * and a line. False: nothing is known. */
bool device_line(const char *path, uint64_t address, char *file, size_t file_bytes, int *line);

#endif
