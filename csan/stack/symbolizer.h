/* Addresses and mangled names to what a person reads: function, file and line.
 *
 * The work is done by a helper process, `csan symbolize`, so that libdw and a C++ demangler never
 * enter the program that csan checks. It is started at the first question, by posix_spawn, and
 * talks over a socket pair. The report calls this, and commands that read recordings do. When the
 * helper is missing, dies or takes longer than ten seconds for an answer, frames have module and
 * offset only, and `trouble` says why. Thread-safe.
 *
 * The protocol is lines. The helper greets with "csan-symbolize 1", after it has detached itself
 * from the program (the program never sees a child for longer than that). Then, one at a time:
 *
 *   frame OFFSET PATH    OFFSET: hexadecimal, an address as the object file PATH numbers them.
 *                        Answer: for each function there, inlined ones innermost first,
 *                        FUNCTION '\t' FILE '\t' LINE, where an empty field is unknown; then an
 *                        empty line.
 *   demangle NAME        Answer: the name as written in the source, or NAME itself.
 *   device ADDRESS PATH  of a GPU's machine code, as the sections of the file PATH have addresses.
 *                        Answer: one line as above without FUNCTION, or none; then an empty line.
 *
 * At end of file the helper ends. */
#ifndef CSAN_STACK_SYMBOLIZER_H
#define CSAN_STACK_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options;
struct module_map;

struct symbol_frame {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    const char *module;   /* path of the object the address is in; NULL: no loaded object */
    uint64_t offset;      /* the address, as that object's file numbers them */
    int own;              /* 1: a frame of csan's own libraries */
};

/* One address can be several frames: where functions were inlined, innermost first, all with the
 * same index. Strings are valid during the call. */
typedef void symbolizer_visit(void *user, size_t index, const struct symbol_frame *frame);

/* The face is a table of functions, so that a test can put its own symbols in a report. */
struct symbolizer {
    /* Visits each of the return addresses, in order. An address may be visited several times. */
    void (*frames)(struct symbolizer *symbolizer, const void *const *frames, size_t count,
                   symbolizer_visit *visit, void *user);
    /* The name as written in the source, or a copy of it when it cannot be had. Cut to `bytes`. */
    void (*demangle)(struct symbolizer *symbolizer, const char *name, char *text, size_t bytes);
    /* Returns once, after something went wrong, what that was and what to do. Else NULL. */
    const char *(*trouble)(struct symbolizer *symbolizer);
    void (*destroy)(struct symbolizer *symbolizer);
    /* The number that code_place.h makes of the stack. Asks no helper. NULL: every place is 0. */
    uint64_t (*place)(struct symbolizer *symbolizer, const void *const *frames, size_t count);
    /* From now on no thread waits for the helper: answers that have not come are done without.
     * NULL: it never waits long. Thread-safe, without any lock. */
    void (*hurry)(struct symbolizer *symbolizer);
    /* The source of a GPU's instruction, as the answer to "device" above has it; `file` is cut to
     * `bytes`. False: nothing is known. NULL: it never is. */
    bool (*device_line)(struct symbolizer *symbolizer, const char *path, uint64_t address,
                        char *file, size_t bytes, uint32_t *line);
};

/* Starts nothing yet. With symbolize=0 it never will. NULL when memory is short. */
struct symbolizer *symbolizer_create(const struct options *options);

/* The same for addresses of another process, of which the map (the caller's; it may grow) says what
 * it had loaded. A file that is not the build that was loaded then is not asked. */
struct symbolizer *symbolizer_create_for(const struct options *options, struct module_map *modules);

#endif
