/* The csan command: picks the subcommand. */
#include <csan/csan.h>
#include "runtime/cli/command.h"
#include "runtime/cli/shown.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    {"run", command_run, "run a program and report the data races between its GPU streams"},
    {"record", command_record, "run a program and record what its GPU streams do, for replay"},
    {"replay", command_replay, "report the data races of a recording"},
    {"report", command_report, "print the races of a recording for people or for tools"},
    {"merge", command_merge, "make one report of the recordings or reports of many processes"},
    {"info", command_info, "say what is in a recording"},
    {"dump", command_dump, "print a recording as text"},
    {"explore", command_explore, "run a program under many schedules and confirm the races it has"},
    {"fix", command_fix, "run a program with each order that its reports propose: does it hold"},
    {"kernels", command_kernels,
     "say what each kernel of a file reads and writes, and how exactly"},
    {"doctor", command_doctor, "say what csan finds here, what is missing, and what to do"},
    {"mutate", command_mutate, "leave out each synchronization in turn and say which are needed"},
    {"help", command_help,
     "print this, or what a command does; a manual page and completions, too"},
    {"symbolize", command_symbolize, NULL},
};

/* What a command prints may not arrive; one that says so itself has another exit code already. */
static int finish(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != 0)
        return code;
    fprintf(stderr, "csan: cannot write standard output: %s\n", strerror(errno));
    return 2;
}

int main(int argc, char **argv)
{
    command_list = (struct command_list){commands, sizeof commands / sizeof *commands};
    shown_start();
    if (argc < 2) {
        char *help[] = {"help", NULL};
        dup2(STDERR_FILENO, STDOUT_FILENO);
        command_help(1, help);
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("csan %d.%d\n", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
        return finish(0);
    }
    for (size_t i = 0; i < command_list.count; i++)
        if (strcmp(name, commands[i].name) == 0)
            return finish(commands[i].run(argc - 1, argv + 1));
    return command_unknown("csan", name);
}
