/* See command_json.h. */
#include "runtime/cli/command_json.h"
#include <csan/csan.h>
#include "csan/base/json_text.h"

void command_json_head_add(struct text *text, const struct program *program, const char *format,
                           int version)
{
    text_add(text,
             "{\"format\": \"%s\", \"version\": %d, \"tool\": \"csan %d.%d\",\n \"command\": [",
             format, version, CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    for (char **argument = program->arguments; *argument; argument++) {
        json_string_add(text, *argument);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n ");
}
