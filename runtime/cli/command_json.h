/* The beginning of the JSON documents of commands that run a program many times (explore, mutate,
 * fix). */
#ifndef RUNTIME_CLI_COMMAND_JSON_H
#define RUNTIME_CLI_COMMAND_JSON_H

#include "csan/base/text.h"
#include "runtime/cli/process/program.h"

/* The opening brace and the members format ("csan-explore"), version, tool and command, each with a
 * comma behind it. */
void command_json_head_add(struct text *text, const struct program *program, const char *format,
                           int version);

#endif
