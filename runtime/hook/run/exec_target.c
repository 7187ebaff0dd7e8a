/* See exec_target.h. */
#include "runtime/hook/run/exec_target.h"
#include "csan/base/environment.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096, SCRIPTS_MAX = 4 /* interpreters that are scripts (execve(2)) */ };

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool exec_target_is_runnable(const char *path)
{
    const int error = errno;
    const bool runnable = is_file(path) && access(path, X_OK) == 0;
    errno = error;
    return runnable;
}

bool exec_target_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    const char *at = environment_get("PATH");
    for (at = at ? at : "/bin:/usr/bin"; at;) {
        const char *end = strchrnul(at, ':');
        int length =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "", name);
        if (length < PATH_MAX && exec_target_is_runnable(path))
            return true;
        at = *end ? end + 1 : NULL;
    }
    return false;
}

bool exec_target_gains_rights(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 &&
           (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
            ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
            getxattr(path, "security.capability", NULL, 0) > 0);
}

/* The beginning of the file; 0: it cannot be read, as programs need not be. */
static size_t head_read(const char *path, unsigned char head[HEAD_BYTES])
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t bytes = file >= 0 ? pread(file, head, HEAD_BYTES, 0) : 0;
    if (file >= 0)
        close(file);
    return bytes > 0 ? (size_t)bytes : 0;
}

static enum tree_loss elf_loss(const unsigned char *head, size_t bytes)
{
    Elf64_Ehdr header;
    if (bytes < sizeof header)
        return TREE_WATCHED;
    memcpy(&header, head, sizeof header);
    if (!exec_target_is_native(&header))
        return TREE_LOSS_FOREIGN;
    if (header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phoff + (uint64_t)header.e_phnum * sizeof(Elf64_Phdr) > bytes)
        return TREE_WATCHED; /* the beginning does not say */
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, head + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return TREE_WATCHED;
    }
    return TREE_LOSS_STATIC;
}

bool exec_target_is_script(const void *bytes, size_t count)
{
    return count > 2 && memcmp(bytes, "#!", 2) == 0;
}

bool exec_target_interpreter(const void *bytes, size_t count, char path[PATH_MAX])
{
    const char *head = bytes;
    size_t at = 2, length = 0;
    while (at < count && (head[at] == ' ' || head[at] == '\t'))
        at++;
    while (at < count && length + 1 < PATH_MAX && !strchr(" \t\n", head[at]))
        path[length++] = head[at++];
    path[length] = '\0';
    return length > 0;
}

enum tree_loss exec_target_loss(const char *path)
{
    const int error = errno;
    unsigned char head[HEAD_BYTES];
    char interpreter[PATH_MAX];
    enum tree_loss loss = TREE_WATCHED;
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        const size_t bytes = head_read(path, head);
        if (exec_target_is_script(head, bytes) &&
            exec_target_interpreter(head, bytes, interpreter)) {
            path = interpreter; /* a script's own rights count for nothing */
            continue;
        }
        if (exec_target_gains_rights(path))
            loss = TREE_LOSS_RIGHTS;
        else if (bytes >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
            loss = elf_loss(head, bytes);
        break;
    }
    errno = error;
    return loss;
}

/* A program that is to run with csan off, as CSAN=0 says, is not lost. */
enum tree_loss exec_environment_loss(char *const environment[])
{
    bool preloaded = false;
    const char *choice = NULL;
    for (size_t i = 0; environment && environment[i]; i++) {
        if (strncmp(environment[i], "LD_PRELOAD=", 11) == 0)
            preloaded |= strstr(environment[i], "libcsan.so") != NULL;
        else if (strncmp(environment[i], "CSAN=", 5) == 0)
            choice = environment[i] + 5;
    }
    if (choice && environment_switch_of(choice) == ENVIRONMENT_OFF)
        return TREE_WATCHED;
    return choice && preloaded ? TREE_WATCHED : TREE_LOSS_ENVIRONMENT;
}
