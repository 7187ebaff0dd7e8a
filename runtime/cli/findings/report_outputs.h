/* The outputs that csan report and csan merge are asked for: any number of forms, each once to
 * standard output or into a file. */
#ifndef RUNTIME_CLI_FINDINGS_REPORT_OUTPUTS_H
#define RUNTIME_CLI_FINDINGS_REPORT_OUTPUTS_H

#include "runtime/cli/arguments.h"
#include "runtime/cli/findings/finding_set.h"

enum { OUTPUTS_MAX = 16 };

struct report_outputs {
    struct {
        enum finding_output output;
        const char *path; /* NULL: standard output */
    } items[OUTPUTS_MAX];
    size_t count;
    enum finding_output
        forms[OUTPUTS_MAX]; /* formats in the order of --format; -o gives each its file */
    const char *paths[OUTPUTS_MAX];
    size_t form_count, path_count;
};

/* Whether the option asks for an output, or for a file to write one to; then it is noted. `drawn`:
 * the command also has --html, --dot, --perfetto and --gen-suppressions. */
bool outputs_take(struct report_outputs *outputs, struct arguments *arguments, bool drawn);

/* Call it once all options are taken. Gives each form its file. Refuses two forms for one place,
 * and a file that is one of the inputs (NULLs are ignored). Errors are printed. */
void outputs_settle(struct report_outputs *outputs, struct arguments *arguments,
                    const char *const *inputs, size_t input_count);

/* Writes all, also if one fails. 0, or the exit code, with messages printed. */
int outputs_write(const struct report_outputs *outputs, struct finding_set *set);

/* For usage. */
extern const char outputs_usage[];

#endif
