/* `csan record -o FILE PROGRAM`: as `csan run`, but records what the program's streams do into a
 * file, for `csan replay`. Like other recorders it only records: it reports nothing, and the exit
 * code is the program's own. With --check it looks for races, too. */
#include "csan/recording/recording_format.h"
#include "runtime/cli/command.h"
#include "runtime/cli/process/file_from_here.h"
#include "runtime/cli/process/program.h"
#include "runtime/cli/process/tree_run.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct request {
    struct program program;
    const char *output;
    bool check;
};

static void usage(FILE *out)
{
    fprintf(out,
            "usage: csan record [-o FILE] [--check] [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
            "Runs PROGRAM and records what its GPU streams do into FILE, for csan replay, which\n"
            "finds the races. A recording of a program that was killed can be replayed up to a\n"
            "tenth of a second before its end.\n\n"
            "  -o FILE            where to; app.csan by default. %%p in the name stands for the\n"
            "                     process id, %%r for the rank that mpirun, torchrun or srun gave\n"
            "                     the process, %%h for the machine. Of several processes that use\n"
            "                     CUDA and have one FILE, the later ones append .PID to it\n"
            "  --output=FILE      the same\n"
            "  --check            report races, too, as csan run does\n"
            "%s",
            program_options_usage);
}

static void take(struct request *request, struct arguments *arguments)
{
    if (argument_is(arguments, "--check"))
        request->check = true;
    else if (!argument_has(arguments, "--output", "-o", &request->output) &&
             !program_take_option(&request->program, arguments))
        argument_unknown(arguments);
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct request *request, int argc, char **argv)
{
    struct program *program = &request->program;
    struct arguments arguments = arguments_of("record", usage, argc, argv);
    arguments.code = program_device_of_environment(program);
    while (argument_option(&arguments))
        take(request, &arguments);
    int code = program_take_arguments(program, &arguments);
    return code ? code : program_check_schedule(program, getenv("CSAN_SCHEDULE"));
}

/* The directory's permissions do not say it of every file system. */
static int check_new_file(const struct request *request)
{
    int file = open(request->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno != EEXIST) /* a link to nowhere: the recording has .PID after its name */
        return program_fail(&request->program, EXIT_USAGE, "cannot write '%s': %s", request->output,
                            strerror(errno));
    if (file >= 0) {
        close(file);
        unlink(request->output);
    }
    return 0;
}

/* A file that is there and no recording is not written over. */
static int check_file(const struct request *request)
{
    char magic[8] = "";
    struct stat status;
    int file = open(request->output, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT)
        return check_new_file(request);
    if (file < 0)
        return program_fail(&request->program, EXIT_USAGE, "cannot write '%s': %s", request->output,
                            strerror(errno));
    bool fits = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
                memcmp(magic, RECORDING_MAGIC, sizeof magic) == 0;
    close(file);
    return fits ? 0
                : program_fail(&request->program, EXIT_USAGE,
                               "'%s' is there and is no recording; it is not written over",
                               request->output);
}

static int check_output(const struct request *request)
{
    char *copy = strdup(request->output);
    const char *directory = copy ? dirname(copy) : ".";
    int code = 0;
    if (!request->output[0] || strpbrk(request->output, "'\n"))
        code = program_fail(&request->program, EXIT_USAGE,
                            "'%s' cannot be a recording's name: it is empty or has a quote",
                            request->output);
    else if (!strchr(directory, '%') && access(directory, W_OK) != 0)
        code = program_fail(&request->program, EXIT_USAGE, "cannot write '%s': %s: %s",
                            request->output, directory, strerror(errno));
    else if (!strchr(request->output, '%'))
        code = check_file(request);
    free(copy);
    return code;
}

/* Programs may start in another directory: ctest's tests do. A recording from before now may be
 * replaced. */
static int ask_for_recording(struct request *request)
{
    char *options = NULL, since[32];
    char *output = file_from_here(request->output); /* kept until the end */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of files' times */
    snprintf(since, sizeof since, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    if (!output || asprintf(&options, "record='%s':check=%d", output, request->check) < 0)
        return program_fail(&request->program, EXIT_CANNOT_RUN, "out of memory");
    request->output = output;
    program_add_options(options);
    setenv("CSAN_RECORD_SINCE", since, 1);
    free(options);
    return 0;
}

int command_record(int argc, char **argv)
{
    static struct request request = {.program = {.command = "record"}, .output = "app.csan"};
    int code = parse(&request, argc, argv);
    if (!code)
        code = check_output(&request);
    if (!code)
        code = ask_for_recording(&request);
    if (!code)
        code = program_prepare(&request.program);
    if (!code)
        code = tree_run(&request.program, request.output, NULL);
    return code < 0 ? 0 : code;
}
