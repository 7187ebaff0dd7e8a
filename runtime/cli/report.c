/* `csan report FILE`: the races of a recording, or of a report that was written as JSON, in another
 * form. Exit code: 0, races or not; 2 where the file cannot be read to its end, after what could be
 * read. */
#include "runtime/cli/command.h"
#include "runtime/cli/finding_set.h"

#include <string.h>

static void usage(FILE *out)
{
    fputs(
        "usage: csan report [OPTION...] FILE\n\n"
        "Prints the races of a recording (csan record), or of a report in JSON, for people or for\n"
        "tools. The exit code is 0 whether there are races or not, and 2 when the file cannot be\n"
        "read to its end: what could be read is printed.\n\n"
        "  --format=text      in words, as csan run prints them (the default)\n"
        "  --format=json      csan's own; include/csan/csan-report.schema.json describes it\n"
        "  --format=sarif     SARIF 2.1.0, for editors and code hosting\n"
        "  --gen-suppressions  a file for option suppressions that names each of the races\n"
        "  --output=FILE      write there, and not to standard output; -o FILE does the same\n"
        "  --options=...      as CSAN_OPTIONS, for a recording; csan help lists them\n",
        out);
}

struct request {
    enum finding_output output;
    const char *path, *output_path;
};

static int fail(const char *what, const char *which)
{
    fprintf(stderr, "csan report: %s '%s'; `csan report --help` lists them\n", what, which);
    return 2;
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
        if (strcmp(option, "--gen-suppressions") == 0)
            request->output = OUTPUT_SUPPRESSIONS;
        else if (strncmp(option, "--output=", 9) == 0)
            request->output_path = option + 9;
        else if (strcmp(option, "-o") == 0 && i + 1 < argc)
            request->output_path = argv[++i];
        else if (strncmp(option, "--options=", 10) == 0)
            set->options = option + 10;
        else if (strncmp(option, "--format=", 9) != 0)
            return fail("there is no option", option);
        else if (!finding_output_named(option + 9, &request->output))
            return fail("there is no format", option + 9);
    }
    if (i + 1 != argc) {
        usage(stderr);
        return 2;
    }
    request->path = argv[i];
    return 0;
}

int command_report(int argc, char **argv)
{
    struct finding_set set = {.command = "report"};
    struct request request = {.output = OUTPUT_TEXT};
    int code = parse(&set, &request, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    code = finding_set_add(&set, request.path);
    if (set.process_count) {
        int written = finding_set_write(&set, request.output, request.output_path);
        code = code ? code : written;
    }
    finding_set_free(&set);
    return code;
}
