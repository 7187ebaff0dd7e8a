/* The linker: modules of separate compilation into one (PTX ISA sections 5.4 and 11.6). First every
 * shared name gets its winner (a strong definition, else a common one, else a weak one, else the
 * first declaration), then winners and private symbols are copied, pointers translated through one
 * map. The result shares nothing with its inputs.
 *
 * Symbols of all units come first, the insides of functions last, unit by unit: by then nothing of
 * another unit is looked at, so that a unit may go once its insides are copied. */
#include "csan/base/hash.h"
#include "runtime/ptx/module.h"
#include "runtime/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

/* How much a declaration counts against others of its name. */
enum rank { RANK_DECLARED, RANK_WEAK, RANK_COMMON, RANK_STRONG };

struct winner {
    const char *name;
    enum rank rank;
    size_t unit;
    const struct ptx_function *function; /* one of the two */
    const struct ptx_variable *variable;
};

/* Old pointer to new pointer. */
struct translation {
    const void *from;
    void *to;
};

struct linker {
    const struct ptx_module *const *inputs;
    struct ptx_module **taken; /* the same, when they are the linker's; what is released is NULL */
    size_t input_count;
    struct arena scratch;
    struct arena *arena;
    struct ptx_module *module;
    struct ptx_error *error;
    jmp_buf *failed;

    struct winner *winners; /* open addressing by kind and name */
    size_t winner_capacity;
    struct translation *translations;
    size_t translation_count, translation_capacity;

    struct ptx_function **functions;
    size_t function_count, function_capacity;
    struct ptx_variable **variables;
    size_t variable_count, variable_capacity;
    struct ptx_file *files;
    size_t file_count, file_capacity;
    size_t unit;            /* whose symbols are being copied */
    uint32_t *file_indices; /* the unit's files by position: their index in the new module */
};

/* ---- winners ---- */

static size_t hash_symbol(const char *name, bool is_function)
{
    uint64_t hash = hash_text(is_function ? HASH_ODD : HASH_START, name);
    return (size_t)(hash ^ (hash >> 29));
}

static struct winner *find_winner(const struct linker *linker, const char *name, bool is_function)
{
    size_t mask = linker->winner_capacity - 1, i = hash_symbol(name, is_function) & mask;
    for (;; i = (i + 1) & mask) {
        struct winner *winner = &linker->winners[i];
        if (!winner->name ||
            ((winner->function != NULL) == is_function && strcmp(winner->name, name) == 0))
            return winner;
    }
}

static _Noreturn void fail_twice(struct linker *linker, const char *name, size_t first,
                                 size_t second)
{
    snprintf(linker->error->message, sizeof linker->error->message,
             "PTX link: '%.120s' is defined in unit %zu and again in unit %zu", name, first + 1,
             second + 1);
    longjmp(*linker->failed, 1);
}

static void compete(struct linker *linker, const struct winner *candidate)
{
    struct winner *winner = find_winner(linker, candidate->name, candidate->function != NULL);
    if (!winner->name) {
        *winner = *candidate;
        return;
    }
    if (winner->rank == RANK_STRONG && candidate->rank == RANK_STRONG)
        fail_twice(linker, candidate->name, winner->unit, candidate->unit);
    bool larger_common = winner->rank == RANK_COMMON && candidate->rank == RANK_COMMON &&
                         candidate->variable && candidate->variable->size > winner->variable->size;
    if (candidate->rank > winner->rank || larger_common)
        *winner = *candidate;
}

/* A private function only declared in its unit is looked for in the others. */
static bool is_shared_function(const struct ptx_function *function)
{
    return function->linkage != PTX_LINK_NONE || function->is_prototype;
}

static bool is_shared_variable(const struct ptx_variable *variable)
{
    return variable->linkage != PTX_LINK_NONE && !variable->owner;
}

static enum rank rank_function(const struct ptx_function *function)
{
    if (function->is_prototype)
        return RANK_DECLARED;
    return function->linkage == PTX_LINK_WEAK ? RANK_WEAK : RANK_STRONG;
}

