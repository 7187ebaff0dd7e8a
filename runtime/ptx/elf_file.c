/* ELF files: sections. See elf_file.h. Layout and rules: System V ABI, "Object Files" (gABI 4.1),
 * of which extended section numbering is needed too: a cubin may have a hundred thousand kernels
 * with several sections each. */
#include "runtime/ptx/elf_file.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool fail(char *message, size_t message_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(char *message, size_t message_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (message && message_bytes)
        vsnprintf(message, message_bytes, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether [offset, offset + bytes) lies in the file. */
static bool is_inside(const struct elf_file *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->bytes && bytes <= file->bytes - offset;
}

static bool header_read(const struct elf_file *file, uint64_t index, Elf64_Shdr *header)
{
    if (index >= file->section_count)
        return false;
    memcpy(header, file->data + file->sections + index * sizeof *header, sizeof *header);
    return true;
}

/* Numbers too large for the file's header stand in section 0. */
static bool sections_find(struct elf_file *file, const Elf64_Ehdr *elf, char *message,
                          size_t message_bytes)
{
    Elf64_Shdr zero, names;
    uint64_t count = elf->e_shnum;
    if (elf->e_shoff == 0)
        return true;
    if (elf->e_shentsize != sizeof zero || !is_inside(file, elf->e_shoff, sizeof zero))
        return fail(message, message_bytes,
                    "ELF file: section headers at offset %" PRIu64 " are outside of its %zu bytes",
                    (uint64_t)elf->e_shoff, file->bytes);
    memcpy(&zero, file->data + elf->e_shoff, sizeof zero);
    if (count == 0)
        count = zero.sh_size;
    if (count > (file->bytes - elf->e_shoff) / sizeof zero || count > UINT32_MAX)
        return fail(message, message_bytes,
                    "ELF file: cut off in its %" PRIu64 " section headers at offset %" PRIu64,
                    count, (uint64_t)elf->e_shoff);
    file->sections = elf->e_shoff;
    file->section_count = (uint32_t)count;
    if (header_read(file, elf->e_shstrndx == SHN_XINDEX ? zero.sh_link : elf->e_shstrndx, &names) &&
        is_inside(file, names.sh_offset, names.sh_size)) {
        file->names_offset = names.sh_offset;
        file->names_bytes = names.sh_size;
    }
    return true;
}

bool elf_file_open(struct elf_file *file, const void *data, size_t bytes, char *message,
                   size_t message_bytes)
{
    Elf64_Ehdr elf;
    *file = (struct elf_file){.data = data, .bytes = bytes};
    if (bytes < sizeof elf || memcmp(data, ELFMAG, SELFMAG) != 0)
        return fail(message, message_bytes, "no ELF file: its header is missing or cut off");
    memcpy(&elf, data, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB)
        return fail(message, message_bytes, "ELF file: not a 64-bit, little-endian one");
    file->type = elf.e_type;
    file->machine = elf.e_machine;
    file->flags = elf.e_flags;
    file->abi_version = elf.e_ident[EI_ABIVERSION];
    return sections_find(file, &elf, message, message_bytes);
}

size_t elf_file_bytes(const void *data)
{
    const uint64_t most = UINT64_C(1) << 32;
    Elf64_Ehdr elf;
    Elf64_Shdr header;
    memcpy(&elf, data, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_shentsize != sizeof header ||
        elf.e_shoff > most || elf.e_phoff > most)
        return 0;
    uint64_t count = elf.e_shnum;
    if (!count && elf.e_shoff) { /* it is too large for the header */
        memcpy(&header, (const char *)data + elf.e_shoff, sizeof header);
        count = header.sh_size < most / sizeof header ? header.sh_size : 0;
    }
    uint64_t end = elf.e_shoff + count * sizeof header;
    const uint64_t segments_end = elf.e_phoff + (uint64_t)elf.e_phnum * elf.e_phentsize;
    if (end < segments_end)
        end = segments_end;
    if (end < sizeof elf)
        end = sizeof elf;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&header, (const char *)data + elf.e_shoff + i * sizeof header, sizeof header);
        if (header.sh_type != SHT_NOBITS && header.sh_offset < most && header.sh_size < most &&
            header.sh_offset + header.sh_size > end)
            end = header.sh_offset + header.sh_size;
    }
    return end;
}

bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_section *section)
{
    Elf64_Shdr header;
    if (!header_read(file, index, &header))
        return false;
    const char *name = "";
    if (header.sh_name < file->names_bytes) {
        const char *text = (const char *)file->data + file->names_offset + header.sh_name;
        if (memchr(text, '\0', file->names_bytes - header.sh_name))
            name = text;
    }
    bool here = header.sh_type != SHT_NOBITS && is_inside(file, header.sh_offset, header.sh_size);
    *section = (struct elf_section){.name = name,
                                    .index = index,
                                    .type = header.sh_type,
                                    .link = header.sh_link,
                                    .info = header.sh_info,
                                    .flags = header.sh_flags,
                                    .address = header.sh_addr,
                                    .bytes = header.sh_size,
                                    .entry_bytes = header.sh_entsize,
                                    .data = here ? file->data + header.sh_offset : NULL};
    return true;
}

bool elf_file_find(const struct elf_file *file, const char *name, uint32_t after,
                   struct elf_section *section)
{
    for (uint32_t i = after + 1; i < file->section_count; i++)
        if (elf_file_section(file, i, section) && strcmp(section->name, name) == 0)
            return true;
    return false;
}
