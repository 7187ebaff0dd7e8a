/* stat and its kind, functions of glibc 2.33: before, they were inline calls of these. Their first
 * argument is the version of struct stat, for which the kernel's own is 1 on x86-64 and 0 on
 * AArch64 (glibc 2.28, sysdeps/unix/sysv/linux: bits/stat.h). */
#include "runtime/glibc/glibc.h"

#include <sys/stat.h>

#ifdef __x86_64__
enum { STAT_VERSION = 1 };
#else
enum { STAT_VERSION = 0 };
#endif

int __xstat(int version, const char *path, struct stat *status);
int __lxstat(int version, const char *path, struct stat *status);
int __fxstat(int version, int file, struct stat *status);
int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags);

LACKING int stat(const char *restrict path, struct stat *restrict status)
{
    return __xstat(STAT_VERSION, path, status);
}

LACKING int lstat(const char *restrict path, struct stat *restrict status)
{
    return __lxstat(STAT_VERSION, path, status);
}

LACKING int fstat(int file, struct stat *status)
{
    return __fxstat(STAT_VERSION, file, status);
}

LACKING int fstatat(int directory, const char *restrict path, struct stat *restrict status,
                    int flags)
{
    return __fxstatat(STAT_VERSION, directory, path, status, flags);
}
