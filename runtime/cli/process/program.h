/* A program as the commands that run one (run, record, explore, fix, mutate) start it: found,
 * checked for what preloading cannot work on, and with the environment that puts csan and, on the
 * embedded device, the device's libraries into it. */
#ifndef RUNTIME_CLI_PROCESS_PROGRAM_H
#define RUNTIME_CLI_PROCESS_PROGRAM_H

#include "csan/options.h"
#include "runtime/cli/arguments.h"

#include <limits.h>
#include <stdbool.h>

/* csan's own failures, as shells have them. */
enum { EXIT_USAGE = 2, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

enum program_device { PROGRAM_AUTO, PROGRAM_GPU, PROGRAM_EMBEDDED };

struct program {
    const char *command; /* the subcommand, for messages: "run" */
    enum program_device device;
    bool verbose;
    bool threads;  /* host_order=threads: csan has to see how host threads wait for one another */
    bool schedule; /* a schedule was asked for; one in the environment means nothing to a GPU */
    char **arguments;       /* argv of the program */
    struct options options; /* of CSAN_OPTIONS, once prepared */
    char path[PATH_MAX];    /* the file it is */
    char lib[PATH_MAX];     /* csan's library directory */
};

/* Prints "csan COMMAND: ..." on standard error. Returns the code. */
int program_fail(const struct program *program, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes the device from CSAN_DEVICE, or from a name. 0, or the exit code with a message printed. */
int program_device_of_environment(struct program *program);
int program_set_device(struct program *program, const char *name);
/* The program has to run on the embedded device; the environment must not say otherwise. Returns
 * likewise. */
int program_set_embedded(struct program *program);
/* Takes an option that every command which runs a program once has. False: it is no such option. */
bool program_take_option(struct program *program, struct arguments *arguments);
/* Takes the program and its arguments, behind the options; 0, or the exit code with a message
 * printed. */
int program_take_arguments(struct program *program, struct arguments *arguments);
/* Sets CSAN_SCHEDULE for the program. A file in it is seen from here. False: out of memory. */
bool program_set_schedule(const char *text);
/* Checks the name of a schedule (or NULL). 0, or the exit code with a message printed. */
int program_check_schedule(const struct program *program, const char *text);
/* Append to CSAN_OPTIONS. */
void program_add_options(const char *text);

/* Finds csan's library directory. 0, or the exit code with a message printed. */
int program_find_libraries(struct program *program);
/* Finds and checks the program, and sets this process's environment for it: programs that are
 * executed afterwards have csan in them. 0, or the exit code with a message printed. */
int program_prepare(struct program *program);
/* The text of --help about these options. */
extern const char program_options_usage[];
/* Becomes the program. Returns only when that fails, with the exit code. */
int program_become(const struct program *program);

#endif
