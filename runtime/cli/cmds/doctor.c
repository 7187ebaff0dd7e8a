/* `csan doctor`: says what csan finds on this machine, what each thing that is missing costs, and
 * what to do about it. */
#include "csan/base/json_text.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/doctor/check.h"
#include "runtime/cli/process/program.h"

#include <csan/csan.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_LACKS = 1, DOCUMENT_VERSION = 1 };

static void usage(FILE *out)
{
    fputs(
        "usage: csan doctor [--need=NAME,...] [--python=FILE] [--format=text|json]\n\n"
        "Says what csan finds here, what is missing, what csan does not do without it, and what to "
        "do:\n"
        "csan itself, the environment's variables, the driver, its tools interface, the embedded\n"
        "device, CPU libraries, a toolkit, PyTorch, the page guard and permissions.\n\n"
        "  --need=NAME,...  names in that list that must be there: driver, pytorch\n"
        "  --python=FILE    the interpreter that is asked for PyTorch (python3)\n"
        "  --format=FORMAT  text, or one JSON document\n\n"
        "The exit code is 0 when nothing is broken and all that is needed is there, else 1. What "
        "is\n"
        "absent and not needed does not count.\n",
        out);
}

static const char *const states[] = {"ok", "absent", "broken"};

/* Whether the list has the name: "driver,pytorch". */
static bool listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || !list[length]))
            return true;
    return false;
}

static bool name_exists(const char *name, size_t length)
{
    for (const struct check_entry *entry = check_entries; entry->name; entry++)
        if (strlen(entry->name) == length && strncmp(entry->name, name, length) == 0)
            return true;
    return false;
}

static void check_names(struct arguments *arguments, const char *list)
{
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        if (!name_exists(list, length)) {
            arguments_fail(arguments, "csan doctor looks at nothing named '%.*s'", (int)length,
                           list);
            return;
        }
        list += length + (list[length] == ',');
    }
}

static void print_text(const struct check *check, bool needed)
{
    printf("%-7s %-16s %s\n", states[check->state], check->name, check->found);
    if (check->state == CHECK_OK)
        return;
    printf("        %-16s without it: %s%s\n", "", check->without,
           needed ? " (and --need names it)" : "");
    printf("        %-16s to do: %s\n", "", check->advice);
}

static void add_json(struct text *text, const struct check *check, bool needed)
{
    text_add(text, "\n  {");
    json_member_string(text, "name", check->name);
    json_member_string(text, "state", states[check->state]);
    json_member_truth(text, "needed", needed);
    json_member_string(text, "found", check->found);
    json_member_string(text, "without", check->state ? check->without : NULL);
    json_member_string(text, "to_do", check->state ? check->advice : NULL);
    json_comma_drop(text);
    text_add(text, "}, ");
}

/* How many there are of each state, and whether that is enough. */
struct tally {
    unsigned of[3];
    bool lacks;
};

static void look_at_all(const struct doctor *doctor, const char *needed, struct text *json,
                        struct tally *tally)
{
    for (const struct check_entry *entry = check_entries; entry->name; entry++) {
        struct check check = {.name = entry->name};
        entry->run(&check, doctor);
        const bool need = listed(needed, entry->name);
        tally->of[check.state]++;
        tally->lacks |= check.state == CHECK_BROKEN || (need && check.state != CHECK_OK);
        if (json)
            add_json(json, &check, need);
        else
            print_text(&check, need);
        fflush(stdout);
    }
}

static void print_json(const struct doctor *doctor, const char *needed, struct tally *tally)
{
    struct text text = {0};
    text_add(&text, "{");
    json_member_string(&text, "format", "csan-doctor");
    json_member_number(&text, "version", DOCUMENT_VERSION);
    text_add(&text, "\"checks\": [");
    look_at_all(doctor, needed, &text, tally);
    json_comma_drop(&text);
    text_add(&text, "\n], ");
    json_member_truth(&text, "enough", !tally->lacks);
    json_comma_drop(&text);
    puts(text.data ? text.data : "");
    puts("}");
    text_free(&text);
}

int command_doctor(int argc, char **argv)
{
    struct arguments arguments = arguments_of("doctor", usage, argc, argv);
    struct program program = {.command = "doctor"};
    struct doctor doctor = {.python = "python3"};
    struct tally tally = {0};
    const char *needed = NULL;
    bool json = false;
    while (argument_option(&arguments))
        if (argument_has(&arguments, "--need", NULL, &needed))
            check_names(&arguments, needed);
        else if (!argument_has(&arguments, "--python", NULL, &doctor.python) &&
                 !argument_has_json(&arguments, &json))
            argument_unknown(&arguments);
    if (!arguments.code && argument_next(&arguments))
        arguments_fail(&arguments, "it takes no file");
    if (arguments.code)
        return arguments_exit_code(arguments.code);
    const int code = program_find_libraries(&program);
    if (code)
        return code;
    doctor.lib = program.lib;
    if (json) {
        print_json(&doctor, needed, &tally);
    } else {
        look_at_all(&doctor, needed, NULL, &tally);
        printf("csan doctor: %u ok, %u absent, %u broken\n", tally.of[CHECK_OK],
               tally.of[CHECK_ABSENT], tally.of[CHECK_BROKEN]);
    }
    return tally.lacks ? EXIT_LACKS : 0;
}
