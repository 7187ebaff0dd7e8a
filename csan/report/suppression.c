/* See suppression.h. */
#include "csan/report/suppression.h"
#include "csan/base/array.h"
#include "csan/report/finding.h"
#include "csan/report/fingerprint.h"
#include "csan/base/nearest.h"
#include "csan/base/regular_file.h"
#include "csan/stack/stack_frames.h"
#include "csan/stack/stack_source.h"
#include "csan/report/suppression_pair.h"
#include "csan/stack/symbolizer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 };

enum suppression_type {
    TYPE_RACE,
    TYPE_TOP,
    TYPE_KERNEL,
    TYPE_LIBRARY,
    TYPE_CALLED_FROM,
    TYPE_PAIR,
    TYPE_FINGERPRINT,
    TYPE_ERROR,
    TYPE_NOT_OURS
};

static const struct {
    const char *name;
    enum suppression_type type;
} types[] = {
    {"race", TYPE_RACE},
    {"race_top", TYPE_TOP},
    {"kernel", TYPE_KERNEL},
    {"lib", TYPE_LIBRARY},
    {"called_from_lib", TYPE_CALLED_FROM},
    {"pair", TYPE_PAIR},
    {"fingerprint", TYPE_FINGERPRINT},
    {"error", TYPE_ERROR},
    {"thread", TYPE_NOT_OURS},
    {"mutex", TYPE_NOT_OURS},
    {"signal", TYPE_NOT_OURS},
    {"deadlock", TYPE_NOT_OURS},
};
enum { TYPES = sizeof types / sizeof *types };

struct suppression {
    enum suppression_type type;
    char *line;                    /* as in the file, for print_suppressions */
    const char *template;          /* in it */
    char *readable;                /* demangled; NULL: not asked yet, or it is no mangled name */
    struct suppression_pair *pair; /* of TYPE_PAIR */
    uint64_t fingerprint;          /* of TYPE_FINGERPRINT */
    enum csan_finding_kind kind;   /* of TYPE_ERROR; its template is "" for any */
    uint64_t used;
};

struct suppressions {
    struct suppression *items;
    size_t count, capacity;
    bool read;             /* mangled names are demangled */
    bool has_fingerprints; /* one is of TYPE_FINGERPRINT */
    char wrong[96];        /* a message */
};

/* ---- templates */

/* The part of a template up to the next *, somewhere in the name (at its beginning, if `anchored`):
 * where it ends there, or NULL. */
static const char *find_part(const char *name, const char *part, size_t length, bool anchored)
{
    for (;; name++) {
        if (strncmp(name, part, length) == 0)
            return name + length;
        if (anchored || !*name)
            return NULL;
    }
}

/* Taking each part as early as it can be had leaves the most room for those after it; the last one,
 * if it is to be at the end, is looked for there. */
bool suppression_template_matches(const char *template, const char *name)
{
    if (!name || !*name)
        return false;
    bool anchored = *template == '^';
    template += anchored;
    size_t whole = strlen(template);
    bool to_end = whole && template[whole - 1] == '$';
    const char *end = template + whole - to_end;
    for (;;) {
        size_t length = 0;
        while (template + length < end && template[length] != '*')
            length++;
        if (to_end && template + length == end) {
            size_t rest = strlen(name);
            return anchored
                       ? rest == length && strncmp(name, template, length) == 0
                       : rest >= length && strncmp(name + rest - length, template, length) == 0;
        }
        if (!(name = find_part(name, template, length, anchored)))
            return false;
        template += length;
        if (template == end)
            return true;
        template ++;
        anchored = false;
    }
}

/* ---- the file */

/* "out_of_bounds ^scatter": a kind of finding that is no race, and a template, if any. */
static const char *parse_error(struct suppression *item)
{
    const size_t length = strcspn(item->template, " ");
    for (int race_kind = 0; race_kind < CSAN_RACE_KINDS; race_kind++) {
        const enum csan_finding_kind kind = csan_finding_kind_of(race_kind);
        const char *name = finding_class_name(race_kind);
        if (kind == CSAN_FINDING_RACE || kind == CSAN_FINDING_REUSE || strlen(name) != length ||
            strncmp(name, item->template, length) != 0)
            continue;
        item->kind = kind;
        item->template += length + strspn(item->template + length, " ");
        return NULL;
    }
    return "there is no such kind (write out_of_bounds, use_after_free, device_exception, "
           "uninitialized, leak, wrong_device or out_of_memory)";
}

