/* The file of known programs. See programs.h. */
#include "runtime/learn/programs.h"
#include "runtime/learn/cache.h"
#include "runtime/learn/learned_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE "%016" PRIx64 "%016" PRIx64 " %u %u %u\n"

enum { LINE_BYTES = 80, MISSED_MOST = 10, SETTLED_MOST = 1 << MISSED_MOST };

struct known {
    struct learn_program program;
    unsigned settled; /* processes that learned, in a row, and had nothing left; SETTLED_MOST at
                         most */
    unsigned rested;  /* since */
    unsigned missed;  /* times that one that rested met something new, less what was taken back */
};

struct programs {
    uint32_t count;
    struct known known[PROGRAMS_MOST + 1];
};

static void path_make(char *path, size_t bytes, const struct learner_options *options)
{
    char version[32];
    learned_version(version, sizeof version);
    snprintf(path, bytes, "%s/programs-%s", options->cache, version);
}

static bool same(const struct learn_program *a, const struct learn_program *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static bool line_read(const char *line, struct known *known)
{
    char end;
    return sscanf(line, "%16" SCNx64 "%16" SCNx64 " %9u %9u %9u%c", &known->program.words[0],
                  &known->program.words[1], &known->settled, &known->rested, &known->missed,
                  &end) == 6 &&
           end == '\n' && known->missed <= MISSED_MOST;
}

/* NULL when memory is short. */
static struct programs *programs_read(const struct learner_options *options)
{
    char path[PATH_MAX], line[LINE_BYTES];
    struct programs *all = calloc(1, sizeof *all);
    path_make(path, sizeof path, options);
    int descriptor = all ? cache_open(path) : -1;
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
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

static size_t line_write(char *line, const struct known *known)
{
    return (size_t)snprintf(line, LINE_BYTES, LINE, known->program.words[0],
                            known->program.words[1], known->settled, known->rested, known->missed);
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
        length += line_write(text + length, &all->known[i]);
    bool written = learned_file_replace(path, (const uint8_t *)text, length);
    free(text);
    return written;
}

static void remove_at(struct programs *all, uint32_t at)
{
    all->count--;
    memmove(&all->known[at], &all->known[at + 1], (all->count - at) * sizeof *all->known);
}

static bool may_rest(const struct known *known)
{
    return known->settled >= 1u << known->missed;
}

int programs_find(const struct learner_options *options, const struct learn_program *program)
{
    struct programs *all = programs_read(options);
    const uint32_t at = all ? place_of(all, program) : 0;
    const bool rests = all && at < all->count && may_rest(&all->known[at]);
    const int rested = rests ? (int)all->known[at].rested : -1;
    free(all);
    return rested;
}

static void known_change(struct known *known, enum program_note note)
{
    switch (note) {
    case PROGRAM_RESTED:
        known->rested += may_rest(known); /* else another one met something new meanwhile */
        return;
    case PROGRAM_MISSED:
        known->missed += known->missed < MISSED_MOST;
        known->settled = 0;
        break;
    case PROGRAM_SETTLED:
        known->missed -= known->rested > 0 && known->missed > 0;
        known->settled += known->settled < SETTLED_MOST;
        break;
    default:
        known->settled = 0;
    }
    known->rested = 0;
}

static void change(struct programs *all, const struct learn_program *program,
                   enum program_note note)
{
    const uint32_t at = place_of(all, program);
    struct known known = {.program = *program};
    if (at < all->count) {
        known = all->known[at];
        remove_at(all, at);
    }
    known_change(&known, note);
    if (known.settled || known.missed)
        all->known[all->count++] = known;
    if (all->count > PROGRAMS_MOST)
        remove_at(all, 0);
}

bool programs_note(const struct learner_options *options, const struct learn_program *program,
                   enum program_note note)
{
    int lock = learned_directory_lock(options);
    struct programs *all = lock >= 0 ? programs_read(options) : NULL;
    bool noted = all != NULL;
    if (noted) {
        change(all, program, note);
        noted = programs_write(options, all);
    }
    free(all);
    learned_directory_unlock(options, lock);
    return noted;
}
