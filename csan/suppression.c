/* See suppression.h. */
#include "suppression.h"
#include "stack_frames.h"
#include "stack_source.h"
#include "symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 8192, NAME_BYTES = 16 << 10 };

enum suppression_type { TYPE_RACE, TYPE_TOP, TYPE_KERNEL, TYPE_LIBRARY, TYPE_NOT_OURS };

static const struct {
    const char *name;
    enum suppression_type type;
} types[] = {
    {"race", TYPE_RACE},      {"race_top", TYPE_TOP},    {"kernel", TYPE_KERNEL},
    {"lib", TYPE_LIBRARY},    {"thread", TYPE_NOT_OURS}, {"called_from_lib", TYPE_LIBRARY},
    {"mutex", TYPE_NOT_OURS}, {"signal", TYPE_NOT_OURS}, {"deadlock", TYPE_NOT_OURS},
};

struct suppression {
    enum suppression_type type;
    char *line;           /* as in the file, for print_suppressions */
    const char *template; /* in it */
    char *readable;       /* demangled; NULL: not asked yet, or it is no mangled name */
    uint64_t used;
};

struct suppressions {
    struct suppression *items;
    size_t count, capacity;
    bool read; /* mangled names are demangled */
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

static bool add(struct suppressions *set, enum suppression_type type, const char *line)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 16;
        struct suppression *items = realloc(set->items, capacity * sizeof *items);
        if (!items)
            return false;
        set->items = items;
        set->capacity = capacity;
    }
    struct suppression *item = &set->items[set->count];
    *item = (struct suppression){.type = type, .line = strdup(line)};
    if (!item->line)
        return false;
    item->template = strchr(item->line, ':') + 1;
    set->count++;
    return true;
}

/* What is wrong with the line, or NULL. */
static const char *parse_line(struct suppressions *set, const char *line)
{
    size_t length = strcspn(line, ":");
    if (!line[length])
        return "there is no ':' in it";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != length || strncmp(types[i].name, line, length) != 0)
            continue;
        if (line[length + 1 + strspn(line + length + 1, "*^$")] == '\0')
            return "what is to be matched is missing after the ':'";
        if (types[i].type != TYPE_NOT_OURS && !add(set, types[i].type, line))
            return "there is no memory for it";
        return NULL;
    }
    return "there is no such type";
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
        const char *wrong = !whole                   ? "the line is too long"
                            : !*line || *line == '#' ? NULL
                                                     : parse_line(set, line);
        if (wrong && !message[0])
            snprintf(message, message_bytes,
                     "suppressions file %s, line %lu: %s in '%.80s'; write race:, race_top:, "
                     "kernel: or lib: and a name",
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
    FILE *file = fopen(path, "re");
    struct suppressions *set = file ? calloc(1, sizeof *set) : NULL;
    if (set)
        parse_file(set, file, path, message, message_bytes);
    else
        snprintf(message, message_bytes, "cannot read suppressions file %s: %s", path,
                 strerror(errno));
    if (file)
        fclose(file);
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
    for (size_t i = 0; set && i < set->count; i++) {
        free(set->items[i].line);
        free(set->items[i].readable);
    }
    if (set)
        free(set->items);
    free(set);
}

/* ---- matching */

struct matching {
    const struct suppressions *set;
    const char *callee; /* demangled */
    bool top_seen;
    size_t found; /* the first that matches; the number of all: none yet */
};

static bool frame_matches(const struct suppression *item, const struct symbol_frame *frame,
                          bool is_top)
{
    const char *template = item->template;
    bool named = item->type == TYPE_RACE || (item->type == TYPE_TOP && is_top);
    if (named && (suppression_template_matches(template, frame->function) ||
                  suppression_template_matches(template, frame->file)))
        return true;
    return (named || item->type == TYPE_LIBRARY) &&
           suppression_template_matches(template, frame->module);
}

static void match_frame(void *user, size_t index, const struct symbol_frame *frame)
{
    struct matching *matching = user;
    (void)index;
    if (frame->own)
        return;
    bool is_top = !matching->top_seen && !stack_frame_is_hidden(frame, matching->callee);
    matching->top_seen |= is_top;
    for (size_t i = 0; i < matching->found; i++)
        if (frame_matches(&matching->set->items[i], frame, is_top))
            matching->found = i;
}

static void match_stack(struct matching *matching, struct symbolizer *symbolizer,
                        const struct csan_race_access *access)
{
    for (size_t i = 0; i < access->frame_count; i++) {
        struct csan_source_line line;
        if (!stack_source_owns(access->frames[i])) {
            symbolizer->frames(symbolizer, &access->frames[i], 1, match_frame, matching);
        } else if (stack_source_describe(access->frames[i], &line) && line.file) {
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
        if ((item->type == TYPE_RACE || item->type == TYPE_KERNEL) && name_matches(item, name))
            matching->found = i;
    }
}

bool suppressions_match(struct suppressions *set, struct symbolizer *symbolizer,
                        const struct csan_race *race)
{
    const struct csan_race_access *accesses[] = {&race->current, &race->previous};
    struct matching matching = {.set = set, .found = set->count};
    char *name = set->count ? malloc(NAME_BYTES) : NULL;
    if (name)
        read_mangled(set, symbolizer, name);
    for (int i = 0; name && i < 2; i++) {
        symbolizer->demangle(symbolizer, accesses[i]->name ? accesses[i]->name : "", name,
                             NAME_BYTES);
        match_name(&matching, name);
        match_name(&matching, accesses[i]->name);
        matching.callee = name;
        matching.top_seen = false;
        match_stack(&matching, symbolizer, accesses[i]);
    }
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
