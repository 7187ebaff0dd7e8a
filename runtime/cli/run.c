/* `csan run PROGRAM`: starts a program with csan preloaded, on a GPU or on the embedded device.
 *
 * It sets the environment and becomes the program: signals, exit code and process id are the
 * program's own; with --verify-fix it waits for the program, and hands on its exit code. What
 * preloading cannot work on (no program, a static or set-user-id one, another architecture) is said
 * before. Exit code of csan's own failures: 127 when the program is not found, 126 when it cannot
 * be run, 2 for wrong usage, as shells do. */
#include "runtime/cli/command.h"
#include "runtime/cli/fix.h"
#include "runtime/cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan run [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Runs PROGRAM and reports the data races between its GPU streams on standard error.\n"
        "The exit code is PROGRAM's own, or 66 when that is 0 and there were races.\n\n"
        "  --verify-fix       when PROGRAM has ended, run it again as csan fix does, without\n"
        "                     input and output: does the order that each report proposes hold?\n"
        "%s",
        program_options_usage);
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct program *program, bool *verify, int argc, char **argv)
{
    struct arguments arguments = arguments_of("run", usage, argc, argv);
    arguments.code = program_device_of_environment(program);
    while (argument_option(&arguments))
        if (argument_is(&arguments, "--verify-fix"))
            *verify = true;
        else if (!program_take_option(program, &arguments))
            argument_unknown(&arguments);
    int code = program_take_arguments(program, &arguments);
    return code ? code : program_check_schedule(program, getenv("CSAN_SCHEDULE"));
}

int command_run(int argc, char **argv)
{
    static struct program program = {.command = "run"};
    bool verify = false;
    int code = parse(&program, &verify, argc, argv);
    if (!code)
        code = program_prepare(&program);
    if (!code)
        code = verify ? fix_after_run(&program) : program_become(&program);
    return code < 0 ? 0 : code;
}
