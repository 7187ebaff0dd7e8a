/* What csan report and csan merge are asked to write: any number of forms, each once to standard
 * output or into a file. */
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
    enum finding_output forms[OUTPUTS_MAX]; /* of --format, in order; -o gives each its file */
    const char *paths[OUTPUTS_MAX];
    size_t form_count, path_count;
};

/* Whether the option asks for an output, or for a file to write one to: then it is kept. `drawn`:
 * the command has --html, --dot, --perfetto and --gen-suppressions, too. */
bool outputs_take(struct report_outputs *outputs, struct arguments *arguments, bool drawn);

/* Once all options are taken: give each form its file, and refuse two for one place, and a file
 * that is one of the inputs (NULLs are passed over). What is wrong is said. */
void outputs_settle(struct report_outputs *outputs, struct arguments *arguments,
                    const char *const *inputs, size_t input_count);

/* Write all, whatever becomes of one. 0, or the exit code, with messages said. */
int outputs_write(const struct report_outputs *outputs, struct finding_set *set);

/* For usage. */
extern const char outputs_usage[];

#endif