/* What its template is, beyond a name. What is wrong with it, or NULL. */
static const char *parse_template(struct suppressions *set, struct suppression *item)
{
    const char *wrong = NULL;
    if (item->type == TYPE_PAIR)
        item->pair = pair_parse(item->template, &wrong);
    else if (item->type == TYPE_FINGERPRINT &&
             !fingerprint_read(item->template + strspn(item->template, " "), &item->fingerprint))
        wrong = "there are not sixteen hexadecimal digits";
    else if (item->type == TYPE_ERROR)
        wrong = parse_error(item);
    set->has_fingerprints |= item->type == TYPE_FINGERPRINT;
    return wrong;
}

static void item_free(struct suppression *item)
{
    free(item->line);
    free(item->readable);
    pair_free(item->pair);
}

/* What is wrong, or NULL. */
static const char *add(struct suppressions *set, enum suppression_type type, const char *line)
{
    static const char no_memory[] = "there is no memory for it";
    if (!array_room(&set->items, set->count, &set->capacity, 16, SIZE_MAX, sizeof *set->items))
        return no_memory;
    struct suppression *item = &set->items[set->count];
    *item = (struct suppression){.type = type, .line = strdup(line)};
    if (!item->line)
        return no_memory;
    item->template = strchr(item->line, ':') + 1;
    const char *wrong = parse_template(set, item);
    if (wrong)
        item_free(item);
    else
        set->count++;
    return wrong;
}

static const char *type_at(const void *names, size_t index)
{
    (void)names;
    return types[index].type == TYPE_NOT_OURS ? NULL : types[index].name;
}

/* "there is no such type; did you mean 'race'?" */
static const char *no_such_type(struct suppressions *set, const char *line, size_t length)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), line);
    const char *nearest = nearest_name(name, type_at, NULL, TYPES);
    if (!nearest)
        return "there is no such type";
    snprintf(set->wrong, sizeof set->wrong, "there is no such type (did you mean '%s'?)", nearest);
    return set->wrong;
}

/* What is wrong with the line, or NULL. */
static const char *parse_line(struct suppressions *set, const char *line)
{
    size_t length = strcspn(line, ":");
    if (!line[length])
        return "there is no ':' in it";
    for (size_t i = 0; i < TYPES; i++) {
        if (strlen(types[i].name) != length || strncmp(types[i].name, line, length) != 0)
            continue;
        if (line[length + 1 + strspn(line + length + 1, "*^$")] == '\0')
            return "what is to be matched is missing after the ':'";
        return types[i].type != TYPE_NOT_OURS ? add(set, types[i].type, line) : NULL;
    }
    return no_such_type(set, line, length);
}

/* Without the white space around it. */
static char *trim(char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\n", line[length - 1]))
        line[--length] = '\0';
    return line + strspn(line, " \t");
}

static void parse_file(struct suppressions *set, FILE *file, const char *path, char *message,
                       size_t message_bytes)
{
    char buffer[LINE_BYTES];
    for (unsigned long number = 1; fgets(buffer, sizeof buffer, file); number++) {
        bool whole = strchr(buffer, '\n') || feof(file);
        const char *line = trim(buffer);
        const char *wrong = !*line || *line == '#' ? NULL
                            : !whole               ? "the line is too long"
                                                   : parse_line(set, line);
        if (wrong && !message[0])
            snprintf(message, message_bytes,
                     "suppressions file %s, line %lu: %s in '%.80s'; write race:, race_top:, "
                     "kernel:, lib: or called_from_lib: and a name, pair: and two, "
                     "fingerprint: and a number, or error: and a kind",
                     path, number, wrong, line);
        for (int c = 0; !whole && c != '\n' && c != EOF;)
            c = fgetc(file);
    }
    if (ferror(file) && !message[0])
        snprintf(message, message_bytes, "cannot read suppressions file %s: %s", path,
                 strerror(errno));
}

