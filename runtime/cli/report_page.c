/* See report_page.h. */
#include "runtime/cli/report_page.h"
#include "csan/json_text.h"

#include <inttypes.h>
#include <string.h>

/* The page, with a NUL behind it. */
extern const char report_page_html[];
__asm__(".pushsection .rodata\n"
        "report_page_html:\n"
        ".incbin \"runtime/cli/report_page.html\"\n"
        ".byte 0\n"
        ".popsection\n");

/* ---- surroundings as JSON */

static void moment_add(struct text *text, const struct moment *moment)
{
    bool waits = moment->from_lane != NO_LANE;
    text_add(text, "\n   {");
    json_member_number(text, "at", moment->at);
    json_member_string(text, "kind", recording_forms[moment->kind].name);
    text_add(text, "\"lane\": %d, ", moment->lane);
    json_member_maybe(text, "op", moment->op != 0, moment->op);
    json_member_maybe(text, "event", moment->event != 0, moment->event);
    json_member_string(text, "name", moment->name);
    if (waits)
        text_add(text, "\"from_lane\": %d, ", moment->from_lane);
    if (waits)
        json_member_number(text, "from", moment->from);
    json_comma_drop(text);
    text_add(text, "}");
}

static void neighbourhood_add(struct text *text, const struct neighbourhood *neighbourhood)
{
    bool first = true;
    text_add(text, "{\"accesses\": [%" PRIu64 ", %" PRIu64 "], \"moments\": [",
             neighbourhood->accesses[0], neighbourhood->accesses[1]);
    for (size_t i = 0; i < neighbourhood->count; i++) {
        if (!neighbourhood->moments[i].concerns)
            continue;
        text_add(text, "%s", first ? "" : ",");
        moment_add(text, &neighbourhood->moments[i]);
        first = false;
    }
    text_add(text, "]}");
}

static void surroundings_add(struct text *text, const struct surroundings *surroundings)
{
    text_add(text, "{\"lanes\": [");
    for (size_t i = 0; i < surroundings->lane_count; i++) {
        json_string_add(text, surroundings->lanes[i]);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n \"races\": [");
    for (size_t i = 0; i < surroundings->count; i++) {
        text_add(text, "%s\n  ", i ? "," : "");
        neighbourhood_add(text, &surroundings->items[i]);
    }
    text_add(text, "]}");
}

/* ---- into the page */

/* In JSON these are in strings only; written so, nothing in a string ends the script element or
 * begins a comment (HTML Living Standard, 4.12.1.3). */
static void json_in_page_add(struct text *text, const char *json)
{
    while (*json) {
        size_t plain = strcspn(json, "<>&");
        if (plain)
            text_add(text, "%.*s", (int)plain, json);
        json += plain;
        if (*json)
            text_add(text, "\\u%04x", (unsigned)*json++);
    }
}

/* Copy the page up to a mark; returns what is behind it. */
static const char *page_until(struct text *text, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    text_add(text, "%.*s", (int)(at - page), page);
    return at + strlen(mark);
}

void report_page_add(struct text *text, const char *document,
                     const struct surroundings *surroundings)
{
    struct text json = {0};
    surroundings_add(&json, surroundings);
    const char *page = page_until(text, report_page_html, "@REPORT@");
    json_in_page_add(text, document);
    page = page_until(text, page, "@SURROUNDINGS@");
    json_in_page_add(text, json.data ? json.data : "null");
    text_add(text, "%s", page);
    text->cut |= json.cut;
    text_free(&json);
}
