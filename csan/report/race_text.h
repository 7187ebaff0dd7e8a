/* A race in words. The words are those of PyTorch's CUDA Stream Sanitizer. csan adds how sure the
 * race is, which bytes it concerns, and the smallest fix. The report prints them, and findings hold
 * them. Words for one race at a time: not thread-safe. */
#ifndef CSAN_REPORT_RACE_TEXT_H
#define CSAN_REPORT_RACE_TEXT_H

#include <csan/csan.h>
#include "csan/stack/stack_memo.h"
#include "csan/base/text.h"

enum { NAME_BYTES = 16 << 10, SITE_BYTES = 448, SHORT_NAME_BYTES = 160, PLACE_BYTES = 256 };

/* One side of a race, in words. */
struct race_side {
    const struct csan_race_access *access;
    const char *lane;
    char name[NAME_BYTES];        /* demangled */
    char place[PLACE_BYTES];      /* "example_error.cu:40", or "" */
    char brief[SHORT_NAME_BYTES]; /* "scale" */
    char site[SITE_BYTES];        /* "scale (example_error.cu:40)" */
};

struct race_words {
    struct stack_style style; /* to be set before */
    struct race_side current, previous;
    const char *object;       /* csan_race.object */
    struct stack_memo stacks; /* of the race that is put in words */
    char scratch[NAME_BYTES];
};

/* Adds the whole report. It leaves both sides and the stacks in `words`, for the functions below.
 */
void race_text_add(struct text *text, struct race_words *words, const struct csan_race *race,
                   bool colour);

/* Forgets the last race, so that its frames may go. */
void race_words_forget(struct race_words *words);

/* A demangled name without return type, template arguments and parameters. Beside file and line
 * that is enough. */
void race_name_shorten(char *brief, size_t bytes, const char *name);
/* The same of a name as it was recorded. */
void race_brief(struct race_words *words, const char *name, char *brief, size_t bytes);
/* Where the stack begins, "app.cu:40" or the next best; "" when there is none. `callee` as for
 * stack_frames_resolve. Here and below, `callee` and the frames must stay until race_words_forget.
 */
void race_place(struct race_words *words, const void *const *frames, size_t count,
                const char *callee, char *place, size_t bytes);

/* The stack's lines, of whatever language. */
void race_lines_add(struct text *text, struct race_words *words, const void *const *frames,
                    size_t count, const char *callee);

/* "sum (app.cu:28) does not wait for part (app.cu:20) on memory allocated at app.cu:14". Both sides
 * of `words` belong to this race. */
void race_sentence_add(struct text *text, struct race_words *words, const struct csan_race *race);

/* The race in one line without its end, the same for the same race in another run. */
void race_line_add(struct text *text, struct race_words *words, const struct csan_race *race);

/* The kernel, operator or call as in the source; "(unknown)" where there is no name. */
void race_access_name(char *name, size_t bytes, struct symbolizer *symbolizer,
                      const struct csan_race_access *access);
/* "writing to argument(s) p"; "destroying the texture object", if that is the race's object; which
 * may be NULL. */
void race_deed_add(struct text *text, const struct csan_race_access *access, const char *object);
/* " at " and the innermost frames, joined by " < ". */
void race_stack_add(struct text *text, struct race_words *words, const void *const *frames,
                    size_t count, const char *callee);
/* Why an access is not exact; NULL: it is. */
const char *race_access_reason(const struct csan_race_access *access);

#endif
