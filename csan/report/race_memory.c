/* See race_memory.h. */
#include "csan/report/race_memory.h"
#include "csan/stack/symbolizer.h"

#include <stdio.h>
#include <string.h>

/* ---- variables */

/* nvcc puts variables of one source file into a namespace of its own making. */
static const char *skip_internal(const char *name)
{
    static const char internal[] = "_INTERNAL_";
    const char *inside = strstr(name, "::");
    return inside && strncmp(name, internal, sizeof internal - 1) == 0 ? inside + 2 : name;
}

void race_variable(struct race_words *words, const struct csan_race *race, char *variable,
                   size_t variable_bytes, char *module, size_t module_bytes)
{
    const char *name = race->variable ? strchr(race->variable, ' ') : NULL;
    variable[0] = module[0] = '\0';
    if (!name)
        return;
    words->style.symbolizer->demangle(words->style.symbolizer, name + 1, words->scratch,
                                      sizeof words->scratch);
    snprintf(variable, variable_bytes, "%.*s%s", (int)(name + 1 - race->variable), race->variable,
             skip_internal(words->scratch));
    snprintf(module, module_bytes, "%s", stack_path_shorten(&words->style, race->variable_module));
}

/* "the __constant__ variable 'taps'" */
static void variable_add(struct text *text, const char *variable)
{
    const size_t qualifier = strcspn(variable, " ");
    const bool qualified = variable[0] == '_'; /* else it is said that csan does not know it */
    text_add(text, "the %.*svariable '%s'", qualified ? (int)qualifier + 1 : 0, variable,
             variable + qualifier + 1);
}

static void module_add(struct text *text, const char *module)
{
    if (module[0])
        text_add(text, " of %s", module);
    else
        text_add(text, " of code loaded at run time");
}

/* ---- in the headline */

void race_memory_name_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    char place[PLACE_BYTES], variable[SITE_BYTES], module[PLACE_BYTES];
    race_variable(words, race, variable, sizeof variable, module, sizeof module);
    if (variable[0]) {
        variable_add(text, variable);
        text_add(text, " (%llu byte%s,", (unsigned long long)race->allocation_bytes,
                 race->allocation_bytes == 1 ? "" : "s");
        module_add(text, module);
        text_add(text, ")");
        return;
    }
    race_place(words, race->allocation_frames, race->allocation_frame_count, "", place,
               sizeof place);
    text_add(text, race->object ? "the %s" : "memory", race->object);
    if (place[0])
        text_add(text, race->object ? " created at %s" : " allocated at %s", place);
}

/* ---- whose it is */

void race_allocation_add(struct text *text, struct race_words *words, const struct csan_race *race)
{
    char variable[SITE_BYTES], module[PLACE_BYTES];
    race_variable(words, race, variable, sizeof variable, module, sizeof module);
    if (variable[0]) {
        text_add(text, "The memory is ");
        variable_add(text, variable);
        module_add(text, module);
        text_add(text, ".\n");
        return;
    }
    if (race->allocation_frame_count == 0) {
        text_add(text, race->framework ? "Trace for tensor allocation not found.\n"
                                       : "The memory's allocation was not seen.\n");
        return;
    }
    if (race->object)
        text_add(text, "The %s was created with stack trace:\n", race->object);
    else
        text_add(text, "%s was allocated with stack trace:\n",
                 race->framework ? "Tensor" : "The memory");
    race_lines_add(text, words, race->allocation_frames, race->allocation_frame_count, "");
}

/* ---- which bytes */

/* The other streams of a repeated launch, each with its own bytes. */
static void also_add(struct text *text, const struct csan_race *race)
{
    for (size_t i = 0; i < race->also_count; i++) {
        const struct csan_race_also *also = &race->also[i];
        text_add(text, "The same by %s: %llu byte%s at 0x%llx", also->lane,
                 (unsigned long long)also->bytes, also->bytes == 1 ? "" : "s",
                 (unsigned long long)also->address);
        if (race->allocation_bytes && also->address >= race->allocation &&
            also->address - race->allocation < race->allocation_bytes)
            text_add(text, ", %llu to %llu of the %s",
                     (unsigned long long)(also->address - race->allocation),
                     (unsigned long long)(also->address - race->allocation + also->bytes - 1),
                     race->variable ? "variable" : "allocation");
        text_add(text, ".\n");
    }
    if (race->also_total > race->also_count)
        text_add(text, "The same by %zu more.\n", race->also_total - race->also_count);
}

void race_overlap_add(struct text *text, const struct csan_race *race)
{
    unsigned long long start = race->address, bytes = race->bytes, base = race->allocation;
    const char *plural = bytes == 1 ? "" : "s";
    if (race->object)
        return; /* its one byte is csan's own */
    if (!race->allocation_bytes) {
        text_add(text, "Overlap: %llu byte%s at 0x%llx, in no allocation csan saw.\n", bytes,
                 plural, start);
    } else {
        unsigned long long first = start - base, whole = race->allocation_bytes;
        text_add(text, "Overlap: %llu byte%s, %llu to %llu of the %s%llu%s at 0x%llx%s.\n", bytes,
                 plural, first, first + (bytes ? bytes - 1 : 0),
                 race->variable ? "variable's " : "", whole, race->variable ? "" : " allocated",
                 base, bytes < whole ? " (the first run that both touch)" : "");
    }
    also_add(text, race);
}
