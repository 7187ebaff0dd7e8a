/* A directory for the files of many runs. See scratch.h. */
#include "runtime/cli/process/scratch.h"
#include "csan/base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Paths go to the program in CSAN_OPTIONS, as log_path='...': what would end or change the text
 * there cannot be part of one. */
static bool check_name(const struct program *program, const char *directory)
{
    if (!strpbrk(directory, "'%"))
        return true;
    program_fail(program, 0,
                 "cannot write its files to '%s': csan cannot pass on paths with a ' or a %%; set "
                 "TMPDIR to another directory",
                 directory);
    return false;
}

int scratch_make(struct scratch *scratch, const struct program *program)
{
    enum { NAME = 32 }; /* bytes of what is added */
    const char *parent = getenv("TMPDIR");
    char absolute[PATH_MAX];
    if (!parent || !*parent)
        parent = "/tmp";
    if (!realpath(parent, absolute) || strlen(absolute) + NAME > PATH_MAX)
        return program_fail(program, EXIT_CANNOT_RUN,
                            "cannot write its files to '%s': %s; set TMPDIR to a directory that "
                            "can be written",
                            parent, strerror(errno));
    if (!check_name(program, absolute))
        return EXIT_CANNOT_RUN;
    snprintf(scratch->directory, sizeof scratch->directory, "%.*s/csan-%s-XXXXXX", PATH_MAX - NAME,
             absolute, program->command);
    if (!mkdtemp(scratch->directory))
        return program_fail(program, EXIT_CANNOT_RUN,
                            "cannot make a directory for its files in '%s': %s; set TMPDIR to a "
                            "directory that can be written",
                            absolute, strerror(errno));
    return 0;
}

static bool is_own(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool is_empty(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool empty = true;
    while (directory && empty && (entry = readdir(directory)))
        empty = !is_own(entry);
    if (directory)
        closedir(directory);
    return empty;
}

int scratch_take(struct scratch *scratch, const struct program *program, const char *directory)
{
    if ((mkdir(directory, 0777) != 0 && errno != EEXIST) || access(directory, W_OK | X_OK) != 0 ||
        !realpath(directory, scratch->directory))
        return program_fail(program, EXIT_USAGE, "cannot keep files in '%s': %s", directory,
                            strerror(errno));
    if (!is_empty(scratch->directory))
        return program_fail(program, EXIT_USAGE,
                            "cannot keep files in '%s': it is not empty; name a new directory",
                            directory);
    scratch->named = true;
    return check_name(program, scratch->directory) ? 0 : EXIT_USAGE;
}

void scratch_path(const struct scratch *scratch, const char *name, char path[SCRATCH_PATH])
{
    snprintf(path, SCRATCH_PATH, "%s/%.255s", scratch->directory, name);
}

void scratch_clean(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user)
{
    DIR *directory = opendir(scratch->directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (is_own(entry) && !(keeps && keeps(entry->d_name, user)))
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
}

void scratch_close(const struct scratch *scratch, bool (*keeps)(const char *name, const void *user),
                   const void *user)
{
    scratch_clean(scratch, keeps, user);
    if (!scratch->named)
        rmdir(scratch->directory);
}

uint64_t scratch_hash(const char *path, uint64_t *bytes)
{
    unsigned char block[4096];
    uint64_t hash = HASH_START;
    FILE *file = fopen(path, "re");
    size_t got;
    *bytes = 0;
    while (file && (got = fread(block, 1, sizeof block, file)) > 0) {
        hash = hash_bytes(hash, block, got);
        *bytes += got;
    }
    if (file)
        fclose(file);
    return hash;
}
