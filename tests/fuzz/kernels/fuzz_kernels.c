/* Compares what the analysis says random kernels touch in random launches with what they do touch.
 *
 *   fuzz_kernels [--seed N] [--launches N] [--kernel NAME] [--keep DIRECTORY]
 *                [--verbose] [--spoil] X.ptx...
 *
 * X.spec and X.cu lie beside X.ptx, as generate.py wrote them; --launches is for all files
 * together. Each kernel is launched with random grids, blocks, parameters and pointers on the
 * embedded device's engine, which records the bytes touched. The set that access_set_find returned
 * for the launch must agree (runtime/access/verify.h). Every second launch differs from the
 * previous one only in pointers, and must get the same set. Now and then a fresh analysis must
 * agree with the cached one. The exit code is 1 if anything disagreed. Each disagreement is printed
 * with all that is needed to reproduce it, and leaves the kernel's files in DIRECTORY. With --spoil
 * the last range of each set is removed first, to check that such a set would be found. */
#include "playground.h"
#include "random.h"
#include "runtime/ptx/ptx.h"
#include "specification.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PARAMETERS = 64, PARAMETER_BYTES = 4352, FRESH = 8, MOST_REPORTS = 25 };

static const char *const bound_names[] = {
    "exact", "direction", "data", "guard", "shape", "budget",
};
enum { BOUNDS = sizeof bound_names / sizeof *bound_names };
static const char *const kind_names[] = {"", "read", "write", "atomic"};

struct options {
    uint64_t seed, launches;
    const char *kernel, *keep;
    bool verbose, spoil;
};

struct totals {
    uint64_t kernels, launches, in_part, not_played, too_large;
    uint64_t unsound, not_exact, unequal;              /* launches */
    uint64_t complete, incomplete;                     /* launches */
    uint64_t pointers[BOUNDS], unknown_pointers;       /* of launches */
    uint64_t exact_kernels;                            /* every launch's set was exact */
    uint64_t misses, slowest_nanoseconds, nanoseconds; /* of fresh analyses */
    char slowest[64];
};

/* A module being played, and of it one kernel and one launch. */
struct play {
    const struct options *options;
    struct totals *totals;
    const char *path; /* X.ptx */
    struct playground playground;
    const struct kernel_specification *specification;
    const struct ptx_function *function;
    struct access_kernel *kernel;
    struct random random;
    uint64_t number; /* of the launch, of this kernel */
    struct access_launch launch;
    uint8_t bytes[PARAMETER_BYTES];
    const void *parameters[PARAMETERS];
    bool reported;
    uint32_t worst; /* bound of this kernel's launches */
    char worst_reason[256];
    uint32_t worst_line;
};

/* Of this thread: the machine may be busy with others. */
static uint64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* "DIRECTORY/X" of "DIRECTORY/X.ptx", and an ending */
static void beside(const char *path, const char *ending, char *to, size_t bytes)
{
    size_t length = strlen(path);
    if (length > 4 && !strcmp(path + length - 4, ".ptx"))
        length -= 4;
    snprintf(to, bytes, "%.*s%s", (int)length, path, ending);
}

/* ---- Launches ------------------------------------------------------------------------------ */

static void choose_sizes(struct play *play)
{
    const struct kernel_specification *s = play->specification;
    for (int k = 0; k < 3; k++) {
        play->launch.grid[k] = s->grid[k];
        play->launch.block[k] = s->block[k];
        if (!random_one_in(&play->random, 3))
            play->launch.grid[k] = 1 + (uint32_t)random_below(&play->random, s->grid[k]);
        if (!random_one_in(&play->random, 2))
            play->launch.block[k] = 1 + (uint32_t)random_below(&play->random, s->block[k]);
    }
    play->launch.dynamic_shared = s->dynamic_shared;
}

static int64_t choose_scalar(struct random *random, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low;
    switch (random_below(random, 8)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2: /* near the low end */
        return low + (int64_t)random_below(random, span < 4 ? span + 1 : 4);
    case 3: /* a power of two */
        if (low >= 0 && high > 1) {
            int64_t power = (int64_t)1 << random_below(random, 62);
            while (power > high)
                power >>= 1;
            return power < low ? low : power;
        }
        break;
    default:
        break;
    }
    uint64_t drawn = random_next(random);
    return (int64_t)((uint64_t)low + (span == UINT64_MAX ? drawn : drawn % (span + 1)));
}