static enum rank rank_variable(const struct ptx_variable *variable)
{
    switch (variable->linkage) {
    case PTX_LINK_EXTERN:
        return RANK_DECLARED;
    case PTX_LINK_WEAK:
        return RANK_WEAK;
    case PTX_LINK_COMMON:
        return RANK_COMMON;
    default:
        return RANK_STRONG;
    }
}

static void choose_winners(struct linker *linker)
{
    size_t symbols = 0;
    for (size_t i = 0; i < linker->input_count; i++)
        symbols += (size_t)linker->inputs[i]->function_count + linker->inputs[i]->variable_count;
    linker->winner_capacity = 16;
    while (linker->winner_capacity < 2 * symbols)
        linker->winner_capacity *= 2;
    linker->winners =
        ptx_arena_array(&linker->scratch, linker->winner_capacity, sizeof *linker->winners);
    for (size_t i = 0; i < linker->input_count; i++) {
        const struct ptx_module *input = linker->inputs[i];
        for (uint32_t k = 0; k < input->function_count; k++) {
            const struct ptx_function *f = input->functions[k];
            if (is_shared_function(f))
                compete(linker, &(struct winner){f->name, rank_function(f), i, f, NULL});
        }
        for (uint32_t k = 0; k < input->variable_count; k++) {
            const struct ptx_variable *v = input->variables[k];
            if (is_shared_variable(v))
                compete(linker, &(struct winner){v->name, rank_variable(v), i, NULL, v});
        }
    }
}

/* ---- the map from old to new ---- */

static struct translation *find_translation(const struct linker *linker, const void *from)
{
    size_t mask = linker->translation_capacity - 1;
    size_t i = (size_t)(hash_spread((uintptr_t)from >> 3) >> 20) & mask;
    while (linker->translations[i].from && linker->translations[i].from != from)
        i = (i + 1) & mask;
    return &linker->translations[i];
}

static void grow_translations(struct linker *linker)
{
    struct translation *old = linker->translations;
    size_t old_capacity = linker->translation_capacity;
    linker->translation_capacity = old_capacity ? old_capacity * 4 : 4096;
    linker->translations = ptx_arena_array(&linker->scratch, linker->translation_capacity,
                                           sizeof *linker->translations);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].from)
            *find_translation(linker, old[i].from) = old[i];
}

static void translate(struct linker *linker, const void *from, void *to)
{
    if (linker->translation_count * 2 >= linker->translation_capacity)
        grow_translations(linker);
    struct translation *slot = find_translation(linker, from);
    linker->translation_count += slot->from == NULL;
    *slot = (struct translation){from, to};
}

static void *translated(const struct linker *linker, const void *from)
{
    return from && linker->translation_capacity ? find_translation(linker, from)->to : NULL;
}

/* ---- copies ---- */

