/* See baseline_file.h. */
#include "runtime/cli/findings/baseline_file.h"
#include "csan/report/baseline.h"
#include "csan/report/report.h"
#include "runtime/cli/findings/finding_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 4096 };

static void complain(const char *command, const char *message)
{
    fprintf(stderr, "csan %s: " BASELINE_UNUSED ": %s\n", command, message);
}

/* Its races are those of the detector alone: what suppressions or a baseline would leave out is not
 * reported in either run. */
static struct baseline *of_recording(const char *command, const char *path)
{
    static struct finding_set set;
    struct baseline *baseline = baseline_create();
    set = (struct finding_set){.command = command, .purpose = BASELINE_UNUSED};
    options_default(&set.options);
    bool good = baseline && finding_set_add(&set, path) == 0;
    for (size_t i = 0; good && i < set.finding_count; i++)
        good = baseline_add(baseline, set.findings[i]->fingerprint);
    finding_set_free(&set);
    if (good)
        return baseline;
    baseline_free(baseline);
    return NULL;
}

struct baseline *baseline_file_read(const char *command, const char *path)
{
    char message[MESSAGE];
    if (!*path)
        return NULL;
    if (baseline_is_recording(path))
        return of_recording(command, path);
    struct baseline *baseline = baseline_read(path, message, sizeof message);
    if (!baseline)
        complain(command, message);
    return baseline;
}

bool baseline_file_hand_over(const char *command, const char *path)
{
    unsetenv("CSAN_BASELINE");
    if (!*path || !baseline_is_recording(path))
        return true;
    struct baseline *baseline = of_recording(command, path);
    char *value = baseline ? baseline_to_environment(baseline, path) : NULL;
    if (value)
        setenv("CSAN_BASELINE", value, 1);
    else if (baseline)
        complain(command, "the recording has too many races; make a report of it: csan report "
                          "--format=json -o FILE RECORDING");
    const bool usable = value != NULL;
    free(value);
    baseline_free(baseline);
    return usable;
}

char *baseline_file_option(const char *path)
{
    char *option = NULL;
    if (strpbrk(path, "'\n") || asprintf(&option, "baseline='%s'", path) < 0)
        return NULL;
    return option;
}