static uint8_t *field_place(struct play *play, const struct field *field)
{
    return play->bytes + play->function->params[field->parameter].offset + field->offset;
}

static void choose_scalars(struct play *play)
{
    static const double values[] = {0, 1, -1, 0.5, 3, 0.2, 300};
    for (uint32_t i = 0; i < play->specification->field_count; i++) {
        const struct field *f = &play->specification->fields[i];
        if (f->kind == FIELD_SCALAR) {
            int64_t value = choose_scalar(&play->random, f->low, f->high);
            memcpy(field_place(play, f), &value, f->bytes);
        } else if (f->kind == FIELD_FLOAT) {
            double value = values[random_below(&play->random, sizeof values / sizeof *values)];
            float single = (float)value;
            memcpy(field_place(play, f), f->bytes == 4 ? (void *)&single : (void *)&value,
                   f->bytes);
        }
    }
}

/* A pointer a while into a buffer, or to its very start. */
static uint64_t choose_pointer(struct play *play, uint32_t buffer, uint32_t alignment)
{
    uint64_t base = play->playground.regions[buffer].base;
    if (random_one_in(&play->random, 3))
        return base;
    return base + (1 << 20) + random_below(&play->random, 4096) * (alignment ? alignment : 1);
}

static void fill_table(struct play *play, const struct field *field, uint32_t table)
{
    uint64_t at = play->playground.regions[PLAYGROUND_BUFFERS + table].base;
    at += random_below(&play->random, 64) * 8;
    memcpy(field_place(play, field), &at, sizeof at);
    for (uint32_t k = 0; k < field->count; k++) {
        uint32_t buffer = (uint32_t)random_below(&play->random, PLAYGROUND_BUFFERS);
        uint64_t pointer = choose_pointer(play, buffer, 16);
        memcpy(playground_at(&play->playground, at + (uint64_t)8 * k, 8), &pointer, 8);
    }
}

/* Each pointer its own buffer while there are enough, now and then any. */
static void choose_pointers(struct play *play)
{
    uint32_t next = (uint32_t)random_below(&play->random, PLAYGROUND_BUFFERS), tables = 0;
    playground_move(&play->playground, &play->random);
    for (uint32_t i = 0; i < play->specification->field_count; i++) {
        const struct field *f = &play->specification->fields[i];
        if (f->kind == FIELD_TABLE)
            fill_table(play, f, tables++ % PLAYGROUND_TABLES);
        if (f->kind != FIELD_POINTER)
            continue;
        if (!random_one_in(&play->random, 8))
            next++;
        uint64_t pointer = choose_pointer(play, next % PLAYGROUND_BUFFERS, f->alignment);
        memcpy(field_place(play, f), &pointer, sizeof pointer);
    }
    play->launch.memory_version++;
}

/* Tables of pointers are known to whoever asks; other memory is not. */
static bool read_table(void *user, const struct access_base *base, const void *const *parameters,
                       int64_t offset, uint32_t bytes, void *to)
{
    const struct play *play = user;
    if (base->kind != ACCESS_BASE_PARAM)
        return false;
    uint64_t address;
    uint32_t inside = base->param_offset - play->function->params[base->param_index].offset;
    memcpy(&address, (const uint8_t *)parameters[base->param_index] + inside, sizeof address);
    address += (uint64_t)offset;
    for (uint32_t t = 0; t < PLAYGROUND_TABLES; t++) {
        const struct exec_region *region = &play->playground.regions[PLAYGROUND_BUFFERS + t];
        if (address >= region->base && address + bytes <= region->limit) {
            memcpy(to, (void *)(uintptr_t)(address + (uint64_t)region->delta), bytes);
            return true;
        }
    }
    return false;
}

/* ---- What is said of a disagreement -------------------------------------------------------- */

static void print_range(const struct access_set *set, uint32_t index)
{
    const struct access_range *r = &set->ranges[index];
    const struct access_base *b = &set->bases[r->base];
    printf("      range %u: %s %s of base %u (", index, bound_names[r->bound], kind_names[r->kind],
           r->base);
    if (b->kind == ACCESS_BASE_VARIABLE)
        printf("%s", b->variable->name);
    else
        printf("parameter %u, offset %u", b->param_index, b->param_offset);
    printf(") %+" PRId64 " ", r->offset);
    if (r->bytes >= ACCESS_WHOLE)
        printf("%s", r->bytes == ACCESS_WHOLE ? "whole" : "to the end");
    else
        printf("bytes %" PRIu64, r->bytes);
    for (uint32_t k = 0; k < r->dim_count; k++)
        printf(" x (stride %" PRId64 ", count %" PRIu64 ")", r->dims[k].stride, r->dims[k].count);
    printf(" line %u\n", r->line);
}

