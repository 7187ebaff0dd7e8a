/* `csan run PROGRAM`: starts a program with csan preloaded, on a GPU or on the embedded device. It
 * ends as the program does, or with 66 if a process of it had races (tree_run.h). With --verify-fix
 * it then tries the fixes. If csan cannot be preloaded (no program, a static or set-user-id one,
 * another architecture), it says so before. Exit codes of csan's own failures are those of shells:
 * 127 if the program is not found, 126 if it cannot be run, 2 for wrong usage. */
#include "runtime/cli/command.h"
#include "runtime/cli/explore/fix.h"
#include "runtime/cli/process/program.h"
#include "runtime/cli/process/tree_run.h"

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
        "  --verify-fix       when PROGRAM has ended, run it again as csan fix does, without\n"
        "                     input and output: does the order that each report proposes hold?\n"
        "  --blocking         wait after each kernel launch until the kernel has ended\n"
        "  --blocking=kernel:NAME  the same for kernels whose name matches; wildcards *, ^ and $\n"
        "%s",
        program_options_usage);
}

/* Option launch_blocking, which says itself what is wrong with its value. */
static void set_blocking(struct arguments *arguments, const char *value)
{
    char option[OPTION_TEXT_MAX + 32], message[OPTION_TEXT_MAX + 128];
    static struct options tried;
    const char *quote = strchr(value, '\'') ? "\"" : "'";
    options_default(&tried);
    snprintf(option, sizeof option, "launch_blocking=%s%s%s", quote, value, quote);
    if (options_parse(&tried, option, message, sizeof message) == 0)
        program_add_options(option);
    else
        arguments_fail(arguments, "--blocking=%s: write --blocking or --blocking=kernel:NAME",
                       value);
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct program *program, bool *verify, int argc, char **argv)
{
    struct arguments arguments = arguments_of("run", usage, argc, argv);
    const char *value;
    arguments.code = program_device_of_environment(program);
    while (argument_option(&arguments))
        if (argument_is(&arguments, "--verify-fix"))
            *verify = true;
        else if (strcmp(arguments.option, "--blocking") == 0)
            set_blocking(&arguments, "1");
        else if (argument_has(&arguments, "--blocking", NULL, &value))
            set_blocking(&arguments, value);
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
        code = tree_run(&program, NULL, verify ? fix_after_run : NULL);
    return code < 0 ? 0 : code;
}
