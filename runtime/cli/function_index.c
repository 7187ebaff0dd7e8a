/* See function_index.h. */
#include "runtime/cli/function_index.h"
#include "csan/base/array.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64, SCOPES_MAX = 1024 };

/* A function whose code is in several places has several. */
struct function_code {
    Dwarf_Addr begin, end;
    Dwarf_Die function;
};

struct function_index {
    Dwarf_Off unit;
    struct function_code *codes;
    size_t count, capacity;
    struct function_index *next;
};

/* ---- a unit is read */

static void function_add(struct function_index *unit, Dwarf_Die *function)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    while (
        (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0 &&
        array_room(&unit->codes, unit->count, &unit->capacity, 64, SIZE_MAX, sizeof *unit->codes))
        unit->codes[unit->count++] =
            (struct function_code){.begin = begin, .end = end, .function = *function};
}

/* What has functions within it. Those of a local class, such as a lambda, are in the class, and it
 * in a function. */
static bool has_functions(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
        return true;
    default:
        return false;
    }
}

static void functions_read(struct function_index *unit, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;
    if (depth > DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram)
            function_add(unit, &child);
        if (has_functions(tag))
            functions_read(unit, &child, depth + 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

static struct function_index *unit_find(struct function_index **index, Dwarf_Die *unit)
{
    const Dwarf_Off offset = dwarf_dieoffset(unit);
    for (struct function_index *known = *index; known; known = known->next)
        if (known->unit == offset)
            return known;
    struct function_index *read = calloc(1, sizeof *read);
    if (!read)
        return NULL;
    read->unit = offset;
    functions_read(read, unit, 0);
    read->next = *index;
    return *index = read;
}

/* ---- an address is found */

static bool child_at(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *child)
{
    int more = dwarf_child(parent, child);
    while (more == 0 && dwarf_haspc(child, address) != 1)
        more = dwarf_siblingof(child, child);
    return more == 0;
}

static void reverse(Dwarf_Die *functions, int count)
{
    for (int i = 0; i < count / 2; i++) {
        const Dwarf_Die function = functions[i];
        functions[i] = functions[count - 1 - i];
        functions[count - 1 - i] = function;
    }
}

int function_index_find(struct function_index **index, Dwarf_Die *unit, Dwarf_Addr address,
                        Dwarf_Die *functions, int most)
{
    struct function_index *known = unit_find(index, unit);
    size_t i = 0;
    while (known && i < known->count &&
           (address < known->codes[i].begin || address >= known->codes[i].end))
        i++;
    if (!known || i == known->count || most < 1)
        return 0;
    Dwarf_Die scope = known->codes[i].function, inner;
    int count = 0;
    functions[count++] = scope;
    for (int depth = 0; depth < SCOPES_MAX && child_at(&scope, address, &inner); depth++) {
        scope = inner;
        if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine && count < most)
            functions[count++] = scope;
    }
    reverse(functions, count);
    return count;
}

void function_index_free(struct function_index *index)
{
    while (index) {
        struct function_index *next = index->next;
        free(index->codes);
        free(index);
        index = next;
    }
}