static void print_set(const struct access_set *set)
{
    printf("    set: %s, %s%s%s%s line %u\n", set->complete ? "complete" : "incomplete",
           set->exact ? "exact" : "not exact", set->reads_memory ? ", reads memory" : "",
           *set->reason ? ": " : "", set->reason, set->reason_line);
    for (uint32_t i = 0; i < set->range_count; i++)
        print_range(set, i);
}

static void print_field(struct play *play, const struct field *f)
{
    int64_t value = 0;
    uint32_t bytes = f->kind == FIELD_POINTER || f->kind == FIELD_TABLE ? 8 : f->bytes;
    memcpy(&value, field_place(play, f), bytes);
    printf("      parameter %u+%u: ", f->parameter, f->offset);
    if (f->kind == FIELD_SCALAR) {
        unsigned unused = 64 - 8 * bytes;
        if (f->low < 0)
            value = (int64_t)((uint64_t)value << unused) >> unused;
        printf("%" PRId64 "\n", value);
    } else {
        printf("0x%" PRIx64 "%s\n", (uint64_t)value, f->kind == FIELD_TABLE ? " (table)" : "");
    }
}

static void print_launch(struct play *play)
{
    const struct access_launch *l = &play->launch;
    printf("    launch %" PRIu64 ": grid %u,%u,%u block %u,%u,%u\n", play->number, l->grid[0],
           l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    for (uint32_t i = 0; i < play->specification->field_count; i++)
        print_field(play, &play->specification->fields[i]);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char block[65536];
    size_t bytes;
    while (in && out && (bytes = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, bytes, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

/* The kernel's source goes to `print` and, after what all kernels share, to `keep`. */
static void copy_source(struct play *play, FILE *keep)
{
    char path[512], line[4096], start[96];
    bool mine = false, shared = true;
    beside(play->path, ".cu", path, sizeof path);
    snprintf(start, sizeof start, "// kernel %s\n", play->specification->name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, "// kernel ", 10)) {
            shared = false;
            mine = !strcmp(line, start);
        }
        if (mine)
            printf("      %s", line);
        if (keep && (mine || shared))
            fputs(line, keep);
        mine = mine && strcmp(line, "// end\n");
    }
    if (file)
        fclose(file);
}

static void keep_reproducer(struct play *play)
{
    char stem[512], path[600];
    const char *directory = play->options->keep ? play->options->keep : ".";
    mkdir(directory, 0777);
    snprintf(stem, sizeof stem, "%s/%" PRIu64 "-%s", directory, play->options->seed,
             play->specification->name);
    snprintf(path, sizeof path, "%s.cu", stem);
    FILE *source = fopen(path, "w");
    copy_source(play, source);
    if (source)
        fclose(source);
    snprintf(path, sizeof path, "%s.ptx", stem);
    copy_file(play->path, path);
    snprintf(path, sizeof path, "%s.spec", stem);
    specification_write(play->specification, path);
    printf("    again: fuzz_kernels --seed %" PRIu64 " --launches %" PRIu64 " %s.ptx\n",
           play->options->seed, play->number + 1, stem);
}

/* The heading of a disagreement: once for a kernel, and for so many kernels. */
static bool report(struct play *play, const struct access_set *set, const char *what)
{
    const struct totals *t = play->totals;
    if (play->reported || t->unsound + t->not_exact + t->unequal > 100 * MOST_REPORTS)
        return false;
    play->reported = true;
    printf("DISAGREEMENT: %s: kernel %s of %s, seed %" PRIu64 "\n", what, play->specification->name,
           play->path, play->options->seed);
    print_launch(play);
    print_set(set);
    keep_reproducer(play);
    return true;
}

/* ---- Judging ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, uint64_t value)
{
    struct random random = {digest ^ value * 0x9e3779b97f4a7c15ull};
    return random_next(&random);
}

/* All that a set says, addresses that were read from memory excepted. */
static uint64_t digest(const struct access_set *set)
{
    uint64_t d = mix(set->base_count, set->range_count * 4 + set->complete * 2 + set->exact);
    for (uint32_t i = 0; i < set->base_count; i++) {
        const struct access_base *b = &set->bases[i];
        d = mix(d, b->kind * 2 + b->guessed);
        d = mix(d, (uint64_t)b->param_offset << 32 | b->param_index);
        d = mix(d, (uint64_t)(uintptr_t)b->variable);
    }
    for (uint32_t i = 0; i < set->range_count; i++) {
        const struct access_range *r = &set->ranges[i];
        d = mix(d, (uint64_t)r->base << 32 | (uint32_t)r->kind << 24 | (uint32_t)r->bound << 16 |
                       (uint32_t)r->width << 8 | r->dim_count);
        d = mix(mix(d, (uint64_t)r->offset), r->bytes);
        for (uint32_t k = 0; k < r->dim_count; k++)
            d = mix(mix(d, (uint64_t)r->dims[k].stride), r->dims[k].count);
    }
    return d;
}

static void count_pointers(struct play *play, const struct access_set *set,
                           const struct verify_base *bases)
{
    struct totals *totals = play->totals;
    uint32_t worst_of_all = set->complete ? ACCESS_EXACT : BOUNDS;
    (*(set->complete ? &totals->complete : &totals->incomplete))++;
    for (uint32_t b = 0; b < set->base_count; b++) {
        uint32_t worst = ACCESS_EXACT;
        for (uint32_t i = 0; i < set->range_count; i++)
            if (set->ranges[i].base == b && set->ranges[i].bound && !worst)
                worst = set->ranges[i].bound;
        if (bases[b].absent)
            continue;
        (*(set->complete ? &totals->pointers[worst] : &totals->unknown_pointers))++;
        if (worst && !worst_of_all)
            worst_of_all = worst;
    }
    if (worst_of_all && !play->worst) {
        play->worst = worst_of_all;
        play->worst_line = set->reason_line;
        snprintf(play->worst_reason, sizeof play->worst_reason, "%s", set->reason);
    }
}

static void print_disagreements(const struct access_set *set, const struct verify_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        const struct verify_disagreement *d = &result->disagreements[i];
        printf("    %s %s of %" PRIu64 " bytes at 0x%" PRIx64 ":\n",
               d->fault == VERIFY_UNSOUND ? "UNSOUND: no range has the" : "NOT EXACT: there is no",
               kind_names[d->kind], d->bytes, d->address);
        if (d->fault == VERIFY_NOT_EXACT)
            print_range(set, d->range);
    }
}

static void count_result(struct play *play, const struct access_set *set,
                         const struct verify_result *result)
{
    bool unsound = false, not_exact = false;
    if (result->verdict == VERIFY_TOO_LARGE)
        play->totals->too_large++;
    for (uint32_t i = 0; i < result->count; i++) {
        unsound |= result->disagreements[i].fault == VERIFY_UNSOUND;
        not_exact |= result->disagreements[i].fault == VERIFY_NOT_EXACT;
    }
    play->totals->unsound += unsound;
    play->totals->not_exact += not_exact;
    if (result->verdict == VERIFY_DISAGREES && report(play, set, unsound ? "unsound" : "not exact"))
        print_disagreements(set, result);
}

static void check(struct play *play, const struct access_set *set)
{
    char message[384];
    struct verify_touch *touches;
    size_t touch_count;
    enum played played =
        playground_play(&play->playground, play->function, &play->launch, play->bytes, &touches,
                        &touch_count, message, sizeof message);
    if (played == PLAYED_NOT) {
        if (!play->totals->not_played++)
            printf("not played: %s\n", message);
        free(touches);
        return;
    }
    play->totals->in_part += played == PLAYED_IN_PART;
    struct verify_base *bases = calloc(set->base_count + 1, sizeof *bases);
    if (!bases)
        abort();
    for (uint32_t i = 0; i < set->base_count; i++)
        bases[i] = playground_base(&play->playground, &set->bases[i], play->bytes);
    struct verify_case checked = {.set = set,
                                  .bases = bases,
                                  .touches = touches,
                                  .touch_count = touch_count,
                                  .unfinished = played == PLAYED_IN_PART};
    struct verify_result result;
    verify_check(&checked, &result);
    count_result(play, set, &result);
    count_pointers(play, set, bases);
    free(bases);
    free(touches);
}

/* A new analysis of the same launch must say what the old one, with all it remembers, says. */
static void compare_fresh(struct play *play, const struct access_set *set)
{
    uint64_t known = digest(set);
    struct access_kernel *fresh = access_kernel_create(play->function);
    if (!fresh)
        abort();
    uint64_t start = nanoseconds();
    const struct access_set *again = access_set_find(fresh, &play->launch);
    uint64_t taken = nanoseconds() - start;
    play->totals->misses++;
    play->totals->nanoseconds += taken;
    if (taken > play->totals->slowest_nanoseconds) {
        play->totals->slowest_nanoseconds = taken;
        snprintf(play->totals->slowest, sizeof play->totals->slowest, "%s",
                 play->specification->name);
    }
    if (digest(again) != known) {
        play->totals->unequal++;
        if (report(play, set, "a fresh analysis says otherwise"))
            print_set(again);
    }
    access_kernel_release(fresh);
}

/* Some address is a number that pointers were computed with: other pointers, another number. */
static bool has_numbers(const struct access_set *set)
{
    for (uint32_t i = 0; i < set->range_count; i++)
        if (set->ranges[i].offset >> 40 != 0 && set->ranges[i].offset >> 40 != -1)
            return true;
    for (uint32_t i = 0; i < set->base_count; i++)
        if (set->bases[i].kind == ACCESS_BASE_ADDRESS)
            return true;
    return false;
}

/* Returns the set's digest. */
static uint64_t launch_and_check(struct play *play, bool pointers_only, uint64_t before)
{
    const struct access_set *set = access_set_find(play->kernel, &play->launch);
    uint64_t said = digest(set);
    struct access_set spoilt = *set;
    if (play->options->spoil && spoilt.range_count) {
        spoilt.range_count--;
        set = &spoilt;
    }
    if (pointers_only && said != before && !set->reads_memory && !has_numbers(set)) {
        play->totals->unequal++;
        report(play, set, "other pointers alone changed the set");
    }
    if (!play->options->spoil && random_one_in(&play->random, FRESH))
        compare_fresh(play, set);
    check(play, set);
    play->totals->launches++;
    return said;
}

/* ---- Kernels and modules ------------------------------------------------------------------- */

static bool begin_kernel(struct play *play, const struct kernel_specification *specification)
{
    play->specification = specification;
    play->function = ptx_module_function(play->playground.module, specification->name);
    if (!play->function || play->function->param_bytes > PARAMETER_BYTES ||
        play->function->param_count > PARAMETERS)
        return false;
    uint64_t seed = play->options->seed;
    for (const char *c = specification->name; *c; c++)
        seed = mix(seed, (uint64_t)*c);
    play->random.state = seed;
    playground_fill(&play->playground, seed);
    for (uint32_t i = 0; i < play->function->param_count; i++)
        play->parameters[i] = play->bytes + play->function->params[i].offset;
    play->launch = (struct access_launch){.parameters = play->parameters, .user = play};
    play->kernel = access_kernel_create(play->function);
    play->reported = false;
    play->worst = ACCESS_EXACT;
    return play->kernel != NULL;
}

static void play_kernel(struct play *play, const struct kernel_specification *specification,
                        uint64_t launches)
{
    uint64_t said = 0;
    if (!begin_kernel(play, specification))
        return;
    for (play->number = 0; play->number < launches; play->number++) {
        bool pointers_only = play->number % 2;
        if (!pointers_only) {
            choose_sizes(play);
            choose_scalars(play);
            play->launch.read = random_one_in(&play->random, 2) ? read_table : NULL;
        }
        choose_pointers(play);
        said = launch_and_check(play, pointers_only, said);
    }
    play->totals->kernels++;
    play->totals->exact_kernels += play->worst == ACCESS_EXACT;
    if (play->options->verbose && play->worst)
        printf("%s: %s: line %u: %s\n", specification->name,
               play->worst == BOUNDS ? "unknown" : bound_names[play->worst], play->worst_line,
               play->worst_reason);
    access_kernel_release(play->kernel);
}

static char *read_text(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    *bytes = 0;
    if (file && !fseek(file, 0, SEEK_END)) {
        long end = ftell(file);
        rewind(file);
        text = malloc((size_t)end + 1);
        *bytes = text ? fread(text, 1, (size_t)end, file) : 0;
    }
    if (file)
        fclose(file);
    if (!text) {
        fprintf(stderr, "fuzz_kernels: %s cannot be read\n", path);
        exit(2);
    }
    text[*bytes] = 0;
    return text;
}

static struct ptx_module *parse(const char *path)
{
    size_t bytes;
    char *text = read_text(path, &bytes);
    struct ptx_error error;
    struct ptx_module *module = ptx_parse(text, bytes, &error);
    if (!module) {
        fprintf(stderr, "fuzz_kernels: %s:%u: %s\n", path, error.line, error.message);
        exit(2);
    }
    free(text);
    return module;
}

static void play_module(const struct options *options, const char *path, uint64_t launches,
                        struct totals *totals)
{
    char specification_path[512];
    struct play *play = calloc(1, sizeof *play);
    struct ptx_module *module = parse(path);
    if (!play)
        abort();
    play->options = options;
    play->totals = totals;
    play->path = path;
    beside(path, ".spec", specification_path, sizeof specification_path);
    struct specification specification = specification_read(specification_path);
    playground_open(&play->playground, module);
    size_t wanted = options->kernel ? 1 : specification.count;
    for (size_t i = 0; i < specification.count; i++)
        if (!options->kernel || !strcmp(options->kernel, specification.kernels[i].name))
            play_kernel(play, &specification.kernels[i], (launches + wanted - 1) / wanted);
    playground_close(&play->playground);
    specification_release(&specification);
    ptx_module_release(module);
    free(play);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void print_pointers(const struct totals *t)
{
    uint64_t all = t->unknown_pointers;
    for (int i = 0; i < BOUNDS; i++)
        all += t->pointers[i];
    double hundredth = all ? (double)all / 100 : 1;
    printf("pointers:");
    for (int i = 0; i < BOUNDS; i++)
        printf(" %s %.1f%%", bound_names[i], (double)t->pointers[i] / hundredth);
    printf(" unknown %.1f%%\n", (double)t->unknown_pointers / hundredth);
}

static void print_totals(const struct totals *t, double seconds)
{
    printf("%" PRIu64 " launches of %" PRIu64 " kernels: %" PRIu64 " unsound, %" PRIu64
           " not exact, %" PRIu64 " unequal\n",
           t->launches, t->kernels, t->unsound, t->not_exact, t->unequal);
    printf("of these %" PRIu64 " ended early, %" PRIu64 " were not played, %" PRIu64
           " too large to judge; %.0f launches a second\n",
           t->in_part, t->not_played, t->too_large, (double)t->launches / seconds);
    print_pointers(t);
    printf("kernels whose every set was exact: %" PRIu64 "; incomplete sets: %" PRIu64 "\n",
           t->exact_kernels, t->incomplete);
    if (t->misses)
        printf("fresh analysis: %.1f us on average, the slowest %.1f us (%s)\n",
               (double)t->nanoseconds / (double)t->misses / 1e3,
               (double)t->slowest_nanoseconds / 1e3, t->slowest);
}

static int read_options(int argc, char **argv, struct options *options)
{
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        options->verbose |= !strcmp(argv[i], "--verbose");
        options->spoil |= !strcmp(argv[i], "--spoil");
        if (!strcmp(argv[i], "--verbose") || !strcmp(argv[i], "--spoil"))
            continue;
        if (i + 1 == argc)
            return argc;
        const char *name = argv[i], *value = argv[++i];
        if (!strcmp(name, "--seed"))
            options->seed = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--launches"))
            options->launches = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--kernel"))
            options->kernel = value;
        else if (!strcmp(name, "--keep"))
            options->keep = value;
        else
            return argc;
    }
    return i;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .launches = 1000};
    struct totals totals = {0};
    int first = read_options(argc, argv, &options);
    if (first >= argc) {
        fprintf(stderr, "usage: fuzz_kernels [--seed N] [--launches N] [--kernel NAME] "
                        "[--keep DIRECTORY] [--verbose] [--spoil] X.ptx...\n");
        return 2;
    }
    uint64_t files = (uint64_t)(argc - first), start = nanoseconds();
    for (int i = first; i < argc; i++)
        play_module(&options, argv[i], (options.launches + files - 1) / files, &totals);
    print_totals(&totals, (double)(nanoseconds() - start) / 1e9);
    return totals.unsound || totals.not_exact || totals.unequal || !totals.launches;
}
