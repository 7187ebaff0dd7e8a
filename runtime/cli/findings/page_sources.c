/* See page_sources.h. */
#include "runtime/cli/findings/page_sources.h"
#include "csan/base/array.h"
#include "csan/base/json_text.h"
#include "runtime/cli/findings/source_excerpt.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A place that has an excerpt: many races name the same. */
struct place {
    char *path;
    uint32_t line;
    uint64_t ran; /* see source_excerpt_read */
    size_t file;  /* by number, once all are known */
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
    if (!array_room(&sources->places, sources->count, &sources->capacity, 64, SIZE_MAX,
                    sizeof *sources->places))
        return SIZE_MAX;
    char *copy = strdup(path);
    if (!copy)
        return SIZE_MAX;
    sources->places[sources->count] = (struct place){copy, line, ran, 0};
    return sources->count++;
}

/* The first process that saw it; NULL: not known. */
static const struct finding_process *process_of(const struct report_page *page,
                                                const struct finding *finding)
{
    const bool known = finding->seen_count && finding->seen_by[0] < page->process_count;
    return known ? &page->processes[finding->seen_by[0]] : NULL;
}

/* A source's path as seen from the process's directory. False: it is too long, or not known. */
static bool path_of(const struct finding_process *process, const char *file, char *path,
                    size_t bytes)
{
    const char *directory = process && process->directory ? process->directory : "";
    int length;
    if (file[0] == '/')
        length = snprintf(path, bytes, "%s", file);
    else if (directory[0] == '/' && file[0])
        length = snprintf(path, bytes, "%s/%s", directory, file);
    else
        return false;
    return length > 0 && (size_t)length < bytes;
}

/* When the program ran, at the latest: the race's time, else when what was read of it was written.
 * In nanoseconds since 1970; 0: not known. */
static uint64_t time_of(const struct finding_process *process, const struct finding *finding)
{
    struct stat state;
    if (finding->time)
        return finding->time;
    if (!process || !process->file || stat(process->file, &state) != 0)
        return 0;
    return (uint64_t)state.st_mtim.tv_sec * 1000000000u + (uint64_t)state.st_mtim.tv_nsec;
}

static void top_add(struct sources *sources, const struct report_page *page,
                    const struct finding *finding, const struct stack_frames *stack)
{
    char path[PATH_MAX];
    const struct stack_frame *top = stack_frames_top(stack);
    const struct finding_process *process = process_of(page, finding);
    size_t excerpt = SIZE_MAX;
    if (top && top->file && top->line && path_of(process, top->file, path, sizeof path))
        excerpt = place_index(sources, path, top->line, time_of(process, finding));
    if (excerpt == SIZE_MAX)
        text_add(&sources->races, "null");
    else
        text_add(&sources->races, "{\"frame\": %zu, \"excerpt\": %zu}",
                 (size_t)(top - stack->items), excerpt);
}

static void error_add(struct sources *sources, const struct report_page *page,
                      const struct finding *finding)
{
    const struct finding_error *error = finding->error;
    const struct {
        const char *key;
        const struct stack_frames *stack;
    } places[] = {{"instruction", &error->instruction},
                  {"allocation", &finding->allocation_stack},
                  {"neighbour", &error->neighbour_stack},
                  {"reported", &error->reported_stack}};
    text_add(&sources->races, ", \"error\": {");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        text_add(&sources->races, "%s\"%s\": ", i ? ", " : "", places[i].key);
        top_add(sources, page, finding, places[i].stack);
    }
    text_add(&sources->races, ", \"held\": [");
    for (size_t i = 0; error->out_of_memory && i < error->out_of_memory->numbers.held_count; i++) {
        text_add(&sources->races, "%s", i ? ", " : "");
        top_add(sources, page, finding, &error->out_of_memory->held[i].stack);
    }
    text_add(&sources->races, "]}");
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
    text_add(text, "]");
    if (finding->error)
        error_add(sources, page, finding);
    text_add(text, "}");
}

/* ---- excerpts: of each file the lines that some place shows, each once */

static int compare_place(const void *left, const void *right)
{
    const struct place *const *a = left, *const *b = right;
    const int paths = strcmp((*a)->path, (*b)->path);
    return paths ? paths : ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

/* The places of one file, by line. `cache`: NULL: no source is wanted. */
static void file_add(struct text *text, struct place *const *places, size_t count,
                     struct source_cache *cache)
{
    struct source_excerpt excerpt;
    const char *problem = NULL;
    uint32_t shown = 0;
    text_add(text, "\n  {");
    json_member_string(text, "path", places[0]->path);
    text_add(text, "\"lines\": {");
    for (size_t i = 0; i < count; i++) {
        if (cache)
            source_excerpt_read(cache, &excerpt, places[0]->path, places[i]->line, places[i]->ran);
        else
            excerpt = (struct source_excerpt){.problem = "Source was left out (--no-source)"};
        problem = excerpt.problem ? excerpt.problem : problem;
        for (size_t k = 0; k < excerpt.count; k++) {
            char key[16];
            if (excerpt.first + k <= shown)
                continue;
            shown = excerpt.first + (uint32_t)k;
            snprintf(key, sizeof key, "%" PRIu32, shown);
            json_member_string(text, key, excerpt.lines[k]);
        }
    }
    json_comma_drop(text);
    text_add(text, "}, ");
    json_member_string(text, "problem", problem);
    json_comma_drop(text);
    text_add(text, "}");
}

static void files_add(struct text *text, struct place *const *places, size_t count,
                      bool without_source)
{
    struct source_cache cache = {0};
    size_t files = 0, end;
    text_add(text, "],\n \"files\": [");
    for (size_t first = 0; first < count; first = end) {
        for (end = first; end < count && strcmp(places[end]->path, places[first]->path) == 0; end++)
            places[end]->file = files;
        text_add(text, "%s", files++ ? "," : "");
        file_add(text, places + first, end - first, without_source ? NULL : &cache);
    }
    source_cache_free(&cache);
}

static void excerpts_add(struct text *text, const struct sources *sources, bool without_source)
{
    struct place **places = calloc(sources->count + 1, sizeof *places);
    text->cut |= !places;
    for (size_t i = 0; places && i < sources->count; i++)
        places[i] = &sources->places[i];
    if (places)
        qsort(places, sources->count, sizeof *places, compare_place);
    files_add(text, places, places ? sources->count : 0, without_source);
    text_add(text, "],\n \"excerpts\": [");
    for (size_t i = 0; i < sources->count; i++)
        text_add(text, "%s{\"file\": %zu, \"line\": %" PRIu32 "}", i ? ", " : "",
                 sources->places[i].file, sources->places[i].line);
    text_add(text, "]}");
    free(places);
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
    text_add_text(text, &sources.races);
    excerpts_add(text, &sources, page->without_source);
    for (size_t i = 0; i < sources.count; i++)
        free(sources.places[i].path);
    free(sources.places);
    text_free(&sources.races);
}
