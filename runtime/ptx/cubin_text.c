/* PTX kept in cubins. See cubin_text.h. The layout is undocumented; this is what ptxas 12 and 13
 * write: one section .nv_debug_ptx_txt, in linked cubins .nv_debug_ptx_txt.NUMBER for each unit,
 * that holds the lines, each ended by a NUL. */
#include "runtime/ptx/cubin_text.h"
#include "runtime/ptx/elf_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SECTION ".nv_debug_ptx_txt"

/* 64-bit, little-endian, version 1. Byte by byte: what is no cubin may be shorter than its header.
 */
static bool has_header(const char *image, size_t limit)
{
    static const char ident[] = "\177ELF\2\1\1";
    for (size_t i = 0; i < sizeof ident - 1; i++)
        if ((limit && i >= limit) || image[i] != ident[i])
            return false;
    return true;
}

/* What a cubin of unknown length may have at most. */
static const size_t cubin_limit = (size_t)1 << 30;

static bool is_text(const struct elf_section *section)
{
    size_t length = sizeof SECTION - 1;
    return section->data && section->bytes && strncmp(section->name, SECTION, length) == 0 &&
           (section->name[length] == '\0' || section->name[length] == '.');
}

static char *lines_of(const struct elf_section *section)
{
    char *text = malloc(section->bytes + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < section->bytes; i++)
        text[i] = section->data[i] ? (char)section->data[i] : '\n';
    text[section->bytes] = '\0';
    return text;
}

bool cubin_texts(const void *cubin, size_t limit,
                 bool (*visit)(void *user, char *text, size_t bytes), void *user)
{
    struct elf_file file;
    struct elf_section section;
    if (!has_header(cubin, limit) ||
        !elf_file_open(&file, cubin, limit ? limit : cubin_limit, NULL, 0) ||
        file.machine != ELF_MACHINE_CUDA)
        return true;
    for (uint32_t i = 1; i < file.section_count; i++) {
        if (!elf_file_section(&file, i, &section) || !is_text(&section))
            continue;
        char *text = lines_of(&section);
        if (!text)
            return false;
        if (!visit(user, text, section.bytes))
            break;
    }
    return true;
}
