/* `csan merge FILE...`: one report over the recordings or JSON reports of many processes, as the
 * ranks of an MPI job or of torchrun leave them; the same race is told once, with the ranks that
 * saw it. Exit code: as a checked program's, 66 where there were races; 2 where one of the files
 * cannot be read, after what could be read. */
#include "csan/options.h"
#include "runtime/cli/command.h"
#include "runtime/cli/finding_set.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *out)
{
    fputs(
        "usage: csan merge [OPTION...] FILE...\n\n"
        "Makes one report of many recordings (csan record) or reports in JSON, as the ranks of a\n"
        "job leave them (log_path or record with %r in it): each race once, with the ranks that\n"
        "saw it. The exit code is 66 when there are races, and 2 when a file cannot be read: the\n"
        "others are merged.\n\n"
        "  --format=text      in words, as csan run prints them (the default)\n"
        "  --format=json      csan's own; include/csan/csan-report.schema.json describes it\n"
        "  --format=sarif     SARIF 2.1.0, for editors and code hosting\n"
        "  --output=FILE      write there, and not to standard output; -o FILE does the same\n"
        "  --options=...      as CSAN_OPTIONS; csan help lists them\n",
        out);
}

struct request {
    enum finding_output output;
    const char *output_path;
    struct options options;
    int first; /* file, in argv */
};

static int fail(const char *format, const char *which)
{
    fputs("csan merge: ", stderr);
    fprintf(stderr, format, which);
    fputc('\n', stderr);
    return 2;
}

static int read_options(struct finding_set *set, struct request *request)
{
    char message[512];
    const char *environment = getenv("CSAN_OPTIONS");
    options_default(&request->options);
    if (options_parse(&request->options, environment ? environment : "", message, sizeof message) !=
            0 ||
        options_parse(&request->options, set->options ? set->options : "", message,
                      sizeof message) != 0)
        return fail("%s", message);
    return 0;
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct finding_set *set, struct request *request, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--") == 0) {
            i++;
            break;
        }
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            usage(stdout);
            return -1;
        }
        if (strncmp(option, "--output=", 9) == 0)
            request->output_path = option + 9;
        else if (strcmp(option, "-o") == 0 && i + 1 < argc)
            request->output_path = argv[++i];
        else if (strncmp(option, "--options=", 10) == 0)
            set->options = option + 10;
        else if (strncmp(option, "--format=", 9) != 0)
            return fail("there is no option '%s'; `csan merge --help` lists them", option);
        else if (!finding_output_named(option + 9, &request->output))
            return fail("there is no format '%s'; `csan merge --help` lists them", option + 9);
    }
    request->first = i;
    if (i < argc)
        return read_options(set, request);
    usage(stderr);
    return 2;
}

static bool fails(const struct finding_set *set, const struct options *options)
{
    return set->stats.races || (set->stats.possible && strcmp(options->fail_on, "possible") == 0);
}

int command_merge(int argc, char **argv)
{
    struct finding_set set = {.command = "merge"};
    static struct request request = {.output = OUTPUT_TEXT};
    int code = parse(&set, &request, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    for (int i = request.first; i < argc; i++) {
        int bad = finding_set_add(&set, argv[i]);
        code = code ? code : bad;
    }
    int written = finding_set_write(&set, request.output, request.output_path);
    code = code ? code : written;
    if (!code && fails(&set, &request.options))
        code = request.options.exitcode;
    finding_set_free(&set);
    return code;
}
