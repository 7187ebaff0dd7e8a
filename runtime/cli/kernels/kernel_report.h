/* All that csan knows of one kernel before it runs, collected for printing. */
#ifndef RUNTIME_CLI_KERNELS_KERNEL_REPORT_H
#define RUNTIME_CLI_KERNELS_KERNEL_REPORT_H

#include "runtime/access/access_set.h"
#include "runtime/access/describe/describe.h"
#include "runtime/access/direction.h"
#include "runtime/ptx/cubin.h"
#include "runtime/cli/kernels/kernel_file.h"
#include "runtime/cli/kernels/kernel_launch.h"

#include <stdio.h>

enum parameter_class {
    PARAMETER_SCALAR,
    PARAMETER_POINTER,
    PARAMETER_STRUCT,
    PARAMETER_OBJECT /* a texture, a surface or a tensor map */
};

struct parameter {
    uint32_t offset, bytes;
    uint8_t class;               /* enum parameter_class */
    const char *type;            /* as the PTX has it: "u64"; "" */
    char *declared;              /* as the mangled name has it: "float*"; NULL */
    bool reads, writes, atomics; /* of the memory behind it, or behind a pointer in it */
};

/* One kernel in one program of a file. */
struct kernel_report {
    const char *mangled;
    char *name; /* demangled, or as it is */
    const struct kernel_program *program;
    uint32_t arch;                       /* of what was read */
    const struct ptx_function *function; /* NULL: there is machine code only */
    bool has_parameters;
    struct parameter *parameters;
    uint32_t parameter_count;
    /* With PTX; NULL when memory was short: */
    const struct access_directions *directions;
    struct description *description;
    /* With --launch, else NULL: */
    const struct kernel_launch *launch;
    const struct access_set *set;
    struct access_kernel *access;
};

/* The name alone, "fill<float>" of "void fill<float>(float*, int)"; malloc'd. */
char *report_bare_name(const char *name);

/* The report of a kernel in PTX, or of one in machine code. The names in it are the kernel's. With
 * `launch` the set is of that launch, which must be bound to the kernel. */
bool report_of_function(struct kernel_report *report, const struct ptx_function *function,
                        const struct kernel_launch *launch);
bool report_of_cubin(struct kernel_report *report, const struct cubin_kernel *kernel);
void report_release(struct kernel_report *report);

/* "arg1", "arg1+8", "counter": what a set or the directions are relative to. Into `text`. */
enum { REPORT_BASE = 256 };
void report_pointer(const struct kernel_report *report, const struct access_pointer *pointer,
                    char text[REPORT_BASE]);
void report_base(const struct kernel_report *report, const struct access_base *base,
                 char text[REPORT_BASE]);
const char *report_kind(uint8_t kind);   /* of enum access_kind */
const char *report_bound(uint8_t bound); /* of enum access_bound, in words; "" for exact */
const char *report_known(uint8_t known); /* of enum describe_known */

/* Renderers: for a person (kernel_text.c), and for a script (kernel_json.c, which has the format).
 */
void kernel_text(FILE *out, const struct kernel_report *report, bool verbose);

void kernel_json_start(FILE *out, const char *path);
void kernel_json(FILE *out, const struct kernel_report *report, bool first);
void kernel_json_end(FILE *out, char *const *problems, size_t count);

#endif
