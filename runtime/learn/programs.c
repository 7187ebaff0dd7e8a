/* The file of known programs. See programs.h. */
#include "runtime/learn/programs.h"
#include "runtime/learn/learned_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "programs"
#define LINE      "%016" PRIx64 "%016" PRIx64 " %u\n"

enum { LINE_BYTES = 48 };

struct known {
    struct learn_program program;
    unsigned rested;
};

struct programs {
    uint32_t count;
    struct known known[PROGRAMS_MOST + 1];
};

static void path_make(char *path, size_t bytes, const struct learner_options *options)
{
    snprintf(path, bytes, "%s/" FILE_NAME, options->cache);
}

static bool same(const struct learn_program *a, const struct learn_program *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static bool line_read(const char *line, struct known *known)
{
    char end;
    return sscanf(line, "%16" SCNx64 "%16" SCNx64 " %9u%c", &known->program.words[0],
                  &known->program.words[1], &known->rested, &end) == 4 &&
           end == '\n';
}

/* NULL when memory is short. */
static struct programs *programs_read(const struct learner_options *options)
{
    char path[PATH_MAX], line[LINE_BYTES];
    struct programs *all = calloc(1, sizeof *all);
    path_make(path, sizeof path, options);
    FILE *file = all ? fopen(path, "re") : NULL;
    while (file && all->count < PROGRAMS_MOST && fgets(line, sizeof line, file))
        all->count += line_read(line, &all->known[all->count]);
    if (file)
        fclose(file);
    return all;
}

/* Its place, or that behind the last. */
static uint32_t place_of(const struct programs *all, const struct learn_program *program)
{
    uint32_t at = 0;
    while (at < all->count && !same(&all->known[at].program, program))
        at++;
    return at;
}

static bool programs_write(const struct learner_options *options, const struct programs *all)
{
    char path[PATH_MAX];
    char *text = malloc((size_t)all->count * LINE_BYTES + 1);
    size_t length = 0;
    if (!text)
        return false;
    path_make(path, sizeof path, options);
    for (uint32_t i = 0; i < all->count; i++)
        length += (size_t)snprintf(text + length, LINE_BYTES, LINE, all->known[i].program.words[0],
                                   all->known[i].program.words[1], all->known[i].rested);
    bool written = learned_file_replace(path, (const uint8_t *)text, length);
    free(text);
    return written;
}

static void remove_at(struct programs *all, uint32_t at)
{
    all->count--;
    memmove(&all->known[at], &all->known[at + 1], (all->count - at) * sizeof *all->known);
}

int programs_find(const struct learner_options *options, const struct learn_program *program)
{
    struct programs *all = programs_read(options);
    const uint32_t at = all ? place_of(all, program) : 0;
    const int rested = all && at < all->count ? (int)all->known[at].rested : -1;
    free(all);
    return rested;
}

/* False: nothing is to be written. */
static bool change(struct programs *all, const struct learn_program *program,
                   enum program_note note)
{
    const uint32_t at = place_of(all, program);
    const bool known = at < all->count;
    const unsigned rested = note == PROGRAM_RESTED && known ? all->known[at].rested + 1 : 0;
    if (known)
        remove_at(all, at);
    if (note == PROGRAM_OPEN || (note == PROGRAM_RESTED && !known))
        return known; /* another process found that something is new */
    all->known[all->count++] = (struct known){*program, rested};
    if (all->count > PROGRAMS_MOST)
        remove_at(all, 0);
    return true;
}

bool programs_note(const struct learner_options *options, const struct learn_program *program,
                   enum program_note note)
{
    if (note == PROGRAM_OPEN && programs_find(options, program) < 0)
        return true;
    int lock = learned_directory_lock(options);
    struct programs *all = lock >= 0 ? programs_read(options) : NULL;
    bool noted = all && (!change(all, program, note) || programs_write(options, all));
    free(all);
    learned_directory_unlock(options, lock);
    return noted;
}
