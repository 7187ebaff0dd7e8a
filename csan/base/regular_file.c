/* See regular_file.h. */
#include "csan/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_open(const char *path, const char **wrong)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &status) != 0)
        *wrong = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        *wrong = "it is a directory, not a file";
    else if (!S_ISREG(status.st_mode))
        *wrong = "it is no regular file";
    else
        return file;
    if (file >= 0)
        close(file);
    return -1;
}
