/* See report_page.h. */
#include "runtime/cli/findings/report_page.h"
#include "runtime/cli/findings/page_order.h"
#include "runtime/cli/findings/page_sources.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The page, with a NUL behind it. */
extern const char report_page_html[];
__asm__(".pushsection .rodata\n"
        "report_page_html:\n"
        ".incbin \"runtime/cli/findings/report_page.html\"\n"
        ".byte 0\n"
        ".popsection\n");

/* ---- links to an editor */

/* A link that runs a script, or is the page, is none that opens an editor. */
const char *report_page_editor_problem(const char *editor)
{
    static const char *const refused[] = {"javascript:", "data:", "vbscript:", "blob:", "about:"};
    size_t scheme = strspn(editor, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789+.-");
    if (!editor[0])
        return NULL;
    if (!scheme || editor[scheme] != ':' || !isalpha((unsigned char)editor[0]))
        return "an editor's URL begins with a scheme, such as vscode:";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strncasecmp(editor, refused[i], strlen(refused[i])) == 0)
            return "an editor is not opened by such a URL";
    return strstr(editor, "{file}") ? NULL
                                    : "an editor's URL has {file} in it, and may have {line}";
}

/* ---- into the page */

/* In JSON these are in strings only; written so, nothing in a string ends the script element or
 * begins a comment (HTML Living Standard, 4.12.1.3). */
static void json_in_page_add(struct text *text, const char *json)
{
    while (*json) {
        size_t plain = strcspn(json, "<>&");
        if (plain)
            text_add_bytes(text, json, plain);
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

/* Returns what is behind the mark, where the JSON was put. */
static const char *json_at_mark(struct text *text, const char *page, const char *mark,
                                const struct text *json)
{
    page = page_until(text, page, mark);
    json_in_page_add(text, json->data ? json->data : "null");
    text->cut |= json->cut;
    return page;
}

void report_page_add(struct text *text, const struct report_page *page)
{
    struct text order = {0}, sources = {0};
    page_order_add(&order, page->findings, page->surroundings);
    page_sources_add(&sources, page);
    const char *rest = page_until(text, report_page_html, "@REPORT@");
    json_in_page_add(text, page->document);
    rest = json_at_mark(text, rest, "@SURROUNDINGS@", &order);
    rest = json_at_mark(text, rest, "@SOURCES@", &sources);
    text_add(text, "%s", rest);
    text_free(&order);
    text_free(&sources);
}
