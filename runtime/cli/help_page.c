/* See help_page.h. */
#include "runtime/cli/help_page.h"
#include "csan/options.h"
#include <csan/csan.h>
#include "runtime/cli/usage_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the manual page */

/* Text that man may fill: no line begins with a control character, and hyphens are to be typed. */
static void roff_text(FILE *out, const char *text)
{
    bool at_start = true;
    for (; *text; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        at_start = *text == '\n';
    }
}

static void manual_commands(FILE *out)
{
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < command_list.count; i++) {
        char *text = command_list.all[i].summary ? usage_text_of(&command_list.all[i]) : NULL;
        if (!text)
            continue;
        fputs(".SS csan ", out);
        roff_text(out, command_list.all[i].name);
        fputs("\n.nf\n", out);
        roff_text(out, text);
        fputs(".fi\n", out);
        free(text);
    }
}

static void manual_options(FILE *out)
{
    struct option_text option;
    fputs(".SH OPTIONS\nSeparated by colons in\n.B CSAN_OPTIONS\nor behind\n.BR \\-\\-options= .\n"
          "Each has the value given here when nothing is said.\n",
          out);
    for (size_t i = 0; options_at(i, &option); i++) {
        fputs(".TP\n.BR ", out);
        roff_text(out, option.name);
        fputs("=", out);
        roff_text(out, option.initial);
        fputs(" \" (", out);
        roff_text(out, option.values);
        fputs(")\"\n", out);
        roff_text(out, option.description);
        fputs("\n", out);
    }
}

static const struct {
    const char *name, *what;
} variables[] = {
    {"CSAN", "1 checks a program that is linked with csan; csan run sets it."},
    {"CSAN_OPTIONS", "Options, as above."},
    {"CSAN_DEVICE", "auto, gpu or embedded: where programs run."},
    {"CSAN_SCHEDULE", "On the embedded device: the order of work that may run in any."},
    {"CSAN_DEVICE_REDZONE",
     "On the embedded device: least bytes behind each allocation that nobody gets; 512."},
    {"CSAN_DEVICE_QUARANTINE",
     "On the embedded device: most bytes of freed memory that nobody gets yet; 64M."},
    {"CSAN_MACHINE_CODE", "skip: on the embedded device kernels without PTX do nothing."},
    {"RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID",
     "This process's rank, for %r in names of files; the first that is set counts."},
};

void help_page_manual(FILE *out)
{
    fprintf(
        out,
        ".TH CSAN 1 \"\" \"csan %d.%d\" \"User Commands\"\n"
        ".SH NAME\ncsan \\- finds data races between GPU streams\n"
        ".SH SYNOPSIS\n.B csan\n.I command\n.RI [ argument ...]\n"
        ".SH DESCRIPTION\n"
        "Two accesses to the same bytes by different CUDA streams, or by a stream and the host, "
        "of which one at least writes, need something that orders them. csan finds those that "
        "nothing orders, the first time the program runs, whether or not it went wrong, and says "
        "what to do.\n.PP\n"
        "It also reports accesses out of bounds, uses of freed memory, and kernels that fail: "
        "which "
        "launch and thread it was, at which line, and in which memory. Options leave such findings "
        "out (errors), or add memory that is never freed (leak_check). They count as races do, for "
        "the exit status and in every form of reports.\n",
        CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    manual_commands(out);
    manual_options(out);
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        fprintf(out, ".TP\n.B %s\n", variables[i].name);
        roff_text(out, variables[i].what);
        fputs("\n", out);
    }
    fputs(".SH EXIT STATUS\nThat of the program; 66 (option\n.BR exitcode )\nwhen that is 0 and "
          "there "
          "were races or other findings; 2 for wrong usage or a file that cannot be read; 126 and "
          "127 when the program "
          "cannot be run.\n",
          out);
}

/* ---- completion */

/* A flag of a command, with all the values that its lines name. */
struct flag_words {
    struct usage_flag first; /* its first line */
    char values[256];        /* literal ones, with blanks between; "" for none */
};

static bool comes_before(const char *text, const char *line, const char *name)
{
    struct usage_flag flag;
    for (const char *at = text; usage_flag_next(&at, &flag) && at < line;)
        if (strcmp(flag.name, name) == 0)
            return true;
    return false;
}

