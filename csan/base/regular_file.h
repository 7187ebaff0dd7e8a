/* Opens a file that a person names for csan to read. A folder, a pipe or a device is refused:
 * opening a pipe would stop the program that csan is in, and a device need not end. */
#ifndef CSAN_BASE_REGULAR_FILE_H
#define CSAN_BASE_REGULAR_FILE_H

/* Opens it for reading. Returns the descriptor, which the caller closes; or -1, and *wrong says
 * why. */
int regular_file_open(const char *path, const char **wrong);

#endif
