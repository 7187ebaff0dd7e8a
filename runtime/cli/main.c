/* The csan command: picks the subcommand. */
#include "include/csan/csan.h"
#include "runtime/cli/command.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: for csan itself, not listed */
};

static const struct command commands[] = {
    {"run", command_run, "run a program and report the data races between its GPU streams"},
    {"record", command_record, "run a program and record what its GPU streams do, for replay"},
    {"replay", command_replay, "report the data races of a recording"},
    {"report", command_report, "print the races of a recording for people or for tools"},
    {"merge", command_merge, "make one report of the recordings or reports of many processes"},
    {"info", command_info, "say what is in a recording"},
    {"dump", command_dump, "print a recording as text"},
    {"explore", command_explore, "run a program under many schedules and confirm the races it has"},
    {"kernels", command_kernels,
     "say what each kernel of a file reads and writes, and how exactly"},
    {"mutate", command_mutate, "leave out each synchronization in turn and say which are needed"},
    {"symbolize", command_symbolize, NULL},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void usage(FILE *out)
{
    fprintf(out, "usage: csan COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].summary)
            fprintf(out, "  csan %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "  csan %-10s %s\n", "help", "print this");
    fprintf(out, "  csan %-10s %s\n\n", "--version", "print the version");
    fprintf(out, "`csan COMMAND --help` says more about a command.\n"
                 "`CSAN=1 CSAN_OPTIONS=help=1 PROGRAM` lists the options of a program linked with "
                 "-lcsan.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("csan %d.%d\n", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
        return 0;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "csan: there is no command '%s'; `csan help` lists them\n", name);
    return 2;
}
