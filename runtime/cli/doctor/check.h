/* One thing that csan doctor looks at: whether it is there, what csan does without it, and what to
 * do. */
#ifndef RUNTIME_CLI_DOCTOR_CHECK_H
#define RUNTIME_CLI_DOCTOR_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum check_state {
    CHECK_OK,
    CHECK_ABSENT, /* csan works without it, and does less */
    CHECK_BROKEN  /* it is there and cannot be used, or csan itself is not whole */
};

struct check {
    const char *name; /* lower case, without blanks: what --need takes */
    enum check_state state;
    char found[512];   /* what is there, or what is not */
    char without[256]; /* what csan does not do then; "" if it is there */
    char advice[512];  /* what to do; likewise */
};

struct doctor {
    const char *lib;    /* csan's library folder */
    const char *python; /* the interpreter that is asked for PyTorch; a name or a path */
};

typedef void check_function(struct check *check, const struct doctor *doctor);

/* In the order in which they are printed; `all` ends with a NULL name. */
struct check_entry {
    const char *name;
    check_function *run;
};
extern const struct check_entry check_entries[];

/* Each sets the state and the texts. They open libraries in a child process alone. */
check_function check_csan, check_driver, check_embedded, check_tools, check_toolkit, check_pytorch,
    check_permissions, check_guard, check_cpu_libraries, check_variables;

void check_found(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The state, what csan does not do then, and what to do. */
void check_lacks(struct check *check, enum check_state state, const char *without,
                 const char *advice, ...) __attribute__((format(printf, 4, 5)));

/* Runs `ask` in a child process that may crash or hang: it fills `answer`, of at most 4096 bytes.
 * False: no answer came within `seconds`. */
bool check_ask(void (*ask)(void *answer, const struct doctor *doctor), const struct doctor *doctor,
               void *answer, size_t bytes, unsigned seconds);
/* The first line that a command prints on standard output, without its end. False: it could not be
 * started, ended with another code than 0, printed nothing, or took longer than `seconds`. */
bool check_command(char *const *arguments, char *line, size_t bytes, unsigned seconds);

#endif
