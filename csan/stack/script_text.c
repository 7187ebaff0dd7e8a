/* Stacks of an interpreted language as text. See script_text.h. */
#include "csan/stack/script_text.h"
#include "csan/stack/stack_fold.h"
#include "csan/stack/stack_frames.h"
#include "csan/stack/stack_library.h"
#include "csan/stack/stack_source.h"
#include "csan/stack/symbolizer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 4096, NATIVE_BYTES = 512 };

bool script_text_concerns(const void *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (stack_source_owns(frames[i]))
            return true;
    return false;
}

/* ---- one line */

/* The source's line without the white space around it, as Python shows it; false: cannot be had. */
static bool source_line(const char *path, unsigned number, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");
    bool found = false;
    for (unsigned at = 1; file && at <= number && fgets(line, (int)bytes, file);) {
        size_t length = strlen(line);
        bool whole = length && line[length - 1] == '\n';
        if (at == number) {
            found = true;
            break;
        }
        at += whole;
    }
    if (file)
        fclose(file);
    if (!found)
        return false;
    char *start = line + strspn(line, " \t\f");
    size_t length = strlen(start);
    while (length && isspace((unsigned char)start[length - 1]))
        length--;
    memmove(line, start, length);
    line[length] = '\0';
    return length > 0;
}

static void script_line_add(struct text *text, const struct csan_source_line *at)
{
    char line[LINE_BYTES];
    text_add(text, "  File \"%s\", line %u, in %s\n", at->file, at->line,
             at->function ? at->function : "?");
    if (source_line(at->file, at->line, line, sizeof line))
        text_add(text, "    %s\n", line);
}

struct native {
    char line[NATIVE_BYTES];
    const char *library;
};

static void visit_native(void *user, size_t index, const struct symbol_frame *frame)
{
    struct native *native = user;
    (void)index;
    if (native->line[0])
        return; /* inlined: the innermost is enough */
    const char *function = frame->function ? frame->function : "??";
    const char *where = frame->file ? frame->file : frame->module ? frame->module : "";
    if (stack_frame_is_hidden(frame, ""))
        return;
    native->library = stack_library(frame->function, frame->file, frame->module);
    if (frame->file)
        snprintf(native->line, sizeof native->line, "%s (%s:%u)", function, where, frame->line);
    else
        snprintf(native->line, sizeof native->line, "%s (%s)", function, where);
}

/* ---- a stack */

/* Frames of which no more than the library is known are all the same. */
static void natives_add(struct text *text, const struct stack_style *style, struct stack_fold *fold,
                        const void *const *frames, size_t count)
{
    struct native native, before = {.line = ""};
    for (size_t i = count; i-- > 0;) {
        native = (struct native){.line = ""};
        style->symbolizer->frames(style->symbolizer, &frames[i], 1, visit_native, &native);
        if (native.line[0] && strcmp(native.line, before.line) != 0 &&
            !stack_fold_takes(fold, text, native.library))
            text_add(text, "  Native %s\n", native.line);
        before = native;
    }
}

/* The first that is the program's own goes before the first of all. */
static void place_take(char *place, size_t bytes, const struct stack_style *style,
                       const struct csan_source_line *line, bool *own)
{
    const bool of_library = stack_library(line->function, line->file, NULL) != NULL;
    if (*own || (place[0] && of_library))
        return;
    size_t length = strlen(style->directory);
    const char *file = line->file;
    if (length && strncmp(file, style->directory, length) == 0 && file[length] == '/')
        file += length + 1;
    snprintf(place, bytes, "%s:%u", file, line->line);
    *own = !of_library;
}

/* A line of the language that is no library's. */
static bool has_own(const void *const *frames, size_t count)
{
    struct csan_source_line line;
    for (size_t i = 0; i < count; i++)
        if (stack_source_owns(frames[i]) && stack_source_describe(frames[i], &line) && line.file &&
            !stack_library(line.function, line.file, NULL))
            return true;
    return false;
}

void script_text_place(const struct stack_style *style, const void *const *frames, size_t count,
                       char *place, size_t bytes)
{
    struct csan_source_line line;
    bool own = false;
    place[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (stack_source_owns(frames[i]) && stack_source_describe(frames[i], &line) && line.file)
            place_take(place, bytes, style, &line, &own);
}

void script_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                     size_t count)
{
    struct stack_fold fold = {.on = !style->full && has_own(frames, count)};
    for (size_t start = 0; start < count;) {
        struct csan_source_line line;
        size_t native = start, end;
        while (native < count && !stack_source_owns(frames[native]))
            native++;
        for (end = native; end < count && stack_source_owns(frames[end]); end++) {
            if (!stack_source_describe(frames[end], &line))
                continue; /* not known: left out */
            if (!line.file)
                break;
        }
        for (size_t i = end; i-- > native;)
            if (stack_source_describe(frames[i], &line) &&
                !stack_fold_takes(&fold, text, stack_library(line.function, line.file, NULL)))
                script_line_add(text, &line);
        natives_add(text, style, &fold, frames + start, native - start);
        stack_fold_end(&fold, text);
        if (end < count && stack_source_describe(frames[end], &line))
            text_add(text, "%s\n", line.function);
        start = end + 1;
    }
}
