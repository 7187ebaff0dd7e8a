/* What a finding that is no race has beside the others, as tools take it: struct csan_error with
 * its addresses resolved. Owns all it points to. */
#ifndef CSAN_REPORT_FINDING_ERROR_H
#define CSAN_REPORT_FINDING_ERROR_H

#include "csan/report/finding_out_of_memory.h"
#include "csan/report/race_text.h"

struct finding_error {
    char *exception, *code; /* "illegal memory access", "CUDA_ERROR_ILLEGAL_ADDRESS"; NULL: none */
    char *detail;           /* whole sentences; "" for none */
    struct stack_frames instruction; /* that failed: one frame; none: not known */
    int where;                       /* enum csan_where */
    uint64_t distance;
    uint64_t neighbour, neighbour_bytes; /* bytes 0: none */
    struct stack_frames neighbour_stack;
    bool has_thread;
    int device; /* CUDA's number of it */
    uint32_t grid[3], block_size[3], block[3], thread[3];
    uint64_t threads;
    char *reported_by; /* the call as the program wrote it; NULL: none */
    struct stack_frames reported_stack;
    uint64_t launches_since;
    uint64_t count, total; /* of a leak: how many allocations, and their bytes; 0: it is none */
    struct finding_out_of_memory *out_of_memory; /* of an allocation that failed; NULL: of none */
};

/* Both sides of `words` are the finding's. NULL: there is no memory. */
struct finding_error *finding_error_create(const struct csan_error *from, struct race_words *words);
/* NULL is none. */
void finding_error_destroy(struct finding_error *error);

/* Takes the place "scatter.cu:21" apart, in that function; either may be NULL: not known. */
void finding_error_set_instruction(struct finding_error *error, const char *function,
                                   const char *place);
/* "scatter.cu:21". False: it is not known. */
bool finding_error_place(const struct finding_error *error, char *place, size_t bytes);

/* The names that documents have for enum csan_where: "behind". NULL: it is unknown. */
const char *finding_where_name(int where);
/* CSAN_WHERE_UNKNOWN: there is no such name. */
int finding_where_of(const char *name);

#endif
