/* `csan help`: commands and options for a person; of one command what its --help says; and for
 * installation the manual page and completions, all made of the same tables. */
#include "csan/options.h"
#include "runtime/cli/command.h"
#include "runtime/cli/help_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_all(void)
{
    size_t bytes = options_help(NULL, 0) + 1;
    char *options = malloc(bytes);
    printf("usage: csan COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < command_count; i++)
        if (commands[i].summary)
            printf("  csan %-10s %s\n", commands[i].name, commands[i].summary);
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
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i].summary || strcmp(commands[i].name, name) != 0)
            continue;
        snprintf(copy, sizeof copy, "%s", name);
        return commands[i].run(2, argv);
    }
    fprintf(stderr, "csan help: there is no command '%s'; `csan help` lists them\n", name);
    return 2;
}

static void usage(void)
{
    fputs("usage: csan help [COMMAND | --man | --completion=SHELL]\n\n"
          "Lists the commands and the options of csan, or says what one command does.\n\n"
          "  --man              the manual page, csan(1), for man\n"
          "  --completion=bash  what bash is to complete; to be sourced\n"
          "  --completion=zsh   the same for zsh, as _csan in its fpath\n",
          stdout);
}

int command_help(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : NULL;
    if (!what)
        print_all();
    else if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0 || strcmp(what, "help") == 0)
        usage();
    else if (strcmp(what, "--man") == 0)
        help_page_manual(stdout);
    else if (strncmp(what, "--completion=", 13) != 0)
        return print_one(what);
    else if (!help_page_completion(stdout, what + 13)) {
        fprintf(stderr, "csan help: there is no completion for '%s'; write bash or zsh\n",
                what + 13);
        return 2;
    }
    return 0;
}
