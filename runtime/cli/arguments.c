/* See arguments.h. */
#include "runtime/cli/arguments.h"
#include "runtime/cli/shown.h"
#include "csan/base/nearest.h"
#include "runtime/cli/usage_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };

struct arguments arguments_of(const char *command, void (*usage)(FILE *out), int argc, char **argv)
{
    return (struct arguments){
        .command = command, .usage = usage, .count = argc, .at = 1, .items = argv};
}

void arguments_fail(struct arguments *arguments, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "csan %s: ", arguments->command);
    vfprintf(stderr, format, list); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
    va_end(list);
    arguments->code = ARGUMENTS_BAD;
}

bool argument_option(struct arguments *arguments)
{
    const char *next = arguments->at < arguments->count ? arguments->items[arguments->at] : NULL;
    if (arguments->code || arguments->plain || !next || next[0] != '-' || !next[1])
        return false;
    arguments->at++;
    if (strcmp(next, "--") == 0) {
        arguments->plain = true;
        return false;
    }
    if (strcmp(next, "--help") == 0 || strcmp(next, "-h") == 0) {
        shown_wrap();
        arguments->usage(stdout);
        arguments->code = ARGUMENTS_HELPED;
        return false;
    }
    arguments->option = next;
    return true;
}

const char *argument_next(struct arguments *arguments)
{
    if (arguments->code || arguments->at >= arguments->count)
        return NULL;
    return arguments->items[arguments->at++];
}

void argument_file(struct arguments *arguments, const char **file)
{
    const char *next = argument_next(arguments);
    if (next && *file)
        arguments_fail(arguments, "one file at a time: '%s' and '%s'", *file, next);
    else if (next)
        *file = next;
}

void arguments_need(struct arguments *arguments, const void *what)
{
    if (what || arguments->code)
        return;
    arguments->usage(stderr);
    arguments->code = ARGUMENTS_BAD;
}

/* What follows the name; NULL: it is another option. */
static const char *behind(const char *option, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length && strncmp(option, name, length) == 0 ? option + length : NULL;
}

bool argument_is(struct arguments *arguments, const char *name)
{
    const char *rest = behind(arguments->option, name);
    if (!rest || (*rest && *rest != '='))
        return false;
    if (*rest)
        arguments_fail(arguments, "'%s' takes no value; `csan %s --help` says more", name,
                       arguments->command);
    return true;
}

bool argument_has(struct arguments *arguments, const char *name, const char *brief,
                  const char **value)
{
    const char *rest = behind(arguments->option, name);
    if (rest && *rest && *rest != '=')
        rest = NULL;
    if (!rest && (!(rest = behind(arguments->option, brief)) || arguments->option[1] == '-'))
        return false;
    *value = "";
    if (*rest)
        *value = rest + (*rest == '=' && arguments->option[1] == '-');
    else if (arguments->at < arguments->count)
        *value = arguments->items[arguments->at++];
    else
        arguments_fail(arguments, "'%s' lacks its value; `csan %s --help` says more",
                       arguments->option, arguments->command);
    return true;
}

bool argument_has_number(struct arguments *arguments, const char *name, unsigned long most,
                         unsigned long *number)
{
    const char *text;
    char *end;
    if (!argument_has(arguments, name, NULL, &text))
        return false;
    errno = 0;
    *number = strtoul(text, &end, 10);
    if (!arguments->code &&
        (*text < '0' || *text > '9' || *end || errno || *number == 0 || *number > most))
        arguments_fail(arguments, "'%s=%s': write a whole number in 1..%lu", name, text, most);
    return true;
}

bool argument_has_json(struct arguments *arguments, bool *json)
{
    const char *value;
    if (!argument_has(arguments, "--format", NULL, &value))
        return false;
    *json = strcmp(value, "json") == 0;
    if (!*json && strcmp(value, "text") != 0 && !arguments->code)
        arguments_fail(arguments, "there is no format '%s'; write text or json", value);
    return true;
}

/* ---- options that there are not */

/* Those that the command's --help has. */
struct names {
    struct usage_flag flags[NAMES_MAX];
    size_t count;
};

static const char *name_at(const void *names, size_t index)
{
    return ((const struct names *)names)->flags[index].name;
}

static void gather(struct names *names, void (*usage)(FILE *out))
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return;
    usage(memory);
    fclose(memory);
    for (const char *at = text;
         names->count < NAMES_MAX && usage_flag_next(&at, &names->flags[names->count]);)
        names->count++;
    free(text);
}

void argument_unknown(struct arguments *arguments)
{
    static struct names names;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arguments->option, "="), arguments->option);
    names.count = 0;
    gather(&names, arguments->usage);
    const char *nearest = nearest_name(name, name_at, &names, names.count);
    if (nearest && strlen(name) > 2)
        arguments_fail(arguments,
                       "there is no option '%s'; did you mean '%s'? `csan %s --help` lists them",
                       arguments->option, nearest, arguments->command);
    else
        arguments_fail(arguments, "there is no option '%s'; `csan %s --help` lists them",
                       arguments->option, arguments->command);
}
