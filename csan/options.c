#include "csan/options.h"
#include "csan/base/nearest.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_type {
    OPTION_BOOL,
    OPTION_SWITCH,
    OPTION_INTEGER,
    OPTION_WORD,
    OPTION_PATH,
    OPTION_KERNELS /* 0: none, 1: all; kernel:NAME */
};

static const char kernels_prefix[] = "kernel:";

#define FIELD(name) #name, offsetof(struct options, name)
static const struct {
    const char *name;
    size_t offset;
    enum option_type type;
    const char *initial;
    const char *range; /* WORD: the words allowed, by '|'; INTEGER: "low..high" */
    const char *description;
} table[] = {
    {FIELD(halt_on_error), OPTION_SWITCH, "auto", NULL,
     "End the program with `exitcode` at the first report; under PyTorch, with the exception of "
     "its own sanitizer. auto: under PyTorch only."},
    {FIELD(exitcode), OPTION_INTEGER, "66", "0..255",
     "End with this code if there were races or other findings: a program that would have ended "
     "with 0, and csan run however the processes below it ended."},
    {FIELD(abort_on_error), OPTION_BOOL, "0", NULL,
     "End a program that had races with abort(), for a debugger or a core dump, where it would end "
     "with `exitcode`: with halt_on_error=1 at the first report, else at exit."},
    {FIELD(fail_on), OPTION_WORD, "race", "race|possible",
     "Choose what makes the exit code `exitcode`: races, or possible races too. Findings that are "
     "no races (option errors) always do."},
    {FIELD(errors), OPTION_WORD, "auto", "auto|off",
     "Find what goes wrong beside races: accesses out of bounds, uses of freed memory, and which "
     "launch, thread and line it was when a kernel fails."},
    {FIELD(launch_blocking), OPTION_KERNELS, "0", NULL,
     "1: wait after each kernel launch until the kernel has ended, and launch graphs node by node; "
     "kernel:NAME: after those of kernels whose name matches, with wildcards *, ^ and $. A kernel "
     "that fails is then reported by its own launch."},
    {FIELD(leak_check), OPTION_BOOL, "0", NULL,
     "At exit, list the memory that was never freed, by where it was allocated: the largest first, "
     "at "
     "most report_limit places."},
    {FIELD(init_check), OPTION_BOOL, "0", NULL,
     "Find exact reads of kernels from memory that nothing has written since it was allocated."},
    {FIELD(oom), OPTION_WORD, "auto", "auto|1|off",
     "Say what held the memory when an allocation failed for want of it. auto: if the program "
     "ends with a code that is not 0, by abort or by a signal. An allocation of that size that "
     "succeeds later keeps it silent. 1: at once, each place once."},
    {FIELD(log_path), OPTION_PATH, "stderr", NULL,
     "Write reports there: stderr, stdout, or a file. In its name %p is the process id, %r the "
     "rank (of mpirun, torchrun, srun) and %h the machine. Where there is no %p and no rank, "
     "\".PID\" is appended."},
    {FIELD(format), OPTION_WORD, "text", "text|json|sarif",
     "Write reports in words, or one document for tools: csan's JSON (csan-report.schema.json) or "
     "SARIF 2.1.0. log_path says where it goes; a file is whole after every finding."},
    {FIELD(verbosity), OPTION_INTEGER, "0", "0..3",
     "1 and more: say what csan does (device chosen, entry points not known, counters)."},
    {FIELD(help), OPTION_BOOL, "0", NULL, "Print this help."},
    {FIELD(print_summary), OPTION_BOOL, "1", NULL, "Print the summary line at exit."},
    {FIELD(report_limit), OPTION_INTEGER, "0", "0..1000000000",
     "Print at most this many reports; 0: all. Later races are still counted."},
    {FIELD(suppressions), OPTION_PATH, "", NULL,
     "Read this file of suppressions, in ThreadSanitizer's format. Its lines are race:NAME, "
     "race_top:NAME, kernel:NAME, lib:NAME, called_from_lib:NAME, pair:ONE <-> OTHER, "
     "fingerprint:NUMBER or error:KIND NAME. Names have wildcards: *, ^ and $. A finding that one "
     "matches "
     "is counted apart and is no failure."},
    {FIELD(baseline), OPTION_PATH, "", NULL,
     "Report only findings that are not in this file: a report in JSON (format=json) of an earlier "
     "run, or, for the csan command, a recording. What is in it is counted as known and is no "
     "failure. If the file cannot be used, csan says so and reports everything."},
    {FIELD(print_suppressions), OPTION_BOOL, "1", NULL,
     "Print at exit which suppressions matched, and how often."},
    {FIELD(dedup), OPTION_BOOL, "1", NULL,
     "Report a pair of sites (API or kernel, and stack) once; 0: every pair of accesses."},
    {FIELD(stacks), OPTION_BOOL, "1", NULL, "Record a host stack with every access."},
    {FIELD(stack_depth), OPTION_INTEGER, "32", "1..64", "Keep so many frames of each stack."},
    {FIELD(full_stacks), OPTION_BOOL, "0", NULL,
     "Show all frames of stacks; 0: those of well-known libraries (Thrust, CUB, PyTorch, NumPy, "
     "the "
     "C++ standard library and the like) are one line each stretch. Reports in PyTorch's wording "
     "show all."},
    {FIELD(native_stacks), OPTION_BOOL, "0", NULL,
     "Under PyTorch: record the native frames that Python called, too."},
    {FIELD(python_stacks), OPTION_BOOL, "1", NULL,
     "Read the stacks of CPython 3.8 to 3.14 without its lock. 0: native frames alone; under "
     "PyTorch, csan asks Python for them and waits for its lock."},
    {FIELD(python_pools), OPTION_BOOL, "1", NULL,
     "Follow the memory pools of CuPy, RMM and Numba's plug-ins, and let JAX use CUDA's own pool. "
     "0: "
     "csan sees the pools' whole allocations only."},
    {FIELD(operators), OPTION_BOOL, "1", NULL,
     "Under PyTorch: follow its operators; 0: launches and memory alone, as of any program."},
    {FIELD(operator_summaries), OPTION_BOOL, "1", NULL,
     "Under PyTorch: keep what operators made of launches, and follow operators only while a "
     "launch is new. 0: follow them all the time."},
    {FIELD(verify_operators), OPTION_BOOL, "0", NULL,
     "Under PyTorch: follow operators all the time, compare each with what operator_summaries "
     "would say, and count differences in the summary. For tests of csan itself."},
    {FIELD(symbolize), OPTION_BOOL, "1", NULL,
     "Resolve stacks to functions and lines, and demangle kernel names, in a helper process."},
    {FIELD(external_symbolizer_path), OPTION_PATH, "", NULL,
     "Use this csan command as the helper; empty: the one that belongs to this library."},
    {FIELD(strip_path_prefix), OPTION_PATH, "", NULL,
     "Leave this beginning out of source paths in reports."},
    {FIELD(color), OPTION_WORD, "auto", "auto|always|never",
     "Colour reports; auto: only on a terminal, and not where NO_COLOR is set."},
    {FIELD(record), OPTION_PATH, "", NULL,
     "Record what csan sees into this file, for csan replay; %p, %r and %h as in log_path. A file "
     "that is there already is left alone, and \".PID\" is appended; in a name with %r, before its "
     "ending."},
    {FIELD(check), OPTION_BOOL, "1", NULL,
     "Look for races; 0: only record, for csan replay to look for them."},
    {FIELD(strict_free), OPTION_BOOL, "0", NULL,
     "Report memory freed while a stream uses it, though the driver was seen to wait inside the "
     "free; that wait still orders the rest. It is the older name of a part of "
     "implicit_sync=promised."},
    {FIELD(implicit_sync), OPTION_WORD, "observed", "observed|promised|none",
     "Choose which waits inside calls that are no synchronization count as order. promised: those "
     "that the documentation promises. observed: also that a free waits for its device. none: all "
     "copies and sets are taken as asynchronous. Reports say what hardware was seen to order."},
    {FIELD(host), OPTION_WORD, "auto", "auto|off|guard|content|guard+content|instrumented",
     "Choose whether csan sees the host's own loads and stores of pinned, registered and managed "
     "memory. auto: as guard under csan run, else as off. off: those alone that csan_host_reads "
     "and csan_host_writes say. guard: pages that "
     "the device may still touch are guarded until the host has waited for it. content: what "
     "pinned sources of pending work hold is hashed, and compared once the host has waited for "
     "it. guard+content: both. instrumented: code that is compiled with -fsanitize=thread and "
     "linked with -lcsan_host announces each."},
    {FIELD(host_guard_mb), OPTION_INTEGER, "256", "1..65536",
     "Guard at most so much memory at a time, in MiB (option host=guard). What goes beyond is not "
     "checked, and counted."},
    {FIELD(host_guard_us), OPTION_INTEGER, "20000", "1..1000000",
     "Spend at most so many microseconds a second on changes of pages (option host=guard), and as "
     "many on hashes (host=content). What goes beyond is not checked, and counted."},
    {FIELD(host_order), OPTION_WORD, "observed", "observed|threads",
     "Choose what orders host threads. observed: the order in which their calls reached csan. "
     "threads: only pthread_create, pthread_join and the synchronization between."},
    {FIELD(mpi), OPTION_BOOL, "1", NULL,
     "Check what MPI's functions do with memory: csan run preloads libcsan_mpi.so. 0: it does "
     "not."},
    {FIELD(device), OPTION_WORD, "auto", "auto|gpu|embedded",
     "Choose where a program linked with -lcsan runs: auto takes a GPU where there is one, else "
     "the embedded device. CSAN_DEVICE goes before it."},
    {FIELD(access), OPTION_WORD, "auto", "auto|ptx|learn|exact",
     "Choose how csan learns what a kernel touches, besides annotations and what it knows of "
     "libraries. ptx: from its PTX alone. auto: from its PTX where that is exact, else from what "
     "the embedded device saw or from earlier launches on a GPU. learn: from earlier launches, for "
     "every kernel. exact: from a trace of every launch (slow on a GPU)."},
    {FIELD(learn_launches), OPTION_INTEGER, "2", "1..64",
     "Once so many launches of a kernel touched the same memory, assume that later ones do, too."},
    {FIELD(learn_values), OPTION_INTEGER, "4", "2..256",
     "Assume that four bytes of the parameters have no effect (seeds, step counts) once so many of "
     "their values gave the same accesses."},
    {FIELD(learn_cache_mb), OPTION_INTEGER, "64", "0..65536",
     "Keep learned accesses for later runs in ~/.cache/csan (or XDG_CACHE_HOME, or CSAN_CACHE), at "
     "most so many megabytes; 0: keep none."},
    {FIELD(learn_memory_mb), OPTION_INTEGER, "256", "0..65536",
     "Use at most so many megabytes of a GPU's memory, in each context, for traces of launches "
     "that csan learns from. A launch needs 13. 0: trace nothing on a GPU."},
    {FIELD(learn_warmup_ms), OPTION_INTEGER, "5000", "0..86400000",
     "At the beginning, tracing of launches may slow the program down by so many milliseconds. "
     "After that, it may by a twentieth of its time."},
    {FIELD(learn_confirm_ms), OPTION_INTEGER, "50", "0..86400000",
     "At the beginning, checking what was learned may slow the program down by so many "
     "milliseconds on a GPU. After that, it may by a hundredth of its time."},
    {FIELD(learn_every), OPTION_INTEGER, "8", "1..1000000",
     "Once a run knew all kernels that it launched, only one run in this many traces launches on a "
     "GPU again."},
    {FIELD(trace), OPTION_BOOL, "1", NULL,
     "Use what the embedded device saw a launch touch where its PTX does not say it exactly; 0: "
     "only what PTX says, unless option access is learn or exact."},
    {FIELD(verify_ranges), OPTION_BOOL, "0", NULL,
     "On the embedded device: compare what each launch touched with what its PTX said; where they "
     "differ, say so and end the program with 70. For tests of csan itself."},
    {FIELD(drop_sync), OPTION_INTEGER, "0", "0..1000000000",
     "On the embedded device: leave out the program's K-th synchronization, as if the program did "
     "not make it; 0: none. Synchronizations are a stream's wait for an event, and event, stream "
     "and device synchronize. csan mutate tries each."},
    {FIELD(list_syncs), OPTION_BOOL, "0", NULL,
     "On the embedded device: name each synchronization with its number and where it is, and after "
     "each report the race in one line."},
    {FIELD(add_order), OPTION_PATH, "", NULL,
     "Put these orders into the program; csan fix proves its proposals by it. Commas separate "
     "them. FROM and TO are places of calls, as format=json has them. FROM-TO: what is called at "
     "TO waits for an event that is recorded behind, or at, FROM; between nodes of one graph it is "
     "a dependency. host-FROM-TO: the host waits, before it calls TO. behind-FROM: it waits right "
     "behind FROM. no-overlap-PLACE: the launch there is made without programmatic stream "
     "serialization. stream-PLACE-N: the memset or copy there is made in the N-th stream that the "
     "program creates."},
    {FIELD(count_unordered), OPTION_BOOL, "0", NULL,
     "Count the pairs of the device's operations that nothing orders, and say so in the summary: "
     "how much may run at the same time."},
    {FIELD(deferred_limit), OPTION_INTEGER, "1024", "0..4096",
     "At most so many launches, memory sets and pool blocks wait to be checked by a thread of "
     "csan's while the program goes on. Other calls of the driver wait for that thread. 0: each is "
     "checked within its call, as on a machine with one processor."},
    {FIELD(pending_limit), OPTION_INTEGER, "65536", "1..100000000",
     "At most so many ops wait until csan knows what they touch; beyond that, the oldest is "
     "checked with what is known so far."},
    {FIELD(pending_timeout_ms), OPTION_INTEGER, "2000", "0..100000000",
     "An op waits at most so many milliseconds until csan knows what it touches; 0: for ever."},
    {FIELD(strided_cap), OPTION_INTEGER, "1024", "1..1000000",
     "At most so many strided accesses are remembered for each allocation; beyond that, the oldest "
     "is forgotten."},
};
#undef FIELD
enum { OPTION_COUNT = sizeof(table) / sizeof(table[0]) };

