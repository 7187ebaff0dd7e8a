/* Reading cubins. See machine_code.h. */
#include "runtime/tracer/machine_code.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, OPCODE_MASK = 0x1ff };

/* Names of kernels. */
struct machine_code {
    bool all; /* whatever the name */
    size_t count;
    char **kernels;
};

/* Where memory is short. */
static struct machine_code unreadable = {.all = true};

/* An instruction's low nine bits on all architectures since Volta, the next three being the form of
 * its operands: read off what nvdisasm prints of code for sm_75 to sm_120 (CUDA Binary Utilities,
 * Instruction Set Reference). */
static bool is_unseen(uint32_t opcode)
{
    switch (opcode & OPCODE_MASK) {
    case 0x160: /* TEX */
    case 0x163: /* TLD4 */
    case 0x166: /* TLD */
    case 0x16c: /* TXD */
    case 0x199: /* SULD */
    case 0x19d: /* SUST */
    case 0x19f: /* SURED */
    case 0x1a5: /* LDGMC */
    case 0x1b4: /* UTMALDG */
    case 0x1b5: /* UTMASTG */
    case 0x1b6: /* UTMAREDG */
        return true;
    default:
        return false;
    }
}

static bool code_is_blind(const uint8_t *code, uint64_t bytes)
{
    uint32_t word;
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= bytes; at += INSTRUCTION_BYTES) {
        memcpy(&word, code + at, sizeof word);
        if (is_unseen(word))
            return true;
    }
    return false;
}

/* ---- The file ---- */

struct cubin {
    const uint8_t *data;
    uint64_t bytes;
    Elf64_Ehdr header;
    Elf64_Shdr names;
};

static bool lies_within(const struct cubin *cubin, uint64_t offset, uint64_t bytes)
{
    return offset <= cubin->bytes && bytes <= cubin->bytes - offset;
}

static bool section_read(const struct cubin *cubin, uint32_t index, Elf64_Shdr *section)
{
    uint64_t at = cubin->header.e_shoff + (uint64_t)index * sizeof *section;
    if (!lies_within(cubin, at, sizeof *section))
        return false;
    memcpy(section, cubin->data + at, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           lies_within(cubin, section->sh_offset, section->sh_size);
}

static bool cubin_open(struct cubin *cubin, const void *data, size_t bytes)
{
    *cubin = (struct cubin){.data = data, .bytes = bytes};
    if (!data || bytes < sizeof cubin->header)
        return false;
    memcpy(&cubin->header, data, sizeof cubin->header);
    return memcmp(cubin->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           cubin->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           cubin->header.e_shentsize == sizeof(Elf64_Shdr) && cubin->header.e_shoff < bytes &&
           section_read(cubin, cubin->header.e_shstrndx, &cubin->names) &&
           cubin->names.sh_type == SHT_STRTAB;
}

/* NULL: it does not end within the table. */
static const char *section_name(const struct cubin *cubin, const Elf64_Shdr *section)
{
    if (section->sh_name >= cubin->names.sh_size)
        return NULL;
    const char *name = (const char *)cubin->data + cubin->names.sh_offset + section->sh_name;
    return memchr(name, '\0', cubin->names.sh_size - section->sh_name) ? name : NULL;
}

/* Kernels have parameters in a constant bank of theirs, functions that they call have none (CUDA
 * Binary Utilities, cubin sections). */
static bool is_kernel(const struct cubin *cubin, const char *function)
{
    static const char prefix[] = ".nv.constant0.";
    Elf64_Shdr section;
    for (uint32_t i = 0; i < cubin->header.e_shnum; i++) {
        const char *name = section_read(cubin, i, &section) ? section_name(cubin, &section) : NULL;
        if (name && strncmp(name, prefix, sizeof prefix - 1) == 0 &&
            strcmp(name + sizeof prefix - 1, function) == 0)
            return true;
    }
    return false;
}

static void kernel_add(struct machine_code *code, const char *name)
{
    char **kernels = realloc(code->kernels, (code->count + 1) * sizeof *kernels);
    if (kernels)
        code->kernels = kernels;
    char *copy = kernels ? strdup(name) : NULL;
    if (copy)
        code->kernels[code->count++] = copy;
    else
        code->all = true;
}

/* Which function calls which is not looked at. */
static void read_section(const struct cubin *cubin, uint32_t index, struct machine_code *code)
{
    static const char prefix[] = ".text.";
    Elf64_Shdr section;
    if (!section_read(cubin, index, &section)) {
        code->all = true;
        return;
    }
    const char *name = section_name(cubin, &section);
    if (section.sh_type != SHT_PROGBITS || !name || strncmp(name, prefix, sizeof prefix - 1) != 0 ||
        !code_is_blind(cubin->data + section.sh_offset, section.sh_size))
        return;
    if (is_kernel(cubin, name + sizeof prefix - 1))
        kernel_add(code, name + sizeof prefix - 1);
    else
        code->all = true;
}

struct machine_code *machine_code_read(const void *data, size_t bytes)
{
    struct cubin cubin;
    struct machine_code *code = calloc(1, sizeof *code);
    if (!code)
        return &unreadable;
    if (!cubin_open(&cubin, data, bytes) || cubin.header.e_shnum == 0)
        code->all = true;
    for (uint32_t i = 0; !code->all && i < cubin.header.e_shnum; i++)
        read_section(&cubin, i, code);
    if (code->all || code->count)
        return code;
    free(code);
    return NULL;
}

void machine_code_free(struct machine_code *code)
{
    if (!code || code == &unreadable)
        return;
    for (size_t i = 0; i < code->count; i++)
        free(code->kernels[i]);
    free(code->kernels);
    free(code);
}

bool machine_code_is_blind(const struct machine_code *code, const char *kernel)
{
    if (!code)
        return false;
    if (code->all || !kernel)
        return true;
    for (size_t i = 0; i < code->count; i++)
        if (strcmp(code->kernels[i], kernel) == 0)
            return true;
    return false;
}
