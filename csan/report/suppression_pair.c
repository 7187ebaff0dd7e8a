/* See suppression_pair.h. */
#include "csan/report/suppression_pair.h"
#include "csan/report/suppression.h"
#include "csan/stack/symbolizer.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 32 }; /* of a side; a bit each */

static const char between_sides[] = " <-> ", between_parts[] = " @ ";

struct side {
    char *parts[PARTS_MAX]; /* the name, then places */
    unsigned count;
    uint32_t seen[2]; /* which parts the access 0 or 1 has, as bits */
};

struct suppression_pair {
    struct side sides[2];
    char text[]; /* parts point into it */
};

/* ---- reading */

static char *trim(char *text)
{
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = '\0';
    return text + strspn(text, " ");
}

static const char *parse_side(struct side *side, char *text)
{
    while (text) {
        char *next = strstr(text, between_parts);
        if (next) {
            *next = '\0';
            next += sizeof between_parts - 1;
        }
        if (side->count == PARTS_MAX)
            return "a side has more than 31 places";
        side->parts[side->count] = trim(text);
        if (!*side->parts[side->count++])
            return "a name or place is empty (* stands for any)";
        text = next;
    }
    return NULL;
}

struct suppression_pair *pair_parse(const char *text, const char **wrong)
{
    const size_t bytes = strlen(text) + 1;
    struct suppression_pair *pair = calloc(1, sizeof *pair + bytes);
    *wrong = "there is no memory for it";
    if (!pair)
        return NULL;
    memcpy(pair->text, text, bytes);
    char *second = strstr(pair->text, between_sides);
    *wrong = "there is no ' <-> ' between its two sides";
    if (second) {
        *second = '\0';
        second += sizeof between_sides - 1;
        *wrong = parse_side(&pair->sides[0], pair->text);
        if (!*wrong)
            *wrong = strstr(second, between_sides) ? "it has more than two sides"
                                                   : parse_side(&pair->sides[1], second);
    }
    if (!*wrong)
        return pair;
    pair_free(pair);
    return NULL;
}

void pair_free(struct suppression_pair *pair)
{
    free(pair);
}

/* ---- matching */

void pair_begin(struct suppression_pair *pair)
{
    for (int i = 0; i < 2; i++)
        pair->sides[i].seen[0] = pair->sides[i].seen[1] = 0;
}

void pair_see_name(struct suppression_pair *pair, int access, const char *name)
{
    for (int i = 0; i < 2; i++)
        if (suppression_template_matches(pair->sides[i].parts[0], name))
            pair->sides[i].seen[access] |= 1;
}

static bool place_matches(const char *template, const struct symbol_frame *frame, const char *line)
{
    return suppression_template_matches(template, frame->function) ||
           suppression_template_matches(template, frame->file) ||
           suppression_template_matches(template, line) ||
           suppression_template_matches(template, frame->module);
}

void pair_see_frame(struct suppression_pair *pair, int access, const struct symbol_frame *frame)
{
    char line[PATH_MAX + 16] = "";
    if (frame->file && frame->line)
        snprintf(line, sizeof line, "%s:%u", frame->file, frame->line);
    for (int i = 0; i < 2; i++) {
        struct side *side = &pair->sides[i];
        for (unsigned k = 1; k < side->count; k++)
            if (place_matches(side->parts[k], frame, line))
                side->seen[access] |= UINT32_C(1) << k;
    }
}

static bool side_matches(const struct side *side, int access)
{
    return side->seen[access] == (uint32_t)((UINT64_C(1) << side->count) - 1);
}

bool pair_matches(const struct suppression_pair *pair)
{
    const struct side *sides = pair->sides;
    return (side_matches(&sides[0], 0) && side_matches(&sides[1], 1)) ||
           (side_matches(&sides[0], 1) && side_matches(&sides[1], 0));
}
