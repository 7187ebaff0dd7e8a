/* See assertion.h. */
#include "runtime/sass/assertion.h"
#include "runtime/ptx/unaligned.h"
#include "runtime/sass/value_search.h"

#include <elf.h>
#include <string.h>

enum { STRING_MOST = 4096 };

/* The registers that a call passes the arguments in. */
enum { EXPRESSION = 4, FILE_NAME = 6, LINE = 8, FUNCTION = 10 };

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

static const char *argument_text(const struct strings *strings, struct value_search *search,
                                 uint32_t reg, uint32_t call, const char *file)
{
    uint32_t symbol;
    const struct value low = value_search_before(search, reg, call),
                       high = value_search_before(search, reg + 1, call);
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

/* Of a call that is one. */
static void arguments_find(struct assertion *assertion, const struct strings *strings,
                           struct value_search *search, uint32_t call)
{
    const struct value line = value_search_before(search, LINE, call);
    assertion->line = line.kind == VALUE_NUMBER ? line.value : 0;
    assertion->file = argument_text(strings, search, FILE_NAME, call, NULL);
    assertion->expression = argument_text(strings, search, EXPRESSION, call, assertion->file);
    assertion->function = argument_text(strings, search, FUNCTION, call, assertion->file);
}

bool assertion_find(struct assertion *assertion, const struct elf_file *image,
                    const struct elf_section *code, uint64_t pc, uint32_t architecture)
{
    struct strings strings = {.image = image};
    struct value_search search;
    const uint64_t place = (pc - code->address) / INSTRUCTION_BYTES;
    *assertion = (struct assertion){0};
    if (!code->data || place == 0 || place > code->bytes / INSTRUCTION_BYTES ||
        !elf_file_find(image, ".nv.constant4", 0, &strings.bank) ||
        !symbols_find(image, &strings.symbols))
        return false;
    const uint32_t call = (uint32_t)place - 1;
    const bool known = value_search_open(&search, code->data, code->bytes, architecture);
    if (known && instruction_opcode(value_search_instruction(&search, call)) == OPCODE_CALL_ABS)
        arguments_find(assertion, &strings, &search, call);
    value_search_close(&search);
    return assertion->expression || assertion->file || assertion->function;
}
