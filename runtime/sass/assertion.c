/* See assertion.h. A value is looked for backwards from the call, along all ways that control may
 * have come: it is known where all of them agree. */
#include "runtime/sass/assertion.h"
#include "runtime/ptx/unaligned.h"
#include "runtime/sass/step.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS_MOST = 20000, DEPTH_MOST = 24, STRING_MOST = 4096 };
#define NOWHERE UINT32_MAX
enum { BANK_OF_ADDRESSES = 4 };

/* The registers that a call passes the arguments in. */
enum { EXPRESSION = 4, FILE_NAME = 6, LINE = 8, FUNCTION = 10 };

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_NUMBER,
    VALUE_WORD /* of the bank of addresses, at `value` */
};

struct value {
    enum value_kind kind;
    uint32_t value;
};

struct search {
    const uint8_t *code;
    uint32_t count, architecture; /* instructions */
    uint32_t looks;
    bool leads_anywhere; /* there is a jump that nobody knows the target of */
    struct branch {
        uint32_t from, to;
    } * branches; /* by target */
    uint32_t branch_count;
};

/* ---- The code ---- */

static struct instruction instruction_read(const struct search *search, uint32_t place)
{
    const uint8_t *at = search->code + (size_t)place * INSTRUCTION_BYTES;
    return (struct instruction){read64(at), read64(at + 8)};
}

static bool is_move(uint32_t opcode)
{
    return opcode == OPCODE_MOV || opcode == OPCODE_IMAD /* of zeros */ || opcode == OPCODE_UMOV;
}

/* An operand of that bank, which becomes the number that its offset is; false: it has none. */
static bool names_address(struct instruction *instruction)
{
    const uint32_t form = instruction_form(*instruction);
    const uint64_t low = instruction->low;
    if ((form != 3 && form != 5) || !is_move(instruction_opcode(*instruction)) ||
        low >> 54 != BANK_OF_ADDRESSES || (instruction->high & INSTRUCTION_UNIFORM))
        return false;
    instruction->low = (low & UINT32_MAX) | (uint64_t)instruction_bits(low, 38, 16) << 32;
    instruction->low -= 1 << 9; /* form 5 is 4 then, and 3 is 2 */
    return true;
}

static struct step step_at(const struct search *search, uint32_t place, bool *of_address)
{
    struct instruction instruction = instruction_read(search, place);
    *of_address = names_address(&instruction);
    struct step step =
        step_of(instruction, (uint64_t)place * INSTRUCTION_BYTES, search->architecture);
    if (instruction_opcode(instruction) == OPCODE_LEPC) { /* it is known to write a pair */
        step.kind = STEP_WRITES;
        step.to = (uint16_t)instruction_bits(instruction.low, 16, 8);
        step.count = 2;
    }
    return step;
}

static int compare_branches(const void *one, const void *other)
{
    const struct branch *a = one, *b = other;
    return (a->to > b->to) - (a->to < b->to);
}

/* Threads that meet come from wherever they waited, and what is called from wherever it is called.
 */
static bool branches_read(struct search *search)
{
    bool of_address;
    search->branches = malloc(((size_t)search->count + 1) * sizeof *search->branches);
    for (uint32_t place = 0; search->branches && place < search->count; place++) {
        const struct step step = step_at(search, place, &of_address);
        search->leads_anywhere |= step.kind == STEP_JUMPS;
        if (step.kind == STEP_BRANCHES || step.kind == STEP_SETS_BARRIER || step.kind == STEP_CALLS)
            search->branches[search->branch_count++] =
                (struct branch){.from = step.kind == STEP_BRANCHES ? place : NOWHERE,
                                .to = step_index(step.target)};
    }
    if (!search->branches)
        return false;
    qsort(search->branches, search->branch_count, sizeof *search->branches, compare_branches);
    return true;
}

