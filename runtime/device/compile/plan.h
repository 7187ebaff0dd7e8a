/* How a program is cut up for compilation: what each micro-operation reads and writes, where
 * segments begin, and which slots somebody still reads behind a place. */
#ifndef RUNTIME_DEVICE_COMPILE_PLAN_H
#define RUNTIME_DEVICE_COMPILE_PLAN_H

#include "runtime/device/exec/exec_lowering.h"

enum step_kind {
    STEP_LANES, /* computed in a loop over the lanes */
    STEP_ACCESS,
    STEP_JUMP,
    STEP_BRANCH,  /* where the predicate is true, or with `negated` false */
    STEP_BARRIER, /* where all threads of the block wait for one another */
    STEP_CALLED   /* by its handler */
};

enum { OPERANDS_MAX = 14, WIDTH_PREDICATE = 0, WIDTH_ANY = 255 };

struct operand {
    uint32_t slot;
    uint8_t width; /* bytes of a lane's value; WIDTH_PREDICATE, or WIDTH_ANY: does not matter */
};

/* A micro-operation, as the compiler sees it. */
struct step {
    uint8_t kind; /* enum step_kind */
    bool alone;   /* a loop of its own */
    bool negated;
    bool reads_all; /* it may read any slot */
    const struct lowering *entry;
    struct lowering_comparison comparison; /* of LOWERING_SETP */
    uint8_t read_count, write_count;
    struct operand reads[OPERANDS_MAX], writes[OPERANDS_MAX];
};

struct segment {
    uint32_t first, end;
    bool called; /* all of it by handlers */
};

struct plan {
    const struct program *program;
    struct step *steps; /* by pc */
    uint8_t *starts;    /* by pc: a segment begins here */
    struct segment *segments;
    uint32_t segment_count;
    uint32_t *numbers; /* by offset / 4 of a slot: its number, 0: none */
    uint32_t slot_count, words;
    uint8_t *widths; /* by number */
    uint64_t
        *live_sets; /* by segment: slots that are read before they are written, from its begin on */
};

/* NULL: memory is short, or the program is too large, or slots are used in two widths. */
struct plan *plan_create(const struct program *program);
void plan_destroy(struct plan *plan);

/* What an operation does if nothing guards it; of a function, if it is not of a kernel. */
struct step plan_step_of(const struct micro *op, bool kernel);
/* Whether it touches no slots but its reads and writes; of those that are called, the reads may be
 * written. */
bool plan_names_slots(const struct step *step);
/* The number of a slot, 0: none. */
uint32_t plan_number(const struct plan *plan, uint32_t slot);
/* The segment that begins at the pc. */
const struct segment *plan_segment(const struct plan *plan, uint32_t pc);
/* Slots that are read behind the segment: `set` has plan->words words. */
void plan_live_after(const struct plan *plan, const struct segment *segment, uint64_t *set);
/* From after the step to before it. */
void plan_step_back(const struct plan *plan, const struct step *step, uint64_t *set);
/* Whether every register is written before it is read. */
bool plan_writes_first(const struct plan *plan);
/* Whether the segment ends with a branch over the next one, and that does nothing but compute and
 * access memory: then lanes that jump need not leave the others. */
bool plan_skips(const struct plan *plan, const struct segment *segment);
bool plan_is_live(const struct plan *plan, const uint64_t *set, uint32_t slot);

#endif
