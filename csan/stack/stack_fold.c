/* See stack_fold.h. */
#include "csan/stack/stack_fold.h"

#include <string.h>

static void library_add(struct stack_fold *fold, const char *library)
{
    const size_t named =
        fold->library_count < FOLD_LIBRARIES ? fold->library_count : FOLD_LIBRARIES;
    for (size_t i = 0; i < named; i++)
        if (strcmp(fold->libraries[i], library) == 0)
            return;
    if (fold->library_count < FOLD_LIBRARIES)
        fold->libraries[fold->library_count] = library;
    fold->library_count++;
}

bool stack_fold_takes(struct stack_fold *fold, struct text *text, const char *library)
{
    if (!fold->on || !library) {
        stack_fold_end(fold, text);
        return false;
    }
    library_add(fold, library);
    fold->count++;
    return true;
}

void stack_fold_end(struct stack_fold *fold, struct text *text)
{
    if (!fold->count)
        return;
    text_add(text, "  ... %zu frame%s of ", fold->count, fold->count == 1 ? "" : "s");
    if (fold->library_count > FOLD_LIBRARIES)
        text_add(text, "libraries");
    for (size_t i = 0; i < fold->library_count && fold->library_count <= FOLD_LIBRARIES; i++)
        text_add(text, "%s%s",
                 i == 0                         ? ""
                 : i + 1 == fold->library_count ? " and "
                                                : ", ",
                 fold->libraries[i]);
    text_add(text, " " STACK_FOLD_HINT "\n");
    *fold = (struct stack_fold){.on = fold->on};
}