struct suppressions *suppressions_load(const char *path, char *message, size_t message_bytes)
{
    message[0] = '\0';
    const char *wrong = "there is no memory";
    int descriptor = regular_file_open(path, &wrong);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    struct suppressions *set = file ? calloc(1, sizeof *set) : NULL;
    if (set)
        parse_file(set, file, path, message, message_bytes);
    else
        snprintf(message, message_bytes, "cannot read suppressions file %s: %s", path, wrong);
    if (file)
        fclose(file);
    else if (descriptor >= 0)
        close(descriptor);
    return set;
}

bool suppressions_check(const char *path, char *message, size_t message_bytes)
{
    message[0] = '\0';
    if (*path)
        suppressions_free(suppressions_load(path, message, message_bytes));
    return !message[0];
}

void suppressions_free(struct suppressions *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        item_free(&set->items[i]);
    if (set)
        free(set->items);
    free(set);
}

/* ---- matching */

struct matching {
    const struct suppressions *set;
    enum csan_finding_kind kind;
    const char *callee; /* demangled */
    int access;         /* 0: the current one */
    bool top_seen;
    size_t found; /* the first that matches; the number of all: none yet */
};

/* Does it look at names and places, wherever they are? */
static bool looks_everywhere(const struct matching *matching, const struct suppression *item)
{
    return item->type == TYPE_RACE || (item->type == TYPE_ERROR && item->kind == matching->kind);
}

static bool frame_matches(const struct matching *matching, const struct suppression *item,
                          const struct symbol_frame *frame, bool is_top)
{
    const char *template = item->template;
    bool named = looks_everywhere(matching, item) || (item->type == TYPE_TOP && is_top);
    if (named && (suppression_template_matches(template, frame->function) ||
                  suppression_template_matches(template, frame->file)))
        return true;
    bool library = item->type == TYPE_LIBRARY || (item->type == TYPE_CALLED_FROM && is_top);
    return (named || library) && suppression_template_matches(template, frame->module);
}

static void match_frame(void *user, size_t index, const struct symbol_frame *frame)
{
    struct matching *matching = user;
    (void)index;
    if (frame->own)
        return;
    bool is_top = !matching->top_seen && !stack_frame_is_hidden(frame, matching->callee);
    matching->top_seen |= is_top;
    for (size_t i = 0; i < matching->found; i++) {
        const struct suppression *item = &matching->set->items[i];
        if (item->pair)
            pair_see_frame(item->pair, matching->access, frame);
        else if (frame_matches(matching, item, frame, is_top))
            matching->found = i;
    }
}

/* `callee` as for stack_frame_is_hidden. */
static void match_stack(struct matching *matching, struct symbolizer *symbolizer,
                        const void *const *frames, size_t count, const char *callee)
{
    matching->callee = callee;
    matching->top_seen = false;
    for (size_t i = 0; i < count; i++) {
        struct csan_source_line line;
        if (!stack_source_owns(frames[i])) {
            symbolizer->frames(symbolizer, &frames[i], 1, match_frame, matching);
        } else if (stack_source_describe(frames[i], &line) && line.file) {
            const struct symbol_frame frame = {
                .function = line.function, .file = line.file, .line = line.line};
            match_frame(matching, i, &frame);
        }
    }
}

/* A kernel's name may have been demangled when it came to csan; a template is by then, too. */
static void read_mangled(struct suppressions *set, struct symbolizer *symbolizer, char *name)
{
    for (size_t i = 0; i < set->count && !set->read; i++) {
        struct suppression *item = &set->items[i];
        const char *mangled = item->template + (item->template[0] == '^');
        if (strncmp(mangled, "_Z", 2) != 0 || strchr(mangled, '*'))
            continue;
        char *copy = strdup(mangled);
        if (!copy)
            continue;
        copy[strcspn(copy, "$")] = '\0';
        symbolizer->demangle(symbolizer, copy, name, NAME_BYTES);
        item->readable = strdup(name);
        free(copy);
    }
    set->read = true;
}