static void *copy_bytes(struct linker *linker, const void *from, size_t count, size_t size)
{
    void *to = ptx_arena_array(linker->arena, count, size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

/* Each distinct text once: instructions share their mnemonics. */
static const char *copy_text(struct linker *linker, const char *text)
{
    char *copy = translated(linker, text);
    if (!copy && text) {
        copy = ptx_arena_text(linker->arena, text, strlen(text));
        translate(linker, text, copy);
    }
    return copy;
}

static const struct ptx_function *map_function(struct linker *linker,
                                               const struct ptx_function *old);

/* The copy of a variable; those of functions, and the winners' and private ones, on first sight. */
static struct ptx_variable *map_variable(struct linker *linker, const struct ptx_variable *old)
{
    if (!old)
        return NULL;
    struct ptx_variable *copy = translated(linker, old);
    if (copy)
        return copy;
    if (is_shared_variable(old)) {
        const struct ptx_variable *winner = find_winner(linker, old->name, false)->variable;
        if (winner != old) {
            copy = map_variable(linker, winner);
            translate(linker, old, copy);
            return copy;
        }
    }
    copy = copy_bytes(linker, old, 1, sizeof *old);
    translate(linker, old, copy);
    copy->name = copy_text(linker, old->name);
    copy->owner = map_function(linker, old->owner);
    if (old->init)
        copy->init = copy_bytes(linker, old->init, old->size, 1);
    if (old->space == PTX_SPACE_LOCAL || old->space == PTX_SPACE_PARAM) {
        copy->relocation_count = 0; /* these cannot be initialised */
        copy->relocations = NULL;
        return copy;
    }
    linker->variables = ptx_arena_grow(&linker->scratch, linker->variables, linker->variable_count,
                                       &linker->variable_capacity, sizeof *linker->variables);
    linker->variables[linker->variable_count++] = copy;
    return copy;
}

/* Relocations come last and in a loop, not with each variable: a chain of pointers may be as long
 * as the module. */
static void fill_relocations(struct linker *linker)
{
    for (size_t k = 0; k < linker->variable_count; k++) {
        struct ptx_variable *variable = linker->variables[k];
        struct ptx_relocation *relocations = copy_bytes(
            linker, variable->relocations, variable->relocation_count, sizeof *relocations);
        for (uint32_t i = 0; i < variable->relocation_count; i++) {
            relocations[i].symbol = copy_text(linker, relocations[i].symbol);
            relocations[i].variable = map_variable(linker, relocations[i].variable);
            relocations[i].function = map_function(linker, relocations[i].function);
        }
        variable->relocations = relocations;
    }
}

/* The copy of a function, still empty: its inside is filled by fill_function. A .callprototype has
 * no place in a module's list and is copied here whole. */
static const struct ptx_function *map_function(struct linker *linker,
                                               const struct ptx_function *old)
{
    if (!old)
        return NULL;
    struct ptx_function *copy = translated(linker, old);
    if (copy)
        return copy;
    copy = copy_bytes(linker, old, 1, sizeof *old);
    translate(linker, old, copy);
    copy->name = copy_text(linker, old->name);
    copy->module = linker->module;
    copy->params = copy_bytes(linker, old->params, old->param_count, sizeof *old->params);
    copy->returns = copy_bytes(linker, old->returns, old->return_count, sizeof *old->returns);
    for (uint32_t i = 0; i < old->param_count + old->return_count; i++) {
        struct ptx_param *param =
            i < old->param_count ? &copy->params[i] : &copy->returns[i - old->param_count];
        param->name = copy_text(linker, param->name);
        param->variable = map_variable(linker, param->variable);
    }
    return copy;
}

static struct ptx_operand *copy_operands(struct linker *linker, const struct ptx_operand *old,
                                         uint32_t count);

static void fill_operand(struct linker *linker, struct ptx_operand *operand)
{
    if (operand->variable)
        operand->variable = map_variable(linker, operand->variable);
    if (operand->function)
        operand->function = map_function(linker, operand->function);
    if (operand->elements)
        operand->elements = copy_operands(linker, operand->elements, operand->count);
}

static struct ptx_operand *copy_operands(struct linker *linker, const struct ptx_operand *old,
                                         uint32_t count)
{
    struct ptx_operand *operands = copy_bytes(linker, old, count, sizeof *operands);
    for (uint32_t i = 0; i < count; i++)
        fill_operand(linker, &operands[i]);
    return operands;
}

static const struct ptx_call *copy_call(struct linker *linker, const struct ptx_call *old)
{
    struct ptx_call *call = copy_bytes(linker, old, 1, sizeof *call);
    fill_operand(linker, &call->callee);
    call->returns = copy_operands(linker, old->returns, old->return_count);
    call->arguments = copy_operands(linker, old->arguments, old->argument_count);
    call->prototype = map_function(linker, old->prototype);
    const struct ptx_function **candidates =
        copy_bytes(linker, old->candidates, old->candidate_count, sizeof *candidates);
    for (uint32_t i = 0; i < old->candidate_count; i++)
        candidates[i] = map_function(linker, candidates[i]);
    call->candidates = candidates;
    return call;
}

/* The new module's index of a file that the unit calls `index`. */
static uint32_t map_file(const struct linker *linker, uint32_t index)
{
    const struct ptx_module *input = linker->inputs[linker->unit];
    for (uint32_t i = 0; i < input->file_count; i++)
        if (input->files[i].index == index)
            return linker->file_indices[i];
    return 0;
}

static void fill_instructions(struct linker *linker, struct ptx_function *function,
                              const struct ptx_function *old)
{
    uint32_t last_file = 0, last_index = 0; /* neighbours come from the same file */
    struct ptx_instruction *instructions =
        copy_bytes(linker, old->instructions, old->instruction_count, sizeof *instructions);
    for (uint32_t i = 0; i < old->instruction_count; i++) {
        struct ptx_instruction *instruction = &instructions[i];
        instruction->mnemonic = copy_text(linker, instruction->mnemonic);
        fill_operand(linker, &instruction->second);
        for (uint32_t k = 0; k < instruction->operand_count; k++)
            fill_operand(linker, &instruction->operands[k]);
        if (instruction->call)
            instruction->call = copy_call(linker, instruction->call);
        instruction->targets = copy_bytes(linker, instruction->targets, instruction->target_count,
                                          sizeof *instruction->targets);
        if (instruction->source_file != last_file) {
            last_file = instruction->source_file;
            last_index = map_file(linker, last_file);
        }
        instruction->source_file = last_index;
    }
    function->instructions = instructions;
}

static void fill_blocks(struct linker *linker, struct ptx_function *function,
                        const struct ptx_function *old)
{
    struct ptx_block *blocks = copy_bytes(linker, old->blocks, old->block_count, sizeof *blocks);
    for (uint32_t i = 0; i < old->block_count; i++) {
        blocks[i].successors = copy_bytes(linker, blocks[i].successors, blocks[i].successor_count,
                                          sizeof *blocks[i].successors);
        blocks[i].predecessors =
            copy_bytes(linker, blocks[i].predecessors, blocks[i].predecessor_count,
                       sizeof *blocks[i].predecessors);
    }
    function->blocks = blocks;
    if (old->block_count)
        function->block_of =
            copy_bytes(linker, old->block_of, old->instruction_count, sizeof *old->block_of);
}

static void fill_function(struct linker *linker, struct ptx_function *function,
                          const struct ptx_function *old)
{
    function->registers =
        copy_bytes(linker, old->registers, old->register_count, sizeof *old->registers);
    for (uint32_t i = 0; i < old->register_count; i++)
        function->registers[i].name = copy_text(linker, old->registers[i].name);
    struct ptx_variable **locals = ptx_arena_array(linker->arena, old->local_count, sizeof *locals);
    for (uint32_t i = 0; i < old->local_count; i++)
        locals[i] = map_variable(linker, old->locals[i]);
    function->locals = locals;
    function->source_file = map_file(linker, old->source_file);
    fill_instructions(linker, function, old);
    fill_blocks(linker, function, old);
}

/* ---- linking ---- */

static const struct ptx_function *winner_of(const struct linker *linker,
                                            const struct ptx_function *function)
{
    return is_shared_function(function) ? find_winner(linker, function->name, true)->function
                                        : function;
}

/* Names first, so that every reference finds its place; insides later. */
static void place_functions(struct linker *linker)
{
    for (size_t i = 0; i < linker->input_count; i++) {
        const struct ptx_module *input = linker->inputs[i];
        for (uint32_t k = 0; k < input->function_count; k++) {
            const struct ptx_function *old = input->functions[k], *winner = winner_of(linker, old);
            struct ptx_function *copy = (struct ptx_function *)map_function(linker, winner);
            translate(linker, old, copy);
            if (old != winner)
                continue;
            linker->functions =
                ptx_arena_grow(&linker->scratch, linker->functions, linker->function_count,
                               &linker->function_capacity, sizeof *linker->functions);
            linker->functions[linker->function_count++] = copy;
        }
    }
}

static void add_files(struct linker *linker, const struct ptx_module *input)
{
    linker->file_indices =
        ptx_arena_array(&linker->scratch, input->file_count, sizeof *linker->file_indices);
    for (uint32_t i = 0; i < input->file_count; i++) {
        linker->files = ptx_arena_grow(&linker->scratch, linker->files, linker->file_count,
                                       &linker->file_capacity, sizeof *linker->files);
        linker->files[linker->file_count] = (struct ptx_file){
            (uint32_t)linker->file_count + 1, copy_text(linker, input->files[i].name)};
        linker->file_indices[i] = (uint32_t)++linker->file_count;
    }
}

/* Variables, those of functions too; and what names them outlives the units. */
static void place_variables_of_all(struct linker *linker)
{
    for (size_t i = 0; i < linker->input_count; i++) {
        const struct ptx_module *input = linker->inputs[i];
        for (uint32_t k = 0; k < input->variable_count; k++)
            if (!input->variables[k]->owner)
                map_variable(linker, input->variables[k]);
        for (uint32_t k = 0; k < input->function_count; k++) {
            const struct ptx_function *old = input->functions[k];
            for (uint32_t l = 0; old == winner_of(linker, old) && l < old->local_count; l++)
                map_variable(linker, old->locals[l]);
        }
    }
    fill_relocations(linker);
    for (size_t i = 0; i < linker->winner_capacity; i++)
        if (linker->winners[i].name)
            linker->winners[i].name = ptx_arena_text(&linker->scratch, linker->winners[i].name,
                                                     strlen(linker->winners[i].name));
}

static void copy_unit(struct linker *linker, const struct ptx_module *input)
{
    struct ptx_module *module = linker->module;
    if (module->version < input->version)
        module->version = input->version;
    if (module->target < input->target)
        module->target = input->target;
    module->arch_specific |= input->arch_specific;
    add_files(linker, input);
    for (uint32_t k = 0; k < input->function_count; k++) {
        const struct ptx_function *old = input->functions[k];
        if (old == winner_of(linker, old) && !old->is_prototype)
            fill_function(linker, (struct ptx_function *)map_function(linker, old), old);
    }
}

static void link_modules(struct linker *linker)
{
    choose_winners(linker);
    place_functions(linker);
    place_variables_of_all(linker);
    for (linker->unit = 0; linker->unit < linker->input_count; linker->unit++) {
        copy_unit(linker, linker->inputs[linker->unit]);
        if (linker->taken) {
            ptx_module_release(linker->taken[linker->unit]);
            linker->taken[linker->unit] = NULL;
        }
    }
    struct ptx_module *module = linker->module;
    module->functions =
        copy_bytes(linker, linker->functions, linker->function_count, sizeof *linker->functions);
    module->variables =
        copy_bytes(linker, linker->variables, linker->variable_count, sizeof *linker->variables);
    module->files = copy_bytes(linker, linker->files, linker->file_count, sizeof *linker->files);
    module->function_count = (uint32_t)linker->function_count;
    module->variable_count = (uint32_t)linker->variable_count;
    module->file_count = (uint32_t)linker->file_count;
    ptx_module_finish(module);
}

static bool link_protected(struct linker *linker)
{
    jmp_buf failed, out_of_memory;
    if (setjmp(out_of_memory)) {
        snprintf(linker->error->message, sizeof linker->error->message, "PTX link: out of memory");
        return false;
    }
    if (setjmp(failed))
        return false;
    linker->failed = &failed;
    linker->scratch.out_of_memory = &out_of_memory;
    linker->arena->out_of_memory = &out_of_memory;
    link_modules(linker);
    linker->failed = NULL;
    linker->arena->out_of_memory = linker->scratch.out_of_memory = NULL;
    return true;
}

static struct ptx_module *link_units(const struct ptx_module *const *modules,
                                     struct ptx_module **taken, size_t count,
                                     struct ptx_error *error)
{
    struct ptx_error unused = {0};
    struct linker linker = {.inputs = modules,
                            .taken = taken,
                            .input_count = count,
                            .module = ptx_module_create(),
                            .error = error ? error : &unused};
    *linker.error = (struct ptx_error){0};
    if (!linker.module) {
        snprintf(linker.error->message, sizeof linker.error->message, "PTX link: out of memory");
        return NULL;
    }
    linker.arena = &((struct module_storage *)linker.module->arena)->arena;
    bool linked = link_protected(&linker);
    ptx_arena_release(&linker.scratch);
    if (linked)
        return linker.module;
    ptx_module_release(linker.module);
    return NULL;
}

struct ptx_module *ptx_link(const struct ptx_module *const *modules, size_t count,
                            struct ptx_error *error)
{
    return link_units(modules, NULL, count, error);
}

struct ptx_module *ptx_link_taking(struct ptx_module **modules, size_t count,
                                   struct ptx_error *error)
{
    struct ptx_module *linked =
        link_units((const struct ptx_module *const *)modules, modules, count, error);
    for (size_t i = 0; i < count; i++) {
        if (modules[i])
            ptx_module_release(modules[i]);
        modules[i] = NULL;
    }
    return linked;
}
