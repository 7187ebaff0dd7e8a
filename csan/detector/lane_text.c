/* See lane_text.h. */
#include "csan/detector/lane_text.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS = 26, LETTER_BYTES = 16 };

/* 1 is A, 26 is Z, 27 is AA. */
static const char *letters(uint32_t number, char text[LETTER_BYTES])
{
    char *at = text + LETTER_BYTES - 1;
    *at = '\0';
    for (; number; number = (number - 1) / LETTERS)
        *--at = (char)('A' + (number - 1) % LETTERS);
    return at;
}

/* What the label says beside the stream: ", overlapping launch 2". */
static const char *addition(const struct lane *lane)
{
    const char *comma = strchr(lane->label, ',');
    return comma ? comma : "";
}

size_t lane_words(const struct lane *lane, bool framework, char *text, size_t bytes)
{
    char letter[LETTER_BYTES];
    int length;
    if (framework || lane->kind == CSAN_LANE_OTHER || lane->kind == CSAN_LANE_REQUEST ||
        lane->kind == CSAN_LANE_GRID)
        length = snprintf(text, bytes, "%s", lane->label);
    else if (lane->kind == CSAN_LANE_LEGACY)
        length = snprintf(text, bytes,
                          lane->name ? "the legacy default stream ('%s')%s"
                                     : "the legacy default stream%s%s",
                          lane->name ? lane->name : "", addition(lane));
    else if (lane->kind == CSAN_LANE_PER_THREAD)
        length = snprintf(text, bytes, "the per-thread default stream of %s%s",
                          lane->name ? lane->name : "a thread", addition(lane));
    else if (lane->name)
        length = snprintf(text, bytes, "stream '%s'%s", lane->name, addition(lane));
    else
        length =
            snprintf(text, bytes, "stream %s%s", letters(lane->letter, letter), addition(lane));
    return length > 0 ? (size_t)length : 0;
}
