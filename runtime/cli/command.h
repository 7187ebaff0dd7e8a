/* The csan command's subcommands: one file and one function each, listed in main.c. */
#ifndef RUNTIME_CLI_COMMAND_H
#define RUNTIME_CLI_COMMAND_H

#include <stddef.h>

/* argv[0] is the subcommand's own name. Each returns the command's exit code. */
int command_doctor(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_explore(int argc, char **argv);
int command_fix(int argc, char **argv);
int command_help(int argc, char **argv);
int command_info(int argc, char **argv);
int command_kernels(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_mutate(int argc, char **argv);
int command_record(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_report(int argc, char **argv);
int command_run(int argc, char **argv);
int command_symbolize(int argc, char **argv);

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: for csan itself, not listed */
};
/* Says that there is no such command, with the nearest one. Returns the exit code. */
int command_unknown(const char *asker, const char *name);
/* All of them; main.c sets it first. */
extern struct command_list {
    const struct command *all;
    size_t count;
} command_list;

#endif
