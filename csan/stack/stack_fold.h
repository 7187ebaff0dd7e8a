/* Combines consecutive frames of a library into one line of a report: "... 17 frames of Thrust". */
#ifndef CSAN_STACK_STACK_FOLD_H
#define CSAN_STACK_STACK_FOLD_H

#include "csan/base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { FOLD_LIBRARIES = 3 }; /* named in a line */

struct stack_fold {
    bool on; /* else it takes none */
    size_t count;
    const char *libraries[FOLD_LIBRARIES];
    size_t library_count; /* may be more than are named */
};

/* Takes the next frame, of that library or (NULL) of the program itself. True: it is folded. False:
 * it is to be shown, and the text has the line for the folded frames before it, if any. */
bool stack_fold_takes(struct stack_fold *fold, struct text *text, const char *library);
/* The stack is at its end. */
void stack_fold_end(struct stack_fold *fold, struct text *text);

/* What the line ends with, behind a blank. */
#define STACK_FOLD_HINT "(full_stacks=1 shows them)"

#endif
