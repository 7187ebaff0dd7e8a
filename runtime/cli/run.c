/* `csan run PROGRAM`: starts a program with csan preloaded, on a GPU or on the embedded device, and
 * ends as it does, or with 66 where a process of it had races (tree_run.h). What preloading cannot
 * work on (no program, a static or set-user-id one, another architecture) is said before. Exit code
 * of csan's own failures: 127 when the program is not found, 126 when it cannot be run, 2 for wrong
 * usage, as shells do. */
#include "runtime/cli/command.h"
#include "runtime/cli/program.h"
#include "runtime/cli/tree_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan run [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Runs PROGRAM and reports the data races between its GPU streams on standard error.\n"
        "The exit code is 66 when PROGRAM, or a process below it, had races, however it ended;\n"
        "else PROGRAM's own.\n\n"
        "%s",
        program_options_usage);
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct program *program, int argc, char **argv)
{
    int i = 1, code = program_device_of_environment(program);
    for (; !code && i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return -1;
        }
        code = program_take_option(program, argv[i]);
        if (code < 0)
            code = program_fail(program, EXIT_USAGE,
                                "there is no option '%s'; `csan run --help` lists them", argv[i]);
    }
    if (!code && i == argc) {
        usage(stderr);
        return EXIT_USAGE;
    }
    program->arguments = argv + i;
    return code ? code : program_check_schedule(program, getenv("CSAN_SCHEDULE"));
}

int command_run(int argc, char **argv)
{
    static struct program program = {.command = "run"};
    int code = parse(&program, argc, argv);
    if (!code)
        code = program_prepare(&program);
    if (!code)
        code = tree_run(&program, NULL);
    return code < 0 ? 0 : code;
}
