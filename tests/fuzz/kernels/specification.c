/* Reads and writes .spec files. See specification.h. */
#include "specification.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_field(const char *line, struct field *field)
{
    struct field f = {0};
    uint32_t *p = &f.parameter, *o = &f.offset;
    if (sscanf(line, "pointer %u %u %u", p, o, &f.alignment) == 3)
        f.kind = FIELD_POINTER;
    else if (sscanf(line, "table %u %u %u", p, o, &f.count) == 3)
        f.kind = FIELD_TABLE;
    else if (sscanf(line, "scalar %u %u %u %" SCNd64 " %" SCNd64, p, o, &f.bytes, &f.low,
                    &f.high) == 5)
        f.kind = FIELD_SCALAR;
    else if (sscanf(line, "float %u %u %u", p, o, &f.bytes) == 3)
        f.kind = FIELD_FLOAT;
    else
        return false;
    *field = f;
    return true;
}

static bool read_kernel(const char *line, struct kernel_specification *kernel)
{
    struct kernel_specification k = {0};
    if (sscanf(line, "kernel %63s %u %u %u %u %u %u %u", k.name, &k.block[0], &k.block[1],
               &k.block[2], &k.grid[0], &k.grid[1], &k.grid[2], &k.dynamic_shared) != 8)
        return false;
    *kernel = k;
    return true;
}

static bool add_line(struct specification *specification, const char *line)
{
    struct kernel_specification added;
    struct kernel_specification *last =
        specification->count ? &specification->kernels[specification->count - 1] : NULL;
    if (read_kernel(line, &added)) {
        size_t bytes = (specification->count + 1) * sizeof added;
        specification->kernels = realloc(specification->kernels, bytes);
        if (!specification->kernels)
            abort();
        specification->kernels[specification->count++] = added;
        return true;
    }
    return last && last->field_count < SPECIFICATION_FIELDS &&
           read_field(line, &last->fields[last->field_count]) && ++last->field_count;
}

struct specification specification_read(const char *path)
{
    struct specification specification = {0};
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: cannot be read; generate.py writes it with the kernels\n", path);
        exit(2);
    }
    while (fgets(line, sizeof line, file)) {
        if (!add_line(&specification, line)) {
            fprintf(stderr, "%s: this line is none of generate.py's: %s", path, line);
            exit(2);
        }
    }
    fclose(file);
    return specification;
}

void specification_release(struct specification *specification)
{
    free(specification->kernels);
    specification->kernels = NULL;
    specification->count = 0;
}

static void write_field(const struct field *f, FILE *file)
{
    switch (f->kind) {
    case FIELD_POINTER:
        fprintf(file, "pointer %u %u %u\n", f->parameter, f->offset, f->alignment);
        return;
    case FIELD_TABLE:
        fprintf(file, "table %u %u %u\n", f->parameter, f->offset, f->count);
        return;
    case FIELD_SCALAR:
        fprintf(file, "scalar %u %u %u %" PRId64 " %" PRId64 "\n", f->parameter, f->offset,
                f->bytes, f->low, f->high);
        return;
    case FIELD_FLOAT:
        fprintf(file, "float %u %u %u\n", f->parameter, f->offset, f->bytes);
        return;
    }
}

void specification_write(const struct kernel_specification *kernel, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "%s: cannot be written\n", path);
        return;
    }
    fprintf(file, "kernel %s %u %u %u %u %u %u %u\n", kernel->name, kernel->block[0],
            kernel->block[1], kernel->block[2], kernel->grid[0], kernel->grid[1], kernel->grid[2],
            kernel->dynamic_shared);
    for (uint32_t i = 0; i < kernel->field_count; i++)
        write_field(&kernel->fields[i], file);
    fclose(file);
}
