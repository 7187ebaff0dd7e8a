/* Cubins. See cubin.h.
 *
 * A cubin is an ELF file (machine 190) with, for each kernel NAME, a symbol of that name whose
 * st_other has STO_CUDA_ENTRY (10h), its code in section .text.NAME, and attributes in section
 * .nv.info.NAME, whose sh_info is the number of the code's section. The names of attributes and of
 * their fields are those that `cuobjdump -elf` prints (CUDA Binary Utilities, "cuobjdump"); their
 * layout is documented nowhere and was taken from what nvcc 13 makes, for sm_75 to sm_120, of
 * kernels whose parameters are known:
 *
 *   attribute   u8 format, u8 attribute, u16 value or, with format EIFMT_SVAL (4), bytes of payload
 *               that follows, padded to 4
 *   EIATTR_KPARAM_INFO (17h)     u32 index, u16 ordinal, u16 offset, u32 packed: bytes << 18
 *   EIATTR_KPARAM_INFO_V2 (45h)  the same with u32 packed: bytes in the lower half, of pointers
 *                                something else in the upper one from sm_100 on: where some
 *                                parameter is larger (all are less than 32 KiB)
 *   EIATTR_PARAM_CBANK (0ah)     u32 symbol, u16 offset, u16 bytes: of all parameters, in constant
 *                                bank 0
 *
 * e_flags holds the architecture in its second byte from ABI version 8 on, in its first before. */
#include "runtime/ptx/cubin.h"
#include "runtime/ptx/elf_file.h"
#include "runtime/ptx/unaligned.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORMAT_PAYLOAD = 4,
    ATTRIBUTE_PARAM = 0x17,
    ATTRIBUTE_PARAM_V2 = 0x45,
    PARAM_PAYLOAD = 12,
    ATTRIBUTE_BANK = 0x0a,
    BANK_PAYLOAD = 8,
    MAX_PARAMS = 4096,
    ENTRY = 0x10 /* STO_CUDA_ENTRY */
};

#define INFO    ".nv.info."
#define NUMBERS ".nv.constant2."
#define TEXT    ".text."

uint32_t cubin_architecture(const void *data, size_t bytes)
{
    struct elf_file file;
    if (!elf_file_open(&file, data, bytes, NULL, 0) || file.machine != ELF_MACHINE_CUDA)
        return 0;
    return file.abi_version >= 8 ? file.flags >> 8 & 0xff : file.flags & 0xff;
}

struct attribute {
    uint8_t kind;
    bool is_whole;
    uint64_t bytes;
    const uint8_t *payload;
};

/* The parameters in the order of their ordinals. */
struct params {
    struct cubin_param items[MAX_PARAMS];
    uint32_t count;
};

static void params_add(struct params *params, uint8_t attribute, const uint8_t *payload)
{
    uint32_t ordinal = read16(payload + 4), size = read32(payload + 8);
    if (ordinal >= MAX_PARAMS)
        return;
    if (ordinal >= params->count) {
        memset(params->items + params->count, 0,
               (ordinal + 1 - params->count) * sizeof *params->items);
        params->count = ordinal + 1;
    }
    params->items[ordinal] =
        (struct cubin_param){.offset = read16(payload + 6),
                             .bytes = attribute == ATTRIBUTE_PARAM ? size >> 18 : size & 0xffff};
}

/* Goes on to the attribute behind `*at`, whose payload follows there. False: there is none. */
static bool attribute_next(const struct elf_section *info, uint64_t *at,
                           struct attribute *attribute)
{
    if (*at > info->bytes || info->bytes - *at < 4)
        return false;
    const uint8_t *head = info->data + *at;
    attribute->kind = head[1];
    attribute->bytes = head[0] == FORMAT_PAYLOAD ? read16(head + 2) : 0;
    attribute->payload = head + 4;
    attribute->is_whole = attribute->bytes <= info->bytes - *at - 4;
    *at += 4 + ((attribute->bytes + 3) & ~UINT64_C(3));
    return true;
}

/* False: the attributes are cut off. */
static bool params_read(struct params *params, const struct elf_section *info)
{
    struct attribute attribute;
    params->count = 0;
    for (uint64_t at = 0; attribute_next(info, &at, &attribute);) {
        if (!attribute.is_whole)
            return false;
        if ((attribute.kind == ATTRIBUTE_PARAM || attribute.kind == ATTRIBUTE_PARAM_V2) &&
            attribute.bytes >= PARAM_PAYLOAD)
            params_add(params, attribute.kind, attribute.payload);
    }
    return true;
}

/* One cubin being read. */
struct reader {
    struct elf_file file;
    struct elf_section symbols, names;
    uint32_t *info_of;    /* by number of the code's section: its attributes' section; 0: none */
    uint32_t *numbers_of; /* likewise: that of its bank 2 */
    bool *is_entry;       /* by number of the code's section: it is a kernel's */
    bool *is_relocated;
    uint32_t assertfail_at;
    uint64_t code_bytes_left; /* no section of code lies over another */
    struct params params;
    void (*visit_kernel)(void *user, const struct cubin_kernel *kernel);
    void (*visit_variable)(void *user, const struct cubin_variable *variable);
    void (*visit_code)(void *user, const struct cubin_code *code);
    void *user;
    int count;
};

