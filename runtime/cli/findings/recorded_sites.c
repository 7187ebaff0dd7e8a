/* See recorded_sites.h. */
#include "runtime/cli/findings/recorded_sites.h"
#include "csan/options.h"
#include "csan/replay/replay_define.h"
#include "csan/stack/symbolizer.h"
#include "runtime/cli/findings/recorded_lines.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 8192 };

struct recorded_site {
    char *name;
    uint64_t stack, launched; /* by number; 0: none */
    struct stack_frames frames;
    bool demangled, resolved;
};

struct recorded_sites {
    struct recorded_site *items; /* by number */
    size_t capacity;
    struct replay_definitions definitions; /* of stacks, modules and source lines */
    struct symbolizer *symbolizer;
    char strip[sizeof((struct options *)NULL)->strip_path_prefix];
    char directory[PATH_MAX];
};

/* ---- life */

struct recorded_sites *recorded_sites_create(const struct options *options, const char *directory)
{
    struct recorded_sites *sites = calloc(1, sizeof *sites);
    if (!sites)
        return NULL;
    snprintf(sites->strip, sizeof sites->strip, "%s", options->strip_path_prefix);
    snprintf(sites->directory, sizeof sites->directory, "%s", directory);
    sites->symbolizer = symbolizer_create_for(options, &sites->definitions.modules);
    if (!sites->symbolizer) {
        free(sites);
        return NULL;
    }
    return sites;
}

void recorded_sites_destroy(struct recorded_sites *sites)
{
    if (!sites)
        return;
    sites->symbolizer->destroy(sites->symbolizer);
    for (size_t i = 0; i < sites->capacity; i++) {
        free(sites->items[i].name);
        stack_frames_free(&sites->items[i].frames);
    }
    free(sites->items);
    replay_definitions_clear(&sites->definitions);
    free(sites);
}

/* ---- taking */

static void site_take(struct recorded_sites *sites, const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_SITE];
    if (!replay_grow((void **)&sites->items, &sites->capacity, sizeof *sites->items, number) ||
        sites->items[number].name)
        return;
    sites->items[number].name = strdup(recorded->text);
    sites->items[number].stack = recorded->value[FIELD_STACK];
}

void recorded_sites_take(struct recorded_sites *sites, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_SITE:
        site_take(sites, recorded);
        break;
    case RECORDED_LAUNCHED_SITE:
        if (recorded->value[FIELD_SITE] < sites->capacity)
            sites->items[recorded->value[FIELD_SITE]].launched = recorded->value[FIELD_STACK];
        break;
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
        /* What is wrong there, the replay has said. */
        replay_definitions_take(&sites->definitions, NULL, recorded);
        break;
    default:
        break;
    }
}

/* ---- looked up */

static struct recorded_site *site_find(struct recorded_sites *sites, uint64_t number)
{
    return number < sites->capacity && sites->items[number].name ? &sites->items[number] : NULL;
}

static void site_demangle(struct recorded_sites *sites, struct recorded_site *site)
{
    static char name[NAME_BYTES];
    site->demangled = true;
    sites->symbolizer->demangle(sites->symbolizer, site->name, name, sizeof name);
    char *copy = name[0] ? strdup(name) : NULL;
    if (!copy)
        return;
    free(site->name);
    site->name = copy;
}

const char *recorded_sites_name(struct recorded_sites *sites, uint64_t number)
{
    struct recorded_site *site = site_find(sites, number);
    if (site && !site->demangled)
        site_demangle(sites, site);
    return site ? site->name : NULL;
}

static void site_resolve(struct recorded_sites *sites, struct recorded_site *site)
{
    const struct stack_style style = {sites->symbolizer, sites->strip, sites->directory};
    const void *const *frames;
    size_t count;
    const uint64_t stack = site->launched ? site->launched : site->stack;
    site->resolved = true;
    replay_definitions_stack(&sites->definitions, stack, &frames, &count);
    recorded_lines_use(&sites->definitions);
    stack_frames_resolve(&site->frames, &style, frames, count, site->launched ? "" : site->name);
    recorded_lines_use(NULL);
}

const struct stack_frame *recorded_sites_place(struct recorded_sites *sites, uint64_t number)
{
    const char *name = recorded_sites_name(sites, number);
    struct recorded_site *site = name ? site_find(sites, number) : NULL;
    if (site && !site->resolved)
        site_resolve(sites, site);
    return site ? stack_frames_top(&site->frames) : NULL;
}
