/* Files that the user names to csan, for programs that may start in another directory, as ctest's
 * and a launcher's do. */
#ifndef RUNTIME_CLI_PROCESS_FILE_FROM_HERE_H
#define RUNTIME_CLI_PROCESS_FILE_FROM_HERE_H

/* The file as an absolute path, seen from this process's directory; free() it. NULL: out of memory.
 * Links are not followed, and the file need not exist. Where the directory's own name has what
 * CSAN_OPTIONS or a pattern of csan's would read (' % or a line's end), and where it is unknown, it
 * is the name as it was given. */
char *file_from_here(const char *name);

#endif
