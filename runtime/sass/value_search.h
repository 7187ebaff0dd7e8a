/* What a register of a kernel's code holds where an instruction is reached: a number, or a word of
 * constant bank 4, where the compiler keeps addresses of functions and strings. It is looked for
 * backwards, along all ways that control may have come: it is known where all of them agree. For
 * sm_75 to sm_121 (step.h). Not thread-safe: each search is one thread's. */
#ifndef RUNTIME_SASS_VALUE_SEARCH_H
#define RUNTIME_SASS_VALUE_SEARCH_H

#include "runtime/sass/step.h"

#include <stdbool.h>
#include <stdint.h>

enum { VALUE_SEARCH_BANK = 4 };

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_NUMBER,
    VALUE_WORD /* of that bank, at `value` */
};

struct value {
    enum value_kind kind;
    uint32_t value;
};

struct value_search {
    const uint8_t *code;
    uint32_t count, architecture; /* instructions */
    uint32_t looks;               /* so far: many make all others unknown */
    bool leads_anywhere;          /* there is a jump that nobody knows the target of */
    struct value_branch {
        uint32_t from, to;
    } * branches; /* by target */
    uint32_t branch_count;
};

/* Of code that stays where it is meanwhile. The caller closes it even after a failure. False:
 * memory is short, or a jump leads anywhere. */
bool value_search_open(struct value_search *search, const uint8_t *code, uint64_t bytes,
                       uint32_t architecture);
void value_search_close(struct value_search *search);

struct instruction value_search_instruction(const struct value_search *search, uint32_t place);
/* The register before the instruction at the place is done. */
struct value value_search_before(struct value_search *search, uint32_t reg, uint32_t place);

#endif
