/* A command's arguments, one after the other. An option with a value is written --name=VALUE or
 * --name VALUE, a short one -o VALUE or -oVALUE. After -- no argument is an option. Errors are
 * printed on standard error, with the nearest existing option. */
#ifndef RUNTIME_CLI_ARGUMENTS_H
#define RUNTIME_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

enum { ARGUMENTS_HELPED = -1, ARGUMENTS_BAD = 2 };

struct arguments {
    const char *command; /* the subcommand, for messages */
    void (*usage)(FILE *out);
    int count, at; /* `at`: the next one */
    char **items;
    const char *option; /* being looked at */
    bool plain;         /* -- was there */
    int code;           /* 0; ARGUMENTS_HELPED: --help was printed; ARGUMENTS_BAD: wrong usage */
};

struct arguments arguments_of(const char *command, void (*usage)(FILE *out), int argc, char **argv);

/* Steps to the next argument if it is an option; the functions below then ask which. False: there
 * is none, it is no option, or `code` is not 0. */
bool argument_option(struct arguments *arguments);
/* Whether it is this option, which takes no value. */
bool argument_is(struct arguments *arguments, const char *name);
/* Whether it is this option, which takes a value: *value is then never NULL. `brief`: "-o", or
 * NULL. */
bool argument_has(struct arguments *arguments, const char *name, const char *brief,
                  const char **value);
/* The same for a whole number from 1 to `most`. */
bool argument_has_number(struct arguments *arguments, const char *name, unsigned long most,
                         unsigned long *number);
/* Whether it is --format, for which these commands accept text and json. */
bool argument_has_json(struct arguments *arguments, bool *json);
/* It is none of them: wrong usage. */
void argument_unknown(struct arguments *arguments);

/* The next argument if it is no option; NULL: there is none. */
const char *argument_next(struct arguments *arguments);

/* The same for a command that reads one file, kept in *file: a second file is wrong usage. */
void argument_file(struct arguments *arguments, const char **file);
/* All arguments were taken, and this one is required: if it is NULL, the usage goes to standard
 * error. */
void arguments_need(struct arguments *arguments, const void *what);

/* Prints "csan COMMAND: ..."; `code` becomes ARGUMENTS_BAD. */
void arguments_fail(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The command's exit code if parsing ended with this `code`. */
static inline int arguments_exit_code(int code)
{
    return code == ARGUMENTS_HELPED ? 0 : code;
}

#endif