static bool name_matches(const struct suppression *item, const char *name)
{
    return suppression_template_matches(item->template, name) ||
           (item->readable && name && strcmp(item->readable, name) == 0);
}

static void match_name(struct matching *matching, const char *name)
{
    for (size_t i = 0; i < matching->found; i++) {
        const struct suppression *item = &matching->set->items[i];
        if (item->pair)
            pair_see_name(item->pair, matching->access, name);
        else if ((looks_everywhere(matching, item) || item->type == TYPE_KERNEL) &&
                 name_matches(item, name))
            matching->found = i;
    }
}

bool suppressions_have_fingerprints(const struct suppressions *set)
{
    return set && set->has_fingerprints;
}

static void match_begin(struct matching *matching, uint64_t fingerprint)
{
    const struct suppressions *set = matching->set;
    matching->found = set->count;
    for (size_t i = 0; i < set->count; i++) {
        const struct suppression *item = &set->items[i];
        if (item->pair)
            pair_begin(item->pair);
        if (item->type == TYPE_FINGERPRINT && item->fingerprint == fingerprint &&
            matching->found == set->count)
            matching->found = i;
        if (item->type == TYPE_ERROR && item->kind == matching->kind && !item->template[0] &&
            matching->found == set->count)
            matching->found = i;
    }
}

/* The line of a kernel that failed, which is in no stack. */
static void match_instruction(struct matching *matching, const struct csan_error *error,
                              struct symbolizer *symbolizer, char *name)
{
    char file[PATH_MAX] = "";
    const char *colon = error->place ? strrchr(error->place, ':') : NULL;
    if (colon)
        snprintf(file, sizeof file, "%.*s", (int)(colon - error->place), error->place);
    symbolizer->demangle(symbolizer, error->function ? error->function : "", name, NAME_BYTES);
    for (size_t i = 0; i < matching->found; i++) {
        const struct suppression *item = &matching->set->items[i];
        if (looks_everywhere(matching, item) &&
            (suppression_template_matches(item->template, name) ||
             suppression_template_matches(item->template, file)))
            matching->found = i;
    }
}

/* Known only once both accesses were seen. */
static void match_pairs(struct matching *matching)
{
    for (size_t i = 0; i < matching->found; i++) {
        const struct suppression *item = &matching->set->items[i];
        if (item->pair && pair_matches(item->pair))
            matching->found = i;
    }
}

bool suppressions_match(struct suppressions *set, struct symbolizer *symbolizer,
                        const struct csan_race *race, uint64_t fingerprint)
{
    const struct csan_race_access *accesses[] = {&race->current, &race->previous};
    struct matching matching = {.set = set, .kind = csan_finding_kind_of(race->kind)};
    const int sides = csan_is_error(race) && !race->previous.kind ? 1 : 2;
    char *name = set && set->count ? malloc(NAME_BYTES) : NULL;
    if (!name)
        return false;
    match_begin(&matching, fingerprint);
    read_mangled(set, symbolizer, name);
    for (int i = 0; i < sides; i++) {
        matching.access = i;
        symbolizer->demangle(symbolizer, accesses[i]->name ? accesses[i]->name : "", name,
                             NAME_BYTES);
        match_name(&matching, name);
        match_name(&matching, accesses[i]->name);
        match_stack(&matching, symbolizer, accesses[i]->frames, accesses[i]->frame_count, name);
        match_stack(&matching, symbolizer, accesses[i]->launch_frames,
                    accesses[i]->launch_frame_count, "");
    }
    if (race->error)
        match_instruction(&matching, race->error, symbolizer, name);
    match_pairs(&matching);
    free(name);
    if (matching.found == set->count)
        return false;
    set->items[matching.found].used++;
    return true;
}

bool suppressions_next_used(const struct suppressions *set, size_t *index, const char **line,
                            uint64_t *count)
{
    for (; set && *index < set->count; ++*index) {
        const struct suppression *item = &set->items[*index];
        if (!item->used)
            continue;
        *line = item->line;
        *count = item->used;
        ++*index;
        return true;
    }
    return false;
}
