/* See suppression_text.h. */
#include "runtime/cli/suppression_text.h"

#include <string.h>

/* cuMemcpyAsync, csan_host_reads: a name that says nothing of the program. */
static bool is_call(const struct finding_access *access)
{
    const char *name = access->name;
    return access->host || strncmp(name, "csan_", 5) == 0 ||
           (strncmp(name, "cu", 2) == 0 && name[2] >= 'A' && name[2] <= 'Z');
}

static const char *top_function(const struct finding_access *access)
{
    for (size_t i = 0; i < access->stack.count; i++)
        if (!access->stack.items[i].heading && access->stack.items[i].function)
            return access->stack.items[i].function;
    return NULL;
}

/* A kernel of the program's is narrower than where it is launched, that narrower than a call. */
static void line_add(struct text *line, const struct finding *finding)
{
    const struct finding_access *accesses = finding->accesses;
    for (int i = 0; i < 2; i++) {
        if (!is_call(&accesses[i])) {
            text_add(line, "kernel:^%s$", accesses[i].name);
            return;
        }
    }
    for (int i = 0; i < 2; i++) {
        if (top_function(&accesses[i])) {
            text_add(line, "race_top:^%s$", top_function(&accesses[i]));
            return;
        }
    }
    text_add(line, "kernel:^%s$", accesses[0].name);
}

static bool has_line(const struct text *text, const char *line)
{
    size_t length = strlen(line);
    const char *at = text->data;
    while (at && (at = strstr(at, line)) != NULL) {
        if (at[length] == '\n' && (at == text->data || at[-1] == '\n'))
            return true;
        at += length;
    }
    return false;
}

static void place_add(struct text *text, const char *what, const struct finding_access *access)
{
    char place[1024];
    const struct stack_frame *top = stack_frames_top(&access->stack);
    text_add(text, "#   %s %s", what, access->name);
    if (top) {
        stack_frame_place(top, place, sizeof place);
        text_add(text, " at %s", place);
    }
    text_add(text, "\n");
}

void suppression_text_add(struct text *text, const struct finding *const *findings, size_t count)
{
    text_add(text, "# Suppressions for csan: CSAN_OPTIONS=suppressions=FILE. Keep what you know to "
                   "be harmless.\n");
    for (size_t i = 0; i < count; i++) {
        struct text line = {0};
        line_add(&line, findings[i]);
        if (line.data && !has_line(text, line.data)) {
            text_add(text, "\n# Race %llu: %s\n", (unsigned long long)findings[i]->number,
                     findings[i]->cause);
            place_add(text, "      ", &findings[i]->accesses[0]);
            place_add(text, "after ", &findings[i]->accesses[1]);
            text_add(text, "%s\n", line.data);
        }
        text_free(&line);
    }
}
