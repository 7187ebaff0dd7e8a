/* See suppression_text.h. */
#include "runtime/cli/findings/suppression_text.h"
#include "csan/base/path_name.h"

#include <inttypes.h>
#include <string.h>

enum { PAIR_BYTES_MAX = 4000 };

static const char head[] =
    "# Suppressions for csan: CSAN_OPTIONS=suppressions=FILE. Keep what you know to be harmless.\n"
    "#\n"
    "# A fingerprint is this race and no other: both accesses with their whole stacks and lines.\n"
    "# Once an edit moves one of those lines, the race is reported again. The line pair: below it\n"
    "# outlives such edits, but also matches other races of the same two in the same functions;\n"
    "# to use it, delete its #. Shorten or widen it with *, ^ and $. What is no race has a line\n"
    "# error: in place of pair:, for findings of that kind in that kernel or call.\n";

/* "^scale(float*, int)$ @ ^main$ @ app.cu$" */
static void side_add(struct text *text, const struct finding_access *access)
{
    const struct stack_frame *top = stack_frames_top(&access->stack);
    const char *file = top && top->file ? top->file : top ? top->module : NULL;
    text_add(text, "^%s$", access->name);
    if (top && top->function)
        text_add(text, " @ ^%s$", top->function);
    if (file)
        text_add(text, " @ %s$", path_name(file));
}

/* Names of generated kernels may be longer than a line of the file may be. */
static void pair_add(struct text *text, const struct finding *finding)
{
    struct text pair = {0};
    side_add(&pair, &finding->accesses[0]);
    text_add(&pair, " <-> ");
    side_add(&pair, &finding->accesses[1]);
    if (pair.data && !pair.cut && pair.length < PAIR_BYTES_MAX && !strchr(pair.data, '\n'))
        text_add(text, "#pair:%s\n", pair.data);
    text_free(&pair);
}

static void error_add(struct text *text, const struct finding *finding)
{
    const char *name = finding->accesses[0].name;
    if (strlen(name) < PAIR_BYTES_MAX && !strchr(name, '\n'))
        text_add(text, "#error:%s ^%s$\n", finding_class_name(finding->kind), name);
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
    text_add(text, "%s", head);
    for (size_t i = 0; i < count; i++) {
        const struct finding *finding = findings[i];
        const char *what = finding->error ? finding->headline : finding->cause;
        text_add(text, "\n# %s %" PRIu64 ": %.*s\n", finding->error ? "Finding" : "Race",
                 finding->number, (int)strcspn(what, "\n"), what);
        place_add(text, "      ", &finding->accesses[0]);
        if (finding_has_previous(finding))
            place_add(text, "after ", &finding->accesses[1]);
        text_add(text, "fingerprint:%016" PRIx64 "\n", finding->fingerprint);
        if (finding->error)
            error_add(text, finding);
        else
            pair_add(text, finding);
    }
}
