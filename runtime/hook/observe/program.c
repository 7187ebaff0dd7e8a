/* This process's program. See program.h. */
#include "runtime/hook/observe/program.h"
#include "csan/base/hash.h"
#include "csan/base/output.h"
#include "runtime/hook/session/session_options.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MOST = 1 << 20 };

static void take(struct learn_program *program, const void *bytes, size_t count)
{
    program->words[0] = hash_mix_bytes(program->words[0], bytes, count);
    program->words[1] = hash_mix_bytes(~program->words[1], bytes, count);
}

static void take_number(struct learn_program *program, uint64_t number)
{
    take(program, &number, sizeof number);
}

/* Nothing where it is no file. */
static void take_file(struct learn_program *program, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    take_number(program, (uint64_t)status.st_size);
    take_number(program, (uint64_t)status.st_mtim.tv_sec);
    take_number(program, (uint64_t)status.st_mtim.tv_nsec);
}

/* The process's arguments, each ended by a NUL, to be freed; NULL: they cannot be read. */
static char *arguments_read(size_t *length)
{
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    char *text = file >= 0 ? malloc(ARGUMENTS_MOST + 1) : NULL;
    ssize_t got = text ? 1 : 0;
    *length = 0;
    while (got > 0 && *length < ARGUMENTS_MOST) {
        got = read(file, text + *length, ARGUMENTS_MOST - *length);
        *length += got > 0 ? (size_t)got : 0;
    }
    if (file >= 0)
        close(file);
    if (text)
        text[*length] = '\0';
    return text;
}

/* Another argument identifies the program. */
static bool identifies_nothing(const char *argument)
{
    return strcmp(argument, "-") == 0 || strcmp(argument, "--multiprocessing-fork") == 0;
}

static bool take_arguments(struct learn_program *program)
{
    bool identified = true;
    size_t length;
    char *text = arguments_read(&length);
    if (!text)
        return false;
    take(program, text, length);
    for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
        identified = identified && !identifies_nothing(text + at);
        take_file(program, text + at);
    }
    free(text);
    return identified && length > 0;
}

bool program_identify(struct learn_program *program)
{
    char path[PATH_MAX];
    const char *rank = output_rank();
    *program = (struct learn_program){{0}};
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0)
        return false;
    take(program, path, (size_t)length);
    take_file(program, "/proc/self/exe");
    if (!getcwd(path, sizeof path))
        return false;
    take(program, path, strlen(path));
    if (rank)
        take(program, rank, strlen(rank));
    take_number(program, session_options()->access.number);
    return take_arguments(program);
}