/* The first branch to the place, or the first to one behind it. */
static uint32_t branch_first(const struct search *search, uint32_t place)
{
    uint32_t low = 0, high = search->branch_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (search->branches[middle].to < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Values ---- */

static const struct value unknown = {VALUE_UNKNOWN, 0};

static struct value value_before(struct search *search, uint32_t reg, uint32_t place, int depth);

/* Of LDC and its like. */
static struct value value_loaded(struct search *search, const struct step *step, uint32_t reg,
                                 uint32_t place, int depth)
{
    const struct constant constant = instruction_constant_load(instruction_read(search, place));
    struct value index = {VALUE_NUMBER, 0};
    if ((constant.kind != CONSTANT_KNOWN && constant.kind != CONSTANT_INDEXED) ||
        constant.bank != BANK_OF_ADDRESSES || constant.bytes < 4)
        return unknown;
    if (constant.kind == CONSTANT_INDEXED)
        index = value_before(search,
                             constant.index + (constant.is_index_uniform ? REGISTER_UNIFORM : 0),
                             place, depth + 1);
    if (index.kind != VALUE_NUMBER)
        return unknown;
    return (struct value){VALUE_WORD, constant.offset + index.value + 4 * (reg - step->to)};
}

/* What the step, which writes the register whatever happens, puts there. */
static struct value value_written(struct search *search, const struct step *step, bool of_address,
                                  uint32_t reg, uint32_t place, int depth)
{
    const struct step_operand *from = &step->operands[0];
    if (step->kind == STEP_LOADS)
        return value_loaded(search, step, reg, place, depth);
    if (step->kind != STEP_MOVES || step->carries)
        return unknown;
    if (from->kind == OPERAND_REGISTER)
        return value_before(search, from->value + (reg - step->to), place, depth + 1);
    if (from->kind != OPERAND_CONSTANT || reg != step->to)
        return unknown;
    return (struct value){of_address ? VALUE_WORD : VALUE_NUMBER, from->value};
}

/* Once the step at the place is done. */
static struct value value_behind(struct search *search, uint32_t reg, uint32_t place, int depth)
{
    bool of_address;
    const struct step step = step_at(search, place, &of_address);
    if (step.kind == STEP_WRITES_ANY || step.kind == STEP_CALLS || step.kind == STEP_RETURNS)
        return unknown;
    if (reg < step.to || reg - step.to >= step.count)
        return value_before(search, reg, place, depth);
    return step.always ? value_written(search, &step, of_address, reg, place, depth) : unknown;
}

/* Where control comes to the place by branches, and perhaps by itself: what all ways say. */
static struct value value_of_ways(struct search *search, uint32_t reg, uint32_t place,
                                  uint32_t branch, bool goes_on, int depth)
{
    struct value all = goes_on ? value_behind(search, reg, place - 1, depth + 1) : unknown;
    bool any = goes_on;
    for (; branch < search->branch_count && search->branches[branch].to == place; branch++) {
        const uint32_t from = search->branches[branch].from;
        const struct value way =
            from == NOWHERE ? unknown : value_behind(search, reg, from, depth + 1);
        if (any && (way.kind != all.kind || way.value != all.value))
            return unknown;
        all = way;
        any = true;
    }
    return all;
}

/* Before the step at the place is done. */
static struct value value_before(struct search *search, uint32_t reg, uint32_t place, int depth)
{
    bool of_address;
    if (reg == REGISTER_ZERO || reg == REGISTER_UNIFORM_ZERO)
        return (struct value){VALUE_NUMBER, 0};
    while (place > 0 && depth < DEPTH_MOST && search->looks++ < LOOKS_MOST) {
        const struct step step = step_at(search, place - 1, &of_address);
        const bool goes_on = step_falls_through(&step) || step.kind == STEP_WRITES_ANY;
        const uint32_t branch = branch_first(search, place);
        if (branch < search->branch_count && search->branches[branch].to == place)
            return value_of_ways(search, reg, place, branch, goes_on, depth);
        if (!goes_on)
            return unknown;
        if (step.kind == STEP_WRITES_ANY || step.kind == STEP_CALLS ||
            (reg >= step.to && reg - step.to < step.count))
            return value_behind(search, reg, place - 1, depth + 1);
        place--;
    }
    return unknown;
}

/* ---- Strings ---- */

/* The section of that name is relocated by the one of these types that says so. */
static bool relocation_find(const struct elf_file *image, uint32_t bank, uint32_t offset,
                            uint32_t *symbol)
{
    struct elf_section table;
    for (uint32_t i = 0; i < image->section_count; i++) {
        if (!elf_file_section(image, i, &table) || table.info != bank || !table.data ||
            (table.type != SHT_RELA && table.type != SHT_REL))
            continue;
        const size_t row_bytes = table.type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        for (size_t at = 0; at + row_bytes <= table.bytes; at += row_bytes) {
            const bool is_moved = table.type == SHT_RELA && read64(table.data + at + 16) != 0;
            if (read64(table.data + at) != offset || is_moved)
                continue;
            *symbol = read32(table.data + at + 12);
            return true;
        }
    }
    return false;
}

struct symbol {
    uint32_t section;
    uint64_t value, bytes;
};

static bool symbol_read(const struct elf_section *table, uint64_t number, struct symbol *symbol)
{
    if (!table->data || number >= table->bytes / sizeof(Elf64_Sym))
        return false;
    const uint8_t *at = table->data + number * sizeof(Elf64_Sym);
    *symbol = (struct symbol){
        .section = read16(at + 6), .value = read64(at + 8), .bytes = read64(at + 16)};
    return true;
}

static bool is_text(const uint8_t *data, uint64_t bytes)
{
    for (uint64_t i = 0; i + 1 < bytes; i++)
        if (data[i] < ' ' && data[i] != '\t' && data[i] != '\n')
            return false;
    return bytes > 0 && data[bytes - 1] == 0;
}

/* Whether it is the name of a source file, and neither an expression nor a function's name. */
static bool names_source(const char *text)
{
    static const char *const endings[] = {".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp", ".inl"};
    const char *dot = strrchr(text, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return !strpbrk(text, "( =<>&|");
    return false;
}

/* Of relocated images. The compiler puts strings one behind the other. `other` is none of those
 * looked for. NULL: none has that length, or several that differ. */
static const char *text_of_length(const struct elf_section *section, uint64_t bytes,
                                  bool (*accepts)(const char *text), const char *other)
{
    const char *found = NULL;
    for (uint64_t at = 0; at + bytes <= section->bytes; at++) {
        const char *text = (const char *)section->data + at;
        if ((at && text[-1]) || !is_text(section->data + at, bytes) || text == other ||
            (accepts && !accepts(text)))
            continue;
        if (found && memcmp(found, text, bytes) != 0)
            return NULL;
        found = text;
    }
    return found;
}

/* `file`: that of the same assertion, which is another string; NULL: it is not known. */
static const char *text_of(const struct elf_file *image, const struct elf_section *symbols,
                           uint32_t number, bool is_file, const char *file)
{
    struct symbol symbol;
    struct elf_section section;
    if (!symbol_read(symbols, number, &symbol) || symbol.bytes < 2 || symbol.bytes > STRING_MOST ||
        !elf_file_section(image, symbol.section, &section) || section.type == SHT_NOBITS ||
        !section.data)
        return NULL;
    if (symbol.value <= section.bytes && symbol.bytes <= section.bytes - symbol.value)
        return is_text(section.data + symbol.value, symbol.bytes)
                   ? (const char *)section.data + symbol.value
                   : NULL;
    const char *only = text_of_length(&section, symbol.bytes, NULL, file);
    return only || !is_file ? only : text_of_length(&section, symbol.bytes, names_source, NULL);
}

struct strings {
    const struct elf_file *image;
    struct elf_section bank, symbols;
};

static const char *argument_text(const struct strings *strings, struct search *search, uint32_t reg,
                                 uint32_t call, const char *file)
{
    uint32_t symbol;
    const struct value low = value_before(search, reg, call, 0),
                       high = value_before(search, reg + 1, call, 0);
    if (low.kind != VALUE_WORD || high.kind != VALUE_WORD || high.value != low.value + 4 ||
        !relocation_find(strings->image, strings->bank.index, low.value, &symbol))
        return NULL;
    return text_of(strings->image, &strings->symbols, symbol, reg == FILE_NAME, file);
}

/* ---- All of it ---- */

static bool symbols_find(const struct elf_file *image, struct elf_section *symbols)
{
    for (uint32_t i = 0; i < image->section_count; i++)
        if (elf_file_section(image, i, symbols) && symbols->type == SHT_SYMTAB)
            return true;
    return false;
}

bool assertion_find(struct assertion *assertion, const struct elf_file *image,
                    const struct elf_section *code, uint64_t pc, uint32_t architecture)
{
    struct strings strings = {.image = image};
    struct search search = {.code = code->data,
                            .count = (uint32_t)(code->bytes / INSTRUCTION_BYTES),
                            .architecture = architecture};
    const uint64_t place = (pc - code->address) / INSTRUCTION_BYTES;
    *assertion = (struct assertion){0};
    if (!code->data || place == 0 || place > search.count ||
        !elf_file_find(image, ".nv.constant4", 0, &strings.bank) ||
        !symbols_find(image, &strings.symbols))
        return false;
    const uint32_t call = (uint32_t)place - 1;
    if (instruction_opcode(instruction_read(&search, call)) != OPCODE_CALL_ABS ||
        !branches_read(&search))
        return false;
    if (!search.leads_anywhere) {
        const struct value line = value_before(&search, LINE, call, 0);
        assertion->line = line.kind == VALUE_NUMBER ? line.value : 0;
        assertion->file = argument_text(&strings, &search, FILE_NAME, call, NULL);
        assertion->expression = argument_text(&strings, &search, EXPRESSION, call, assertion->file);
        assertion->function = argument_text(&strings, &search, FUNCTION, call, assertion->file);
    }
    free(search.branches);
    return assertion->expression || assertion->file || assertion->function;
}