static void gather_values(const char *text, struct flag_words *words)
{
    struct usage_flag flag;
    size_t length = 0;
    words->values[0] = '\0';
    for (const char *at = text; usage_flag_next(&at, &flag);)
        if (flag.joined && flag.literal && strcmp(flag.name, words->first.name) == 0 &&
            length + strlen(flag.value) + 2 < sizeof words->values)
            length +=
                (size_t)sprintf(words->values + length, "%s%s", length ? " " : "", flag.value);
}

static void visit_flags(const struct command *command, FILE *out,
                        void (*each)(FILE *out, const struct flag_words *words))
{
    struct flag_words words;
    char *text = usage_text_of(command);
    for (const char *at = text; usage_flag_next(&at, &words.first);) {
        if (comes_before(text, at, words.first.name))
            continue;
        gather_values(text, &words);
        each(out, &words);
    }
    free(text);
}

/* "--html=FILE", "--keep=DIR" */
static bool wants_file(const struct usage_flag *flag)
{
    return strcmp(flag->value, "FILE") == 0 || strcmp(flag->value, "DIR") == 0;
}

static void bash_flag(FILE *out, const struct flag_words *words)
{
    fprintf(out, " %s%s", words->first.name, words->first.joined ? "=" : "");
}

static void bash_values(FILE *out, const struct flag_words *words)
{
    if (words->values[0])
        fprintf(out, "        %s) kind=values values='%s' ;;\n", words->first.name, words->values);
    else if (wants_file(&words->first))
        fprintf(out, "        %s) kind=files ;;\n", words->first.name);
    else if (words->first.value[0])
        fprintf(out, "        %s) kind=value ;;\n", words->first.name);
}

/* Names of options; then for each that has few values which, and for paths that they are. */
static void bash_options(FILE *out)
{
    struct option_text option;
    fputs("_csan_options='", out);
    for (size_t i = 0; options_at(i, &option); i++)
        fprintf(out, "%s%s=", i ? " " : "", option.name);
    fputs("'\n_csan_option()\n{\n    case $1 in\n", out);
    for (size_t i = 0; options_at(i, &option); i++) {
        if (strcmp(option.values, "text") == 0)
            fprintf(out, "    %s) kind=files ;;\n", option.name);
        else if (strchr(option.values, '|'))
            fprintf(out, "    %s) kind=values values='%s' ;;\n", option.name, option.values);
    }
    fputs("    esac\n    values=${values//|/ }\n}\n", out);
}

/* bash breaks words at = and : where COMP_WORDBREAKS says so: the word is put together again from
 * its pieces, and what is proposed stands for the last piece. */
static const char bash_function[] =
    "_csan()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} i=$COMP_CWORD word= flag=\n"
    "    local flags= kind= values= part= prefix= open=\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$_csan_commands\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    word=$cur\n"
    "    while [ $i -gt 2 ] && [[ ${COMP_WORDS[i]} == [:=]* || ${COMP_WORDS[i - 1]} == *[:=] ]]; "
    "do\n"
    "        i=$((i - 1))\n"
    "        word=${COMP_WORDS[i]}$word\n"
    "    done\n"
    "    case $word in\n"
    "    --*=*) flag=${word%%=*} part=${word#*=} ;;\n"
    "    -*) part=$word ;;\n"
    "    *) flag=${COMP_WORDS[i - 1]} part=$word ;;\n"
    "    esac\n"
    "    _csan_command \"$command\" \"$flag\"\n"
    "    if [[ $word == -* && -z $flag ]]; then\n"
    "        kind=values values=$flags open=1\n"
    "    elif [ \"$flag\" = --options ]; then\n"
    "        kind=values values=$_csan_options open=1 part=${part##*:}\n"
    "        if [[ $part == *=* ]]; then\n"
    "            kind=value values= open=\n"
    "            _csan_option \"${part%%=*}\"\n"
    "            part=${part#*=}\n"
    "        fi\n"
    "    elif [ -z \"$kind\" ] && [ \"$command\" = help ]; then\n"
    "        kind=values values=$_csan_commands\n"
    "    elif [ -z \"$kind\" ]; then\n"
    "        kind=files\n"
    "    fi\n"
    "    [[ $cur == [:=]* ]] || prefix=${cur%\"$part\"}\n"
    "    if [ $kind = values ]; then\n"
    "        COMPREPLY=($(compgen -P \"$prefix\" -W \"$values\" -- \"$part\"))\n"
    "        [ -z \"$open\" ] || [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
    "    elif [ $kind = files ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -f -- \"$part\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -o default -o bashdefault -F _csan csan\n";

