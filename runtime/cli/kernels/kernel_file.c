/* The GPU code of a file. See kernel_file.h.
 *
 * In a linked file each wrapper of section .nvFatBinSegment leads to a container, by a pointer that
 * is found as the loader would make it, by relocations. A container in .nv_fatbin is a program.
 * Those in __nv_relfatbin, -rdc=true, are units of one: which units one device link took is in a
 * list that only the running program fills, so several device links of one file cannot be
 * distinguished. In an object the containers of both sections stand one behind the other. */
#include "runtime/cli/kernels/kernel_file.h"
#include "csan/base/array.h"
#include "runtime/ptx/cubin.h"
#include "runtime/ptx/elf_file.h"
#include "runtime/ptx/units.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGE = 512, CONTAINER_HEADER = 16 };

/* A word that the loader changes. */
struct relocation {
    uint64_t place, value;
};

struct reader {
    const struct kernel_file_callbacks *callbacks;
    const char *path;
    const char *member; /* of an archive; "" */
    const uint8_t *data;
    size_t bytes;
    struct elf_file elf;
    struct relocation *relocations; /* by place */
    size_t relocation_count, relocation_capacity;
    struct kernel_program relocatable; /* of -rdc=true */
    int programs;
    bool out_of_memory;
};

static void problem(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void problem(struct reader *reader, const char *format, ...)
{
    char message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    int length = *reader->member ? snprintf(message, sizeof message, "%s: ", reader->member) : 0;
    if (length < 0 || (size_t)length >= sizeof message)
        length = 0;
    /* clang-tidy, given several files at once, forgets va_start. */
    vsnprintf(message + length, sizeof message - (size_t)length, format,
              arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(arguments);
    reader->callbacks->problem(reader->callbacks->user, message);
}

static bool grow(struct reader *reader, void *array, size_t count, size_t *capacity, size_t size)
{
    if (array_room(array, count, capacity, 8, SIZE_MAX, size))
        return true;
    reader->out_of_memory = true;
    return false;
}

/* ---- Programs ---- */

static void program_release(struct kernel_program *program)
{
    for (size_t i = 0; i < program->text_count; i++)
        free(program->texts[i].text);
    free(program->texts);
    free(program->codes);
    *program = (struct kernel_program){0};
}

/* One container's entries go to a program. Texts are kept packed until it is known which of them
 * are read: `text` points to the copied entry, `bytes` is 0. */
struct collecting {
    struct reader *reader;
    struct kernel_program *program;
};

static bool collect_code(struct collecting *to, const struct fatbin_entry *entry)
{
    struct kernel_program *program = to->program;
    if (!grow(to->reader, &program->codes, program->code_count, &program->code_capacity,
              sizeof *program->codes))
        return false;
    program->codes[program->code_count++].entry = *entry;
    return true;
}

static bool collect_text(struct collecting *to, const struct fatbin_entry *entry)
{
    struct kernel_program *program = to->program;
    struct fatbin_entry *packed = grow(to->reader, &program->texts, program->text_count,
                                       &program->text_capacity, sizeof *program->texts)
                                      ? malloc(sizeof *packed)
                                      : NULL;
    if (!packed) {
        to->reader->out_of_memory = true;
        return false;
    }
    *packed = *entry;
    program->texts[program->text_count++] = (struct fatbin_text){
        .text = (char *)packed, .arch = entry->arch, .unit = program->unit_count};
    return true;
}

static bool collect_entry(void *user, const struct fatbin_entry *entry)
{
    struct collecting *to = user;
    if (entry->kind == FATBIN_ELF)
        return collect_code(to, entry);
    if (entry->kind == FATBIN_PTX)
        return collect_text(to, entry);
    to->program->other_count++;
    return true;
}

/* One container is one unit. */
static void collect_container(struct reader *reader, struct kernel_program *program,
                              const uint8_t *data, size_t limit)
{
    char message[MESSAGE];
    struct collecting to = {reader, program};
    if (limit == 0)
        problem(reader, "fat binary: a pointer to it leads to the very end of its section");
    else if (fatbin_entries(data, limit, collect_entry, &to, message, sizeof message) != 0)
        problem(reader, "%s", message);
    program->unit_count++;
}

static int texts_newest_first(const void *left, const void *right)
{
    const struct fatbin_text *a = left, *b = right;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return a->arch > b->arch ? -1 : a->arch < b->arch;
}

static int codes_newest_first(const void *left, const void *right)
{
    const struct kernel_code *a = left, *b = right;
    return a->entry.arch > b->entry.arch ? -1 : a->entry.arch < b->entry.arch;
}

/* The text of each unit that is read; a damaged one is left out, and the next older takes its
 * place. */
static void unpack_texts(struct reader *reader, struct kernel_program *program)
{
    char message[MESSAGE];
    size_t kept = 0;
    for (size_t i = 0; i < program->text_count; i++) {
        struct fatbin_text text = program->texts[i];
        struct fatbin_entry *packed = (struct fatbin_entry *)text.text;
        program->texts[kept] = text;
        program->texts[kept].text = NULL;
        if (!units_reads(program->texts, kept)) {
            free(packed);
            kept++;
            continue;
        }
        text.text = fatbin_unpack(packed, &text.bytes, message, sizeof message);
        free(packed);
        if (text.text) {
            text.bytes = strnlen(text.text, text.bytes);
            program->texts[kept++] = text;
        } else {
            problem(reader, "%s", message);
        }
    }
    program->text_count = kept;
}

/* Hands the program on and forgets it. */
static void program_finish(struct reader *reader, struct kernel_program *program)
{
    if (program->text_count)
        qsort(program->texts, program->text_count, sizeof *program->texts, texts_newest_first);
    if (program->code_count)
        qsort(program->codes, program->code_count, sizeof *program->codes, codes_newest_first);
    unpack_texts(reader, program);
    if (program->text_count || program->code_count || program->other_count) {
        reader->callbacks->visit(reader->callbacks->user, program);
        reader->programs++;
    }
    program_release(program);
}

/* Bytes of the container's header and content; 0: none is there. */
static size_t container_bytes(const uint8_t *data, size_t limit)
{
    uint16_t header;
    uint64_t content;
    if (limit < CONTAINER_HEADER || fatbin_classify(data) != FATBIN_IMAGE_CONTAINER)
        return 0;
    memcpy(&header, data + 6, sizeof header);
    memcpy(&content, data + 8, sizeof content);
    return content > limit || header > limit - content ? limit : header + (size_t)content;
}

/* Containers one behind the other, each at a multiple of 8: programs of their own, or units of one.
 */
static void walk_containers(struct reader *reader, const uint8_t *data, size_t bytes,
                            struct kernel_program *units)
{
    for (size_t at = 0; at + CONTAINER_HEADER <= bytes;) {
        size_t size = container_bytes(data + at, bytes - at);
        if (!size) {
            at += 8;
            continue;
        }
        struct kernel_program own = {0};
        collect_container(reader, units ? units : &own, data + at, bytes - at);
        if (!units)
            program_finish(reader, &own);
        at += (size + 7) & ~(size_t)7;
    }
}

/* ---- Addresses of linked files ---- */

static int compare_relocations(const void *left, const void *right)
{
    const struct relocation *a = left, *b = right;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The word that the loader puts there; false: this kind of relocation is none for addresses of the
 * file's own data. */
static bool relocation_value(const struct elf_file *elf, const struct elf_section *symbols,
                             const Elf64_Rela *from, uint64_t *value)
{
    uint64_t type = ELF64_R_TYPE(from->r_info), index = ELF64_R_SYM(from->r_info);
    bool arm = elf->machine == EM_AARCH64;
    Elf64_Sym symbol;
    *value = (uint64_t)from->r_addend;
    if (type == (arm ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE))
        return true;
    if (type != (arm ? R_AARCH64_ABS64 : R_X86_64_64) || !symbols->data ||
        index >= symbols->bytes / sizeof symbol)
        return false;
    memcpy(&symbol, symbols->data + index * sizeof symbol, sizeof symbol);
    *value += symbol.st_value;
    return symbol.st_shndx != SHN_UNDEF;
}

static void read_relocations(struct reader *reader)
{
    struct elf_section section, symbols;
    for (uint32_t i = 1; i < reader->elf.section_count; i++) {
        if (!elf_file_section(&reader->elf, i, &section) || section.type != SHT_RELA ||
            !(section.flags & SHF_ALLOC) || !section.data)
            continue;
        if (!elf_file_section(&reader->elf, section.link, &symbols))
            symbols = (struct elf_section){0};
        for (uint64_t at = 0; section.bytes - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
            Elf64_Rela rela;
            struct relocation found;
            memcpy(&rela, section.data + at, sizeof rela);
            found.place = rela.r_offset;
            if (!relocation_value(&reader->elf, &symbols, &rela, &found.value))
                continue;
            if (!grow(reader, &reader->relocations, reader->relocation_count,
                      &reader->relocation_capacity, sizeof *reader->relocations))
                return;
            reader->relocations[reader->relocation_count++] = found;
        }
    }
    if (reader->relocation_count)
        qsort(reader->relocations, reader->relocation_count, sizeof *reader->relocations,
              compare_relocations);
}

/* Where the file has what is loaded at the address, and how much of that section is left; NULL: it
 * has not. */
static const uint8_t *data_at(const struct reader *reader, uint64_t address, size_t *left)
{
    struct elf_section section;
    for (uint32_t i = 1; i < reader->elf.section_count; i++)
        if (elf_file_section(&reader->elf, i, &section) && (section.flags & SHF_ALLOC) &&
            section.data && address - section.address < section.bytes) {
            *left = section.bytes - (address - section.address);
            return section.data + (address - section.address);
        }
    return NULL;
}

/* False: there is no word. */
static bool pointer_at(const struct reader *reader, uint64_t address, uint64_t *value)
{
    struct relocation wanted = {.place = address};
    const struct relocation *found =
        reader->relocation_count ? bsearch(&wanted, reader->relocations, reader->relocation_count,
                                           sizeof wanted, compare_relocations)
                                 : NULL;
    size_t left = 0;
    const uint8_t *data = data_at(reader, address, &left);
    if (found)
        *value = found->value;
    else if (data && left >= sizeof *value)
        memcpy(value, data, sizeof *value);
    else
        return false;
    return true;
}

/* ---- ELF files ---- */

static void collect_at(struct reader *reader, struct kernel_program *program, uint64_t address)
{
    size_t left = 0;
    const uint8_t *data = data_at(reader, address, &left);
    if (data)
        collect_container(reader, program, data, left);
    else
        problem(reader, "fat binary: nothing of the file is at the address %#" PRIx64, address);
}

/* Machine code that -rdc=true linked; its PTX, if any, is not what is read. */
static void collect_linked(struct reader *reader, struct kernel_program *program, uint64_t address)
{
    size_t texts = program->text_count;
    collect_at(reader, program, address);
    while (program->text_count > texts)
        free(program->texts[--program->text_count].text);
}

static bool is_relocatable(const struct reader *reader, uint64_t address)
{
    struct elf_section section;
    return elf_file_find(&reader->elf, "__nv_relfatbin", 0, &section) &&
           address - section.address < section.bytes;
}

static void read_wrapper(struct reader *reader, uint64_t address, uint32_t version)
{
    struct kernel_program own = {0};
    uint64_t data = 0;
    if (!pointer_at(reader, address + offsetof(struct fatbin_wrapper, data), &data) || !data)
        return;
    if (version == 2)
        collect_linked(reader, &reader->relocatable, data);
    else if (is_relocatable(reader, data))
        collect_at(reader, &reader->relocatable, data);
    else
        collect_at(reader, &own, data);
    program_finish(reader, &own);
}

static int read_wrappers(struct reader *reader)
{
    struct elf_section section;
    int wrappers = 0;
    if (!elf_file_find(&reader->elf, FATBIN_SEGMENT, 0, &section) || !section.data)
        return 0;
    read_relocations(reader);
    for (uint64_t at = 0; section.bytes - at >= sizeof(struct fatbin_wrapper);
         at += sizeof(struct fatbin_wrapper)) {
        uint32_t head[2];
        memcpy(head, section.data + at, sizeof head);
        if (head[0] != FATBIN_WRAPPER_MAGIC)
            continue;
        read_wrapper(reader, section.address + at, head[1]);
        wrappers++;
    }
    free(reader->relocations);
    reader->relocations = NULL;
    reader->relocation_count = reader->relocation_capacity = 0;
    return wrappers;
}

/* All sections of the name. */
static void walk_sections(struct reader *reader, const char *name, struct kernel_program *units)
{
    struct elf_section section = {0};
    while (elf_file_find(&reader->elf, name, section.index, &section))
        if (section.data)
            walk_containers(reader, section.data, section.bytes, units);
        else
            problem(reader, "section %s is cut off", name);
}

/* With the PTX that it keeps, if any. */
static void read_cubin(struct reader *reader)
{
    char message[MESSAGE];
    struct kernel_code code = {.entry = {.kind = FATBIN_ELF,
                                         .compression = FATBIN_PLAIN,
                                         .arch = cubin_architecture(reader->data, reader->bytes),
                                         .payload = reader->data,
                                         .payload_bytes = reader->bytes,
                                         .unpacked_bytes = reader->bytes}};
    struct kernel_program program = {.codes = &code, .code_count = 1};
    if (fatbin_texts(reader->data, reader->bytes, &program.texts, &program.text_count, message,
                     sizeof message) < 0)
        problem(reader, "%s", message);
    reader->callbacks->visit(reader->callbacks->user, &program);
    reader->programs++;
    fatbin_texts_release(program.texts, program.text_count);
}

/* False: it is no ELF file that can be read. */
static bool read_elf(struct reader *reader, char *message, size_t message_bytes)
{
    if (!elf_file_open(&reader->elf, reader->data, reader->bytes, message, message_bytes))
        return false;
    if (reader->elf.machine == ELF_MACHINE_CUDA) {
        read_cubin(reader);
        return true;
    }
    if (reader->elf.type == ET_REL || read_wrappers(reader) == 0) {
        walk_sections(reader, ".nv_fatbin", NULL);
        walk_sections(reader, "__nv_relfatbin", &reader->relocatable);
    }
    return true;
}

/* ---- Archives ---- */

/* Header of a member, all text (System V ABI, "Archive File"). */
struct member {
    char name[16], date[12], user[6], group[6], mode[8], bytes[10], end[2];
};

static void member_name(const struct member *member, const char *names, size_t names_bytes,
                        char *name, size_t name_bytes)
{
    const char *from = member->name;
    size_t bytes = sizeof member->name, offset = 0;
    if (from[0] == '/' && from[1] >= '0' && from[1] <= '9') { /* in the table of long names */
        offset = strtoul(from + 1, NULL, 10);
        if (offset < names_bytes) {
            from = names + offset;
            bytes = names_bytes - offset;
        }
    }
    size_t length = 0;
    while (length < bytes && from[length] != '/' && from[length] != '\n' && from[length])
        length++;
    snprintf(name, name_bytes, "%.*s", (int)(length < name_bytes ? length : name_bytes - 1), from);
}

static bool read_archive(struct reader *reader, char *message, size_t message_bytes)
{
    const uint8_t *data = reader->data;
    size_t bytes = reader->bytes, at = 8, names_bytes = 0;
    const char *names = "";
    while (at < bytes) {
        struct member member;
        char digits[11] = "", name[256];
        if (bytes - at < sizeof member) {
            problem(reader, "archive: cut off in a member's header at offset %zu", at);
            break;
        }
        memcpy(&member, data + at, sizeof member);
        memcpy(digits, member.bytes, sizeof member.bytes);
        size_t size = strtoul(digits, NULL, 10);
        at += sizeof member;
        if (memcmp(member.end, "`\n", 2) != 0 || size > bytes - at) {
            problem(reader,
                    "archive: the member's header at offset %zu is damaged, or it is cut off",
                    at - sizeof member);
            break;
        }
        if (memcmp(member.name, "// ", 3) == 0) {
            names = (const char *)data + at;
            names_bytes = size;
        } else if (size > SELFMAG && memcmp(data + at, ELFMAG, SELFMAG) == 0) {
            member_name(&member, names, names_bytes, name, sizeof name);
            reader->member = name;
            reader->data = data + at;
            reader->bytes = size;
            if (!read_elf(reader, message, message_bytes))
                problem(reader, "%s", message);
            reader->member = "";
        }
        at += size + (size & 1);
    }
    return true;
}

/* ---- Files ---- */

static void read_text(struct reader *reader)
{
    struct kernel_program program = {.unit_count = 1};
    char message[MESSAGE];
    if (fatbin_texts(reader->data, reader->bytes, &program.texts, &program.text_count, message,
                     sizeof message) < 0)
        problem(reader, "%s", message);
    if (program.text_count) {
        reader->callbacks->visit(reader->callbacks->user, &program);
        reader->programs++;
    }
    program_release(&program);
}

/* PTX text may be shorter than any magic number. */
static enum fatbin_image classify(const uint8_t *data, size_t bytes)
{
    char start[256] = "";
    memcpy(start, data, bytes < sizeof start ? bytes : sizeof start - 1);
    return fatbin_classify(start);
}

/* What a person probably means who names source code: by the end of the file's name. */
static const char *source_advice(const char *path)
{
    static const char compile[] =
        "it is source code; compile it (nvcc -c app.cu -o app.o, or nvcc -ptx app.cu) and give "
        "what comes out";
    static const char run[] =
        "it is a script, whose kernels are made when it runs; csan run python SCRIPT learns of "
        "them, and csan kernels --learned lists them";
    static const struct {
        const char *end, *advice;
    } ends[] = {{".cu", compile},  {".cuh", compile}, {".c", compile}, {".cc", compile},
                {".cpp", compile}, {".cxx", compile}, {".h", compile}, {".hpp", compile},
                {".hip", compile}, {".py", run}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i].end) == 0)
            return ends[i].advice;
    return NULL;
}

static bool read_data(struct reader *reader, char *message, size_t message_bytes)
{
    const uint8_t *data = reader->data;
    size_t bytes = reader->bytes;
    if (bytes >= 8 && memcmp(data, "!<arch>\n", 8) == 0)
        return read_archive(reader, message, message_bytes);
    if (bytes >= 8 && memcmp(data, "!<thin>\n", 8) == 0) {
        snprintf(message, message_bytes,
                 "it is a thin archive, which only names its members; give one of them");
        return false;
    }
    const int kind = classify(data, bytes);
    const char *advice = source_advice(reader->path);
    if (advice && kind != FATBIN_IMAGE_ELF && kind != FATBIN_IMAGE_CONTAINER) {
        snprintf(message, message_bytes, "%s", advice);
        return false;
    }
    switch (kind) {
    case FATBIN_IMAGE_ELF:
        return read_elf(reader, message, message_bytes);
    case FATBIN_IMAGE_CONTAINER:
        walk_containers(reader, data, bytes, NULL);
        return true;
    case FATBIN_IMAGE_PTX:
        read_text(reader);
        return true;
    default:
        snprintf(message, message_bytes,
                 "it is none of: executable, shared library, object, archive, fat binary, cubin, "
                 "PTX text");
        return false;
    }
}

/* Maps the file; NULL with `message`. */
static const uint8_t *map_file(const char *path, size_t *bytes, char *message, size_t message_bytes)
{
    struct stat status;
    void *map = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0)
        snprintf(message, message_bytes, "cannot open it: %s", strerror(errno));
    else if (S_ISDIR(status.st_mode))
        snprintf(message, message_bytes, "it is a directory; give a file in it");
    else if (!S_ISREG(status.st_mode))
        snprintf(message, message_bytes, "it is no regular file");
    else if (status.st_size == 0)
        snprintf(message, message_bytes, "it is empty");
    else {
        *bytes = (size_t)status.st_size;
        map = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (map == MAP_FAILED)
            snprintf(message, message_bytes, "cannot read it: %s", strerror(errno));
    }
    if (file >= 0)
        close(file);
    return map == MAP_FAILED ? NULL : map;
}

int kernel_file_read(const char *path, const struct kernel_file_callbacks *callbacks, char *message,
                     size_t message_bytes)
{
    struct reader reader = {.callbacks = callbacks, .path = path, .member = ""};
    const uint8_t *data = map_file(path, &reader.bytes, message, message_bytes);
    size_t bytes = reader.bytes;
    if (!data)
        return -1;
    reader.data = data;
    bool known = read_data(&reader, message, message_bytes);
    if (reader.relocatable.unit_count)
        program_finish(&reader, &reader.relocatable);
    munmap((void *)(uintptr_t)data, bytes);
    if (reader.out_of_memory) {
        snprintf(message, message_bytes, "memory is short");
        known = false;
    }
    return known ? reader.programs : -1;
}