/* What belongs to other sections. */
static void find_attributes(struct reader *reader)
{
    struct elf_section section;
    for (uint32_t i = 1; i < reader->file.section_count; i++) {
        if (!elf_file_section(&reader->file, i, &section) ||
            section.info >= reader->file.section_count)
            continue;
        if (strncmp(section.name, INFO, strlen(INFO)) == 0)
            reader->info_of[section.info] = i;
        if (strncmp(section.name, NUMBERS, strlen(NUMBERS)) == 0)
            reader->numbers_of[section.info] = i;
        if ((section.type == SHT_REL || section.type == SHT_RELA) && section.bytes)
            reader->is_relocated[section.info] = true;
    }
}

/* NULL: not in the table. */
static const char *symbol_name(const struct elf_section *names, uint32_t offset)
{
    if (!names->data || offset >= names->bytes ||
        !memchr(names->data + offset, '\0', names->bytes - offset))
        return NULL;
    return (const char *)names->data + offset;
}

static bool is_kernel(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & ENTRY);
}

static void visit_kernel(struct reader *reader, const Elf64_Sym *symbol)
{
    struct elf_section info;
    const char *name = symbol_name(&reader->names, symbol->st_name);
    if (!is_kernel(symbol) || !name)
        return;
    uint32_t section =
        symbol->st_shndx < reader->file.section_count ? reader->info_of[symbol->st_shndx] : 0;
    bool has_params = section && elf_file_section(&reader->file, section, &info) && info.data &&
                      params_read(&reader->params, &info);
    reader->visit_kernel(
        reader->user, &(struct cubin_kernel){.name = name,
                                             .params = reader->params.items,
                                             .param_count = has_params ? reader->params.count : 0,
                                             .has_params = has_params});
    reader->count++;
}

/* Memory of __device__ variables: .nv.global and .nv.global.init; of __constant__ ones:
 * .nv.constant3. What the compiler keeps in memory for itself has no symbol there. */
static void visit_variable(struct reader *reader, const Elf64_Sym *symbol)
{
    struct elf_section section;
    const char *name = symbol_name(&reader->names, symbol->st_name);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !name || !*name || !symbol->st_size ||
        !elf_file_section(&reader->file, symbol->st_shndx, &section))
        return;
    bool is_constant = strcmp(section.name, ".nv.constant3") == 0;
    if (!is_constant && strcmp(section.name, ".nv.global") != 0 &&
        strcmp(section.name, ".nv.global.init") != 0)
        return;
    reader->visit_variable(reader->user, &(struct cubin_variable){.name = name,
                                                                  .bytes = symbol->st_size,
                                                                  .is_constant = is_constant});
    reader->count++;
}

/* False: there cannot be so many bytes in the file. */
static bool bytes_take(struct reader *reader, uint64_t bytes)
{
    if (bytes > reader->code_bytes_left)
        return false;
    reader->code_bytes_left -= bytes;
    return true;
}

/* False: it lies over what was visited before. */
static bool visit_code(struct reader *reader, const struct elf_section *section)
{
    struct elf_section info, numbers;
    struct attribute attribute;
    struct cubin_code code = {.name = section->name + strlen(TEXT),
                              .instructions = section->data,
                              .bytes = section->bytes,
                              .is_kernel = reader->is_entry[section->index],
                              .is_relocated = reader->is_relocated[section->index],
                              .assertfail_at = reader->assertfail_at};
    uint32_t of = reader->info_of[section->index];
    bool has_info = of && elf_file_section(&reader->file, of, &info) && info.data;
    if (!bytes_take(reader, section->bytes) || (has_info && !bytes_take(reader, info.bytes)))
        return false;
    for (uint64_t at = 0; has_info && attribute_next(&info, &at, &attribute);)
        if (attribute.kind == ATTRIBUTE_BANK && attribute.is_whole &&
            attribute.bytes >= BANK_PAYLOAD) {
            code.params_at = read16(attribute.payload + 4);
            code.param_bytes = read16(attribute.payload + 6);
        }
    of = reader->numbers_of[section->index];
    if (of && !reader->is_relocated[of] && elf_file_section(&reader->file, of, &numbers) &&
        numbers.data) {
        code.numbers = numbers.data;
        code.number_bytes = numbers.bytes;
    }
    reader->visit_code(reader->user, &code);
    reader->count++;
    return true;
}

static bool is_symbol_named(const struct reader *reader, uint32_t number, const char *name)
{
    Elf64_Sym symbol;
    if (number >= reader->symbols.bytes / sizeof symbol)
        return false;
    memcpy(&symbol, reader->symbols.data + number * sizeof symbol, sizeof symbol);
    const char *own = symbol_name(&reader->names, symbol.st_name);
    return own && strcmp(own, name) == 0;
}