static void bash_completion(FILE *out)
{
    fputs("# Completion of csan's command line for bash: csan help --completion=bash\n"
          "_csan_commands='",
          out);
    for (size_t i = 0; i < command_list.count; i++)
        if (command_list.all[i].summary)
            fprintf(out, "%s%s", i ? " " : "", command_list.all[i].name);
    fputs("'\n", out);
    bash_options(out);
    fputs("_csan_command()\n{\n    case $1 in\n", out);
    for (size_t i = 0; i < command_list.count; i++) {
        if (!command_list.all[i].summary)
            continue;
        fprintf(out, "    %s)\n        flags='--help", command_list.all[i].name);
        visit_flags(&command_list.all[i], out, bash_flag);
        fputs("'\n        case $2 in\n        '') ;;\n", out);
        visit_flags(&command_list.all[i], out, bash_values);
        fputs("        esac ;;\n", out);
    }
    fputs("    esac\n}\n", out);
    fputs(bash_function, out);
}

/* Inside of '...[...]...'. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh_flag(FILE *out, const struct flag_words *words)
{
    const struct usage_flag *flag = &words->first;
    fprintf(out, " \\\n            '*%s%s[", flag->name, flag->joined ? "=" : "");
    zsh_text(out, flag->summary);
    fputs("]", out);
    if (strcmp(flag->name, "--options") == 0)
        fputs(":option:_csan_options", out);
    else if (words->values[0])
        fprintf(out, ":value:(%s)", words->values);
    else if (flag->value[0])
        fputs(wants_file(flag) ? ":file:_files" : ":value: ", out);
    fputs("'", out);
}

static void zsh_options(FILE *out)
{
    struct option_text option;
    fputs("_csan_options()\n{\n    _values -s : option", out);
    for (size_t i = 0; options_at(i, &option); i++) {
        fprintf(out, " \\\n        '%s[", option.name);
        zsh_text(out, option.description);
        fputs("]:value:", out);
        if (strchr(option.values, '|')) {
            fputs("(", out);
            for (const char *c = option.values; *c; c++)
                fputc(*c == '|' ? ' ' : *c, out);
            fputs(")", out);
        } else if (strcmp(option.values, "text") == 0) {
            fputs("_files", out);
        }
        fputs("'", out);
    }
    fputs("\n}\n", out);
}

static void zsh_completion(FILE *out)
{
    fputs(
        "#compdef csan\n# Completion of csan's command line for zsh: csan help --completion=zsh\n",
        out);
    zsh_options(out);
    fputs("_csan()\n{\n    local -a commands\n    commands=(", out);
    for (size_t i = 0; i < command_list.count; i++) {
        if (!command_list.all[i].summary)
            continue;
        fprintf(out, "\n        '%s:", command_list.all[i].name);
        zsh_text(out, command_list.all[i].summary);
        fputs("'", out);
    }
    fputs(")\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n"
          "    fi\n    case ${words[2]} in\n",
          out);
    for (size_t i = 0; i < command_list.count; i++) {
        if (!command_list.all[i].summary)
            continue;
        fprintf(out, "    %s)\n        shift words\n        ((CURRENT--))\n        _arguments",
                command_list.all[i].name);
        visit_flags(&command_list.all[i], out, zsh_flag);
        fputs(" \\\n            '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_csan \"$@\"\n", out);
}

bool help_page_completion(FILE *out, const char *shell)
{
    bool is_bash = strcmp(shell, "bash") == 0, is_zsh = strcmp(shell, "zsh") == 0;
    if (is_bash)
        bash_completion(out);
    else if (is_zsh)
        zsh_completion(out);
    return is_bash || is_zsh;
}
