/* What a device-side assertion that failed says: its expression, file, line and function, as the
 * program's source has them.
 *
 * They are the arguments of a call of __assertfail(expression, file, line, function, size of a
 * character) (CUDA C++ Programming Guide, "Assertion"). When a core dump is written, the registers
 * that had them are used for something else. So they are read off the code before the call: strings
 * are addressed by words of constant bank 4, which the module's relocations give to symbols.
 *
 * The image of a dump is relocated: a symbol's value is its address on the device, and where in its
 * section its bytes lie is not said. So csan recognizes a string by its length, if the section has
 * only one of that length, or only one that names a source file.
 *
 * PyTorch 2.15 has 47,013 such calls for sm_90. This finds file and line of all, and the expression
 * of 80%. Those of index operators are among them. For sm_75 to sm_121 (step.h). Thread-safe. */
#ifndef RUNTIME_SASS_ASSERTION_H
#define RUNTIME_SASS_ASSERTION_H

#include "runtime/ptx/elf_file.h"

/* What is not known is NULL, and 0. All point into the image. */
struct assertion {
    const char *expression, *file, *function;
    uint32_t line;
};

/* Of the call that returns to `pc`, in a section of code of the image. False: no such call is
 * there, or nothing is known of it. */
bool assertion_find(struct assertion *assertion, const struct elf_file *image,
                    const struct elf_section *code, uint64_t pc, uint32_t architecture);

#endif