/* Of a table of relocations, the first of that symbol's own address. */
static uint32_t relocation_find(const struct reader *reader, const struct elf_section *table,
                                const char *symbol)
{
    const size_t row = table->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (uint64_t at = 0; table->bytes - at >= row; at += row) {
        const uint8_t *entry = table->data + at;
        const bool is_moved = table->type == SHT_RELA && read64(entry + 16) != 0;
        if (!is_moved && read64(entry) < CUBIN_NOWHERE &&
            is_symbol_named(reader, read32(entry + 12), symbol))
            return (uint32_t)read64(entry);
    }
    return CUBIN_NOWHERE;
}

/* CUDA C++ Programming Guide, "Assertion": it stops the kernel. */
static uint32_t assertfail_find(const struct reader *reader)
{
    struct elf_section bank, table;
    uint32_t found = CUBIN_NOWHERE;
    if (!reader->symbols.data || !elf_file_find(&reader->file, ".nv.constant4", 0, &bank))
        return found;
    for (uint32_t i = 1; i < reader->file.section_count && found == CUBIN_NOWHERE; i++)
        if (elf_file_section(&reader->file, i, &table) && table.info == bank.index && table.data &&
            (table.type == SHT_RELA || table.type == SHT_REL))
            found = relocation_find(reader, &table, "__assertfail");
    return found;
}

static bool visit_codes(struct reader *reader)
{
    struct elf_section section;
    reader->code_bytes_left = reader->file.bytes;
    reader->assertfail_at = assertfail_find(reader);
    for (uint32_t i = 1; i < reader->file.section_count; i++)
        if (elf_file_section(&reader->file, i, &section) && section.data &&
            strncmp(section.name, TEXT, strlen(TEXT)) == 0 && !visit_code(reader, &section))
            return false;
    return true;
}

static void visit_symbol(struct reader *reader, const Elf64_Sym *symbol)
{
    if (is_kernel(symbol) && symbol->st_shndx < reader->file.section_count)
        reader->is_entry[symbol->st_shndx] = true;
    if (reader->visit_kernel)
        visit_kernel(reader, symbol);
    if (reader->visit_variable)
        visit_variable(reader, symbol);
}

static void visit_symbols(struct reader *reader)
{
    Elf64_Sym symbol;
    struct elf_section *symbols = &reader->symbols;
    if (!elf_file_find(&reader->file, ".symtab", 0, symbols) || !symbols->data ||
        !elf_file_section(&reader->file, symbols->link, &reader->names))
        return;
    for (uint64_t at = 0; symbols->bytes - at >= sizeof symbol; at += sizeof symbol) {
        memcpy(&symbol, symbols->data + at, sizeof symbol);
        visit_symbol(reader, &symbol);
    }
}

static bool room_make(struct reader *reader)
{
    size_t room = (size_t)reader->file.section_count + 1;
    reader->info_of = calloc(room, sizeof *reader->info_of);
    reader->numbers_of = calloc(room, sizeof *reader->numbers_of);
    reader->is_entry = calloc(room, sizeof *reader->is_entry);
    reader->is_relocated = calloc(room, sizeof *reader->is_relocated);
    return reader->info_of && reader->numbers_of && reader->is_entry && reader->is_relocated;
}

/* `reader` says what to visit; it is freed. */
static int read_symbols(struct reader *reader, const void *data, size_t bytes, char *message,
                        size_t message_bytes)
{
    int count = -1;
    snprintf(message, message_bytes, "memory is short");
    if (!reader || !elf_file_open(&reader->file, data, bytes, message, message_bytes)) {
        free(reader);
        return -1;
    }
    if (reader->file.machine != ELF_MACHINE_CUDA) {
        snprintf(message, message_bytes, "no cubin: machine code, but of no GPU");
    } else if (room_make(reader)) {
        find_attributes(reader);
        visit_symbols(reader);
        if (!reader->visit_code || visit_codes(reader))
            count = reader->count;
        else
            snprintf(message, message_bytes, "damaged: code lies over other code");
    }
    free(reader->info_of);
    free(reader->numbers_of);
    free(reader->is_entry);
    free(reader->is_relocated);
    free(reader);
    return count;
}

int cubin_kernels(const void *data, size_t bytes,
                  void (*visit)(void *user, const struct cubin_kernel *kernel), void *user,
                  char *message, size_t message_bytes)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->visit_kernel = visit;
        reader->user = user;
    }
    return read_symbols(reader, data, bytes, message, message_bytes);
}

int cubin_variables(const void *data, size_t bytes,
                    void (*visit)(void *user, const struct cubin_variable *variable), void *user,
                    char *message, size_t message_bytes)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->visit_variable = visit;
        reader->user = user;
    }
    return read_symbols(reader, data, bytes, message, message_bytes);
}

int cubin_codes(const void *data, size_t bytes,
                void (*visit)(void *user, const struct cubin_code *code), void *user, char *message,
                size_t message_bytes)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->visit_code = visit;
        reader->user = user;
    }
    return read_symbols(reader, data, bytes, message, message_bytes);
}
