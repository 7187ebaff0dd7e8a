/* `csan run PROGRAM`: starts a program with csan preloaded, on a GPU or on the embedded device.
 *
 * It sets the environment and becomes the program: signals, exit code and process id are the
 * program's own. What preloading cannot work on (no program, a static or set-user-id one, another
 * architecture) is said before. Exit code of csan's own failures: 127 when the program is not
 * found, 126 when it cannot be run, 2 for wrong usage, as shells do. */
#include "runtime/cli/command.h"
#include "runtime/cli/program.h"
#include "runtime/device/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *out)
{
    fputs("usage: csan run [--device=auto|gpu|embedded] [--options=KEY=VALUE:...] [--] PROGRAM "
          "[ARGUMENT...]\n\n"
          "Runs PROGRAM and reports the data races between its GPU streams on standard error.\n"
          "The exit code is PROGRAM's own, or 66 when that is 0 and there were races.\n\n"
          "  --device=auto      a GPU where there is one, else the embedded device (the default)\n"
          "  --device=gpu       the NVIDIA driver of this machine\n"
          "  --device=embedded  csan's CUDA device in software: needs no GPU, and knows exactly\n"
          "                     which bytes each kernel touches\n"
          "  --schedule=...     the order in which the embedded device runs work that may run in "
          "any:\n"
          "                     " DEVICE_SCHEDULES "\n"
          "  --save-schedule=FILE  save what ran when, for --schedule=replay:FILE\n"
          "  --options=...      as CSAN_OPTIONS; help=1 lists them\n"
          "  --verbose          say which device and libraries are used\n\n"
          "The environment variables CSAN_DEVICE, CSAN_SCHEDULE, CSAN_SAVE_SCHEDULE and\n"
          "CSAN_OPTIONS do the same.\n",
          out);
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct program *program, int argc, char **argv, bool *schedule)
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
        if (strcmp(argv[i], "--verbose") == 0)
            program->verbose = true;
        else if (strncmp(argv[i], "--options=", 10) == 0)
            program_add_options(argv[i] + 10);
        else if (strncmp(argv[i], "--device=", 9) == 0)
            code = program_set_device(program, argv[i] + 9);
        else if (strncmp(argv[i], "--schedule=", 11) == 0)
            *schedule = setenv("CSAN_SCHEDULE", argv[i] + 11, 1) == 0;
        else if (strncmp(argv[i], "--save-schedule=", 16) == 0)
            *schedule = setenv("CSAN_SAVE_SCHEDULE", argv[i] + 16, 1) == 0;
        else
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
    bool schedule = false; /* asked for; one in the environment means nothing to a GPU */
    int code = parse(&program, argc, argv, &schedule);
    if (!code)
        code = program_prepare(&program);
    if (!code && program.device == PROGRAM_GPU && schedule)
        code = program_fail(&program, EXIT_USAGE,
                            "a GPU chooses its own schedule; add --device=embedded");
    if (!code)
        code = program_become(&program);
    return code < 0 ? 0 : code;
}
