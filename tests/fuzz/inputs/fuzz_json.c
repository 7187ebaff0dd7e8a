/* libFuzzer: JSON, and the reports in it, as csan merge and csan report read them. What is taken
 * for a report can be written again, and that is JSON. */
#include "runtime/cli/findings/finding_read.h"
#include "runtime/cli/findings/json_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void write_again(const struct finding_report *report)
{
    char message[256];
    struct text text = {0};
    const struct finding_tail tail = {.stats = &report->stats, .device = report->device};
    finding_head_add(&text, FINDING_JSON, report->processes, report->process_count);
    for (size_t i = 0; i < report->finding_count; i++) {
        text_add(&text, "%s", i ? "," : "");
        finding_add(&text, FINDING_JSON, report->findings[i]);
    }
    finding_tail_add(&text, FINDING_JSON, report->processes, report->process_count, &tail);
    struct json_object *json =
        text.cut ? NULL : json_read(text.data, text.length, message, sizeof message);
    if (!json && !text.cut)
        abort();
    json_object_put(json);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char message[256] = "";
    struct finding_report report;
    struct json_object *json = json_read((const char *)data, bytes, message, sizeof message);
    if (!json && !message[0])
        abort(); /* a refused input has a message */
    json_object_put(json);
    if (!finding_report_read(&report, (const char *)data, bytes, message, sizeof message))
        return 0;
    write_again(&report);
    finding_report_free(&report);
    return 0;
}