/* ---- values */

static int fail(char *message, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(char *message, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (bytes)
        vsnprintf(message, bytes, format, arguments);
    va_end(arguments);
    return -1;
}

static bool word_allowed(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (const char *word = words; *word;) {
        size_t word_length = strcspn(word, "|");
        if (word_length == length && strncmp(word, value, length) == 0)
            return true;
        word += word_length + (word[word_length] == '|');
    }
    return false;
}

static bool parse_bool(const char *value, int *result)
{
    static const char *const yes[] = {"1", "true", "yes"}, *const no[] = {"0", "false", "no"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, yes[i]) == 0 || strcmp(value, no[i]) == 0) {
            *result = strcmp(value, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool parse_integer(const char *value, const char *range, int *result)
{
    int low = 0, high = INT_MAX;
    char *end;
    if (range)
        sscanf(range, "%d..%d", &low, &high);
    errno = 0;
    long number = strtol(value, &end, 10);
    if (end == value || *end || errno || number < low || number > high)
        return false;
    *result = (int)number;
    return true;
}

/* A bool, written as 0 or 1, or what the launches' kernels are called. */
static bool parse_kernels(const char *value, char *field)
{
    const size_t prefix = sizeof kernels_prefix - 1;
    int all;
    if (parse_bool(value, &all)) {
        memcpy(field, all ? "1" : "0", 2);
        return true;
    }
    if (strncmp(value, kernels_prefix, prefix) != 0 ||
        !value[prefix + strspn(value + prefix, "*^$ ")] || strlen(value) >= OPTION_TEXT_MAX)
        return false;
    memcpy(field, value, strlen(value) + 1);
    return true;
}

static int set(struct options *options, int index, const char *value, char *message, size_t bytes)
{
    void *field = (char *)options + table[index].offset;
    const char *name = table[index].name;
    switch (table[index].type) {
    case OPTION_BOOL:
        if (!parse_bool(value, field))
            return fail(message, bytes, "option %s=%s: write %s=0 or %s=1", name, value, name,
                        name);
        return 0;
    case OPTION_SWITCH:
        if (strcmp(value, "auto") == 0)
            *(int *)field = OPTION_AUTO;
        else if (!parse_bool(value, field))
            return fail(message, bytes, "option %s=%s: write %s=0, %s=1 or %s=auto", name, value,
                        name, name, name);
        return 0;
    case OPTION_INTEGER:
        if (!parse_integer(value, table[index].range, field))
            return fail(message, bytes, "option %s=%s: write a whole number in %s", name, value,
                        table[index].range);
        return 0;
    case OPTION_WORD:
        if (!word_allowed(table[index].range, value))
            return fail(message, bytes, "option %s=%s: write one of %s", name, value,
                        table[index].range);
        break;
    case OPTION_PATH:
        break;
    case OPTION_KERNELS:
        if (!parse_kernels(value, field))
            return fail(message, bytes, "option %s=%s: write %s=0, %s=1 or %s=kernel:NAME", name,
                        value, name, name, name);
        return 0;
    }
    if (strlen(value) >= OPTION_TEXT_MAX)
        return fail(message, bytes, "option %s: its value is longer than %d characters", name,
                    OPTION_TEXT_MAX - 1);
    memcpy(field, value, strlen(value) + 1);
    return 0;
}

/* ---- names */

static int find(const char *name)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(table[i].name, name) == 0)
            return i;
    return -1;
}

/* Names of versions before 0.3. They work, with a note, and version 0.4 will not have them. */
static const struct {
    const char *name, *now, *note;
} old_names[] = {
    {"backlog", "deferred_limit",
     "option backlog is now called deferred_limit; version 0.4 will not have the old name"},
};

/* As find, of an old name, too; then it is noted in the options. */
static int find_any(struct options *options, const char *name)
{
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (strcmp(old_names[i].name, name) == 0) {
            options->old_name = old_names[i].note;
            return find(old_names[i].now);
        }
    return find(name);
}

static const char *name_at(const void *names, size_t index)
{
    (void)names;
    return table[index].name;
}

static int unknown(const char *name, char *message, size_t bytes)
{
    const char *nearest = nearest_name(name, name_at, NULL, OPTION_COUNT);
    if (nearest)
        return fail(message, bytes, "there is no option '%s'; did you mean '%s'? help=1 lists all",
                    name, nearest);
    return fail(message, bytes, "there is no option '%s'; help=1 lists all", name);
}

/* ---- text */

static bool is_separator(char c)
{
    return c == ':' || c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copy up to the next character of `stops`; -1: longer than `bytes`. */
static int take(const char **text, const char *stops, char *word, size_t bytes)
{
    size_t length = strcspn(*text, stops);
    if (length >= bytes)
        return -1;
    memcpy(word, *text, length);
    word[length] = '\0';
    *text += length;
    return 0;
}

/* The separator in kernel:NAME is a part of the value. */
static size_t take_prefix(const char **text, int index, char *value)
{
    const size_t length = sizeof kernels_prefix - 1;
    if (table[index].type != OPTION_KERNELS || strncmp(*text, kernels_prefix, length) != 0)
        return 0;
    memcpy(value, kernels_prefix, length);
    *text += length;
    return length;
}

static int take_value(const char **text, int index, char *value, char *message, size_t bytes)
{
    const char *name = table[index].name;
    char quote = **text;
    if (quote != '\'' && quote != '"') {
        const size_t prefix = take_prefix(text, index, value);
        if (take(text, ":, \t\n\r", value + prefix, OPTION_TEXT_MAX - prefix) != 0)
            return fail(message, bytes, "option %s: its value is longer than %d characters", name,
                        OPTION_TEXT_MAX - 1);
        return 0;
    }
    ++*text;
    char stop[2] = {quote, '\0'};
    if (take(text, stop, value, OPTION_TEXT_MAX) != 0 || **text != quote)
        return fail(message, bytes, "option %s: the quote %c is not closed", name, quote);
    ++*text;
    return 0;
}

int options_parse(struct options *options, const char *text, char *message, size_t message_bytes)
{
    char name[64], value[OPTION_TEXT_MAX];
    for (;;) {
        while (is_separator(*text))
            text++;
        if (!*text)
            return 0;
        const char *start = text;
        if (take(&text, "=:, \t\n\r", name, sizeof(name)) != 0)
            return fail(message, message_bytes, "there is no option '%.40s...'; help=1 lists all",
                        start);
        if (*text != '=')
            return fail(message, message_bytes, "option '%s' has no value: write %s=VALUE", name,
                        name);
        text++;
        int index = find_any(options, name);
        if (index < 0)
            return unknown(name, message, message_bytes);
        if (take_value(&text, index, value, message, message_bytes) != 0 ||
            set(options, index, value, message, message_bytes) != 0)
            return -1;
    }
}

void options_default(struct options *options)
{
    char message[128];
    memset(options, 0, sizeof(*options));
    for (int i = 0; i < OPTION_COUNT; i++)
        set(options, i, table[i].initial, message, sizeof(message));
}

/* What may be written after the name. */
static const char *value_words(int index)
{
    switch (table[index].type) {
    case OPTION_BOOL:
        return "0|1";
    case OPTION_SWITCH:
        return "auto|0|1";
    case OPTION_PATH:
        return "text";
    case OPTION_KERNELS:
        return "0|1|kernel:NAME";
    default:
        return table[index].range;
    }
}

bool options_at(size_t index, struct option_text *text)
{
    if (index >= OPTION_COUNT)
        return false;
    *text = (struct option_text){table[index].name, table[index].initial, value_words((int)index),
                                 table[index].description};
    return true;
}

size_t options_help(char *text, size_t bytes)
{
    size_t length = 0;
    for (int i = 0; i < OPTION_COUNT; i++) {
        int written =
            snprintf(length < bytes ? text + length : NULL, length < bytes ? bytes - length : 0,
                     "  %s=%s  (%s)\n      %s\n", table[i].name, table[i].initial, value_words(i),
                     table[i].description);
        length += (size_t)written;
    }
    return length;
}
