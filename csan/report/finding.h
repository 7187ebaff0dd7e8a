/* A finding, mostly a race, in the form for tools. Addresses are resolved to functions, files and
 * lines, and everything that a report says is text. So it needs neither the process nor its
 * symbols. It can be written to a file, read again, and merged with those of other processes. Owns
 * all it points to. */
#ifndef CSAN_REPORT_FINDING_H
#define CSAN_REPORT_FINDING_H

#include <csan/csan.h>
#include "csan/base/finding_name.h"
#include "csan/report/finding_error.h"
#include "csan/report/race_text.h"
#include "csan/stack/stack_frames.h"

struct finding_access {
    char *name, *symbol;     /* as in the source; as recorded */
    char *lane;              /* "stream A" */
    char *ranges;            /* NVTX ranges that were open, "'forward' > 'layer 3'"; NULL: none */
    char *detail;            /* of a library's call, "512 MPI_FLOAT to rank 1"; NULL: none */
    char *arguments, *deed;  /* "p"; "writing to argument(s) p" */
    char *reason;            /* why it is not exact; NULL: it is */
    char *defined;           /* of a kernel: "app.cu:9"; NULL: it is none, or not known */
    uint64_t stream, number; /* the stream's handle; the op's number */
    int kind;                /* enum csan_access_kind */
    bool host;
    bool at_call;   /* as in csan_race_access */
    uint64_t place; /* of the stack, or of the graph's launch, as code_place.h has it; 0: none */
    struct stack_frames stack;
    struct stack_frames launch_stack; /* of a graph's node: the graph's launch; else empty */
    struct stack_frames created; /* where the stream, or its thread, was created; empty: not seen */
};

/* A call of the program that explains the race; see struct csan_race_order. */
struct finding_call {
    char *role; /* "record", "record-again", "wait", "usable-record" */
    char *lane, *name;
    char *event; /* the program's own name of the event that it is about; NULL: none */
    uint64_t place;
    uint64_t after; /* the number of the newest op before it */
    struct stack_frames stack;
};

/* What csan fix can add to a run; see proposal.h. */
struct finding_proposal {
    int kind;          /* enum proposal_kind */
    uint64_t from, to; /* places; 0: none */
    char *obstacle;    /* NULL but of none */
};

/* Another lane on which the same call did the earlier access. */
struct finding_other {
    char *lane;
    uint64_t stream, number, address, bytes;
};

/* Beside a baseline (baseline.h): SARIF's baselineState. */
enum finding_state { FINDING_UNCOMPARED, FINDING_NEW, FINDING_UNCHANGED };

struct finding {
    uint64_t number; /* in its report, from 1 */
    uint64_t group;  /* the first that the same missing order explains */
    uint64_t time;   /* nanoseconds since 1970; 0: not known */
    uint64_t apart;  /* nanoseconds between the calls of the two accesses; 0: not known */
    int kind;        /* enum csan_race_kind */
    bool possible;
    uint64_t address, bytes, pointer;
    uint64_t allocation, allocation_bytes; /* bytes 0: none that csan saw */
    const char *object;                    /* "texture object"; NULL: it is memory */
    char *variable, *variable_module;      /* "__constant__ taps"; of which file. "": it is none */
    /* Current, previous. A finding that is no race may have no previous access: kind 0, all empty.
     */
    struct finding_access accesses[2];
    struct finding_error *error; /* of what is no race; else NULL */
    struct stack_frames allocation_stack;
    char *headline;           /* one sentence that names which access does not wait for which */
    char *cause, *fix, *text; /* the text is the whole report */
    char *cause_kind;         /* "recorded-again"; "none" */
    struct finding_call *calls;
    size_t call_count;
    struct finding_other *others;
    size_t other_count, other_total;
    struct finding_proposal proposal;
    char *unpromised;  /* NULL: none */
    uint32_t *seen_by; /* processes of the document, by index, ascending */
    size_t seen_count;
    uint32_t
        owner[2]; /* of each access, the process whose recording numbers the ops; not written */
    uint64_t fingerprint; /* of finding_fingerprint */
    enum finding_state state;
};

/* Makes a finding of the race. `text` was made with these words just before. Process 0 has seen it.
 * NULL: no memory. */
struct finding *finding_create(const struct csan_race *race, struct race_words *words,
                               const char *text);
void finding_destroy(struct finding *finding);

/* Whether it is no race: its error says more. */
static inline bool finding_is_error(const struct finding *finding)
{
    return finding->error || finding->kind >= CSAN_RACE_OUT_OF_BOUNDS;
}

/* Whether accesses[1] is one. */
static inline bool finding_has_previous(const struct finding *finding)
{
    return !finding->error || finding->accesses[1].kind;
}

/* Gives it its number in another report, in its text, too. */
void finding_renumber(struct finding *finding, uint64_t number);

/* Equal for the same race in other runs and processes; see fingerprint.h. */
uint64_t finding_fingerprint(const struct finding *finding);

/* The name that csan_finding_kind_of returns: "race", "out_of_bounds". */
const char *finding_class_name(int kind);
/* Of enum csan_cause: "recorded-again". */
const char *finding_cause_name(int cause);

#endif
