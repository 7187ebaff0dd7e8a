/* See page_sources.h. */
#include "runtime/cli/page_sources.h"
#include "csan/json_text.h"
#include "runtime/cli/source_excerpt.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A place that has an excerpt: many races name the same. */
struct place {
    char *path;
    uint32_t line;
    uint64_t ran;
};

struct sources {
    struct place *places;
    size_t count, capacity;
    struct text races; /* the list of them, while places are gathered */
};

/* ---- places */

static size_t place_index(struct sources *sources, const char *path, uint32_t line, uint64_t ran)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->places[i].line == line && strcmp(sources->places[i].path, path) == 0)
            return i;
    if (sources->count == sources->capacity) {
        const size_t capacity = sources->capacity * 2 + 64;
        struct place *grown = realloc(sources->places, capacity * sizeof *grown);
        if (!grown)
            return SIZE_MAX;
        sources->places = grown;
        sources->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy)
        return SIZE_MAX;
    sources->places[sources->count] = (struct place){copy, line, ran};
    return sources->count++;
}

static void top_add(struct sources *sources, const struct report_page *page,
                    const struct finding *finding, const struct stack_frames *stack)
{
    char path[PATH_MAX];
    const struct stack_frame *top = stack_frames_top(stack);
    const struct finding_process *process = report_page_process(page, finding);
    size_t excerpt = SIZE_MAX;
    if (top && top->file && top->line && report_page_path(process, top->file, path, sizeof path))
        excerpt = place_index(sources, path, top->line, report_page_time(process, finding));
    if (excerpt == SIZE_MAX)
        text_add(&sources->races, "null");
    else
        text_add(&sources->races, "{\"frame\": %zu, \"excerpt\": %zu}",
                 (size_t)(top - stack->items), excerpt);
}

static void race_add(struct sources *sources, const struct report_page *page,
                     const struct finding *finding)
{
    struct text *text = &sources->races;
    text_add(text, "{\"accesses\": [");
    for (int i = 0; i < 2; i++) {
        text_add(text, "%s{\"stack\": ", i ? ", " : "");
        top_add(sources, page, finding, &finding->accesses[i].stack);
        text_add(text, ", \"launch\": ");
        top_add(sources, page, finding, &finding->accesses[i].launch_stack);
        text_add(text, "}");
    }
    text_add(text, "], \"calls\": [");
    for (size_t i = 0; i < finding->call_count; i++) {
        text_add(text, "%s", i ? ", " : "");
        top_add(sources, page, finding, &finding->calls[i].stack);
    }
    text_add(text, "]}");
}

/* ---- excerpts */

static void excerpt_add(struct text *text, const struct place *place, struct source_cache *cache)
{
    struct source_excerpt excerpt;
    source_excerpt_read(cache, &excerpt, place->path, place->line, place->ran);
    text_add(text, "\n  {");
    json_member_string(text, "path", place->path);
    json_member_number(text, "line", place->line);
    if (excerpt.problem) {
        json_member_string(text, "problem", excerpt.problem);
    } else {
        json_member_number(text, "first", excerpt.first);
        text_add(text, "\"lines\": [");
        for (size_t i = 0; i < excerpt.count; i++) {
            text_add(text, "%s", i ? ", " : "");
            json_string_add(text, excerpt.lines[i]);
        }
        text_add(text, "]");
    }
    json_comma_drop(text);
    text_add(text, "}");
}

static void excerpts_add(struct text *text, const struct sources *sources)
{
    struct source_cache cache = {0};
    text_add(text, "],\n \"excerpts\": [");
    for (size_t i = 0; i < sources->count; i++) {
        text_add(text, "%s", i ? "," : "");
        excerpt_add(text, &sources->places[i], &cache);
    }
    text_add(text, "]}");
    source_cache_free(&cache);
}

void page_sources_add(struct text *text, const struct report_page *page)
{
    struct sources sources = {0};
    const char *editor = page->editor ? page->editor : REPORT_PAGE_EDITOR;
    text_add(text, "{");
    json_member_string(text, "editor", editor[0] ? editor : NULL);
    text_add(text, "\n \"races\": [");
    for (size_t i = 0; i < page->finding_count; i++) {
        text_add(&sources.races, "%s\n  ", i ? "," : "");
        race_add(&sources, page, page->findings[i]);
    }
    text_add(text, "%s", sources.races.data ? sources.races.data : "");
    excerpts_add(text, &sources);
    text->cut |= sources.races.cut;
    for (size_t i = 0; i < sources.count; i++)
        free(sources.places[i].path);
    free(sources.places);
    text_free(&sources.races);
}
