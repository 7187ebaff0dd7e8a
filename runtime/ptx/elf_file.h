/* ELF files as they lie in memory or in a mapping: the sections of an object, a program, a shared
 * library or a cubin (which is an ELF file too). 64-bit, little-endian. Nothing is copied, no byte
 * outside the given ones is read, and no alignment is assumed: a file may come from anywhere. */
#ifndef RUNTIME_PTX_ELF_FILE_H
#define RUNTIME_PTX_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_MACHINE_CUDA = 190 }; /* e_machine of cubins */

struct elf_file {
    const uint8_t *data;
    size_t bytes;
    uint16_t type, machine; /* e_type, e_machine */
    uint8_t abi_version;    /* e_ident[EI_ABIVERSION] */
    uint32_t flags;         /* e_flags */
    uint32_t section_count;
    uint64_t sections;                  /* where their headers lie */
    uint64_t names_offset, names_bytes; /* the sections' names */
};

struct elf_section {
    const char *name; /* "" when it has none that can be read */
    uint32_t index, type, link, info;
    uint64_t flags, address, bytes, entry_bytes;
    const uint8_t *data; /* `bytes` bytes; NULL when the file does not have them all */
};

/* False with `message` (of `message_bytes`) saying why: no such ELF file, or its section headers
 * are damaged. A file without section headers has none. */
bool elf_file_open(struct elf_file *file, const void *data, size_t bytes, char *message,
                   size_t message_bytes);
/* How many bytes the file at `data` has by what its headers refer to, each below 4 GiB; those
 * headers are read wherever they say that they lie. 0: they make no sense. */
size_t elf_file_bytes(const void *data);
/* False: there is no section of that number, or its header is damaged. */
bool elf_file_section(const struct elf_file *file, uint32_t index, struct elf_section *section);
/* The first section of that name after number `after` (0: from the start). */
bool elf_file_find(const struct elf_file *file, const char *name, uint32_t after,
                   struct elf_section *section);

#endif
