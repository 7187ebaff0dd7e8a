/* What a launch of each generated kernel may be given: the .spec file that generate.py writes. */
#ifndef TESTS_FUZZ_KERNELS_SPECIFICATION_H
#define TESTS_FUZZ_KERNELS_SPECIFICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind { FIELD_POINTER, FIELD_TABLE, FIELD_SCALAR, FIELD_FLOAT };

struct field {
    enum field_kind kind;
    uint32_t parameter, offset; /* bytes, inside the parameter */
    uint32_t bytes;             /* SCALAR, FLOAT */
    uint32_t alignment;         /* POINTER */
    uint32_t count;             /* TABLE: pointers */
    int64_t low, high;          /* SCALAR */
};

enum { SPECIFICATION_FIELDS = 64 };

struct kernel_specification {
    char name[64];
    uint32_t block[3], grid[3]; /* the largest */
    uint32_t dynamic_shared;    /* bytes */
    uint32_t field_count;
    struct field fields[SPECIFICATION_FIELDS];
};

struct specification {
    struct kernel_specification *kernels;
    size_t count;
};

/* Ends the process with a message when the file is missing or wrong. */
struct specification specification_read(const char *path);
void specification_release(struct specification *specification);

/* One kernel's lines, as in the file. */
void specification_write(const struct kernel_specification *kernel, const char *path);

#endif
