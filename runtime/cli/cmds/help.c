/* `csan help`: prints commands and options for a person, or the --help of one command. For
 * installation it prints the manual page and completions. All are made from the same tables. */
#include "csan/options.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/help_page.h"
#include "runtime/cli/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_all(void)
{
    size_t bytes = options_help(NULL, 0) + 1;
    char *options = malloc(bytes);
    printf("usage: csan COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < command_list.count; i++)
        if (command_list.all[i].summary)
            printf("  csan %-10s %s\n", command_list.all[i].name, command_list.all[i].summary);
    printf(
        "  csan %-10s print the version\n\n"
        "`csan COMMAND --help` says more about a command.\n\n"
        "Options, as CSAN_OPTIONS=key=value:key=value or --options=key=value:key=value; with the\n"
        "value that each has when nothing is said. The names are those of TSAN_OPTIONS where it\n"
        "has the option, too.\n\n",
        "--version");
    if (options) {
        options_help(options, bytes);
        fputs(options, stdout);
    }
    free(options);
}

static int print_one(const char *name)
{
    char argument[] = "--help", copy[32];
    char *argv[] = {copy, argument, NULL};
    for (size_t i = 0; i < command_list.count; i++) {
        if (!command_list.all[i].summary || strcmp(command_list.all[i].name, name) != 0)
            continue;
        snprintf(copy, sizeof copy, "%s", name);
        return command_list.all[i].run(2, argv);
    }
    return command_unknown("csan help", name);
}

static void usage(FILE *out)
{
    fputs("usage: csan help [COMMAND | --man | --completion=SHELL]\n\n"
          "Lists the commands and the options of csan, or says what one command does.\n\n"
          "  --man              the manual page, csan(1), for man\n"
          "  --completion=bash  what bash is to complete; to be sourced\n"
          "  --completion=zsh   the same for zsh, as _csan in its fpath\n",
          out);
}

/* 0, or the exit code with a message said. */
static int answer_option(struct arguments *arguments)
{
    const char *shell;
    if (argument_is(arguments, "--man") && !arguments->code)
        help_page_manual(stdout);
    else if (!arguments->code && !argument_has(arguments, "--completion", NULL, &shell))
        argument_unknown(arguments);
    else if (!arguments->code && !help_page_completion(stdout, shell))
        arguments_fail(arguments, "there is no completion for '%s'; write bash or zsh", shell);
    return arguments->code;
}

int command_help(int argc, char **argv)
{
    struct arguments arguments = arguments_of("help", usage, argc, argv);
    if (argument_option(&arguments))
        return answer_option(&arguments);
    if (arguments.code)
        return arguments_exit_code(arguments.code);
    const char *what = argument_next(&arguments);
    shown_wrap();
    if (!what)
        print_all();
    else if (strcmp(what, "help") == 0)
        usage(stdout);
    else
        return print_one(what);
    return 0;
}
