/* csan's options: CSAN_OPTIONS=key=value:key=value, in the style of TSAN_OPTIONS.
 *
 * One table in options.c gives name, type, default and description; parsing, help and the proposals
 * for misspelt names come from it. */
#ifndef CSAN_OPTIONS_H
#define CSAN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { OPTION_TEXT_MAX = 1024, OPTION_AUTO = -1 };

struct options {
    /* integers; booleans are 0 or 1 */
    int halt_on_error; /* OPTION_AUTO too */
    int exitcode;
    int verbosity;
    int help;
    int strict_free;
    int dedup;
    int report_limit;
    int symbolize;
    int stacks;
    int stack_depth;
    int full_stacks;
    int native_stacks;
    int python_stacks;
    int python_pools;
    int operators;
    int deferred_limit;
    int pending_limit;
    int pending_timeout_ms;
    int strided_cap;
    int print_summary;
    int trace;
    int learn_launches;
    int learn_values;
    int learn_cache_mb;
    int learn_memory_mb;
    int learn_warmup_ms;
    int learn_confirm_ms;
    int learn_every;
    int verify_ranges;
    int drop_sync;
    int list_syncs;
    int count_unordered;
    int check;
    int print_suppressions;
    int abort_on_error;
    int host_guard_mb;
    int operator_summaries;
    int verify_operators;
    int host_guard_us;
    int leak_check;
    int init_check;
    /* words and paths */
    char access[OPTION_TEXT_MAX];
    char errors[OPTION_TEXT_MAX];
    char launch_blocking[OPTION_TEXT_MAX];
    char oom[OPTION_TEXT_MAX];
    char add_order[OPTION_TEXT_MAX];
    char fail_on[OPTION_TEXT_MAX];
    char log_path[OPTION_TEXT_MAX];
    char color[OPTION_TEXT_MAX];
    char format[OPTION_TEXT_MAX];
    char device[OPTION_TEXT_MAX];
    char host[OPTION_TEXT_MAX];
    char host_order[OPTION_TEXT_MAX];
    int mpi;
    char implicit_sync[OPTION_TEXT_MAX];
    char external_symbolizer_path[OPTION_TEXT_MAX];
    char record[OPTION_TEXT_MAX];
    char strip_path_prefix[OPTION_TEXT_MAX];
    char suppressions[OPTION_TEXT_MAX];
    char baseline[OPTION_TEXT_MAX];
    const char *old_name; /* a line for the user: an option was set by its old name; or NULL */
};

void options_default(struct options *options);

/* Apply "key=value" settings separated by ':', ',' or white space; a value in '' or "" may hold
 * them. Settings before the first wrong one are applied. Returns 0, or -1 with `message` saying
 * which key or value is wrong and what to write instead. */
int options_parse(struct options *options, const char *text, char *message, size_t message_bytes);

/* A line of the table. */
struct option_text {
    const char *name, *initial;
    const char *values; /* what may be written: "0|1", "0..3", "text" */
    const char *description;
};
/* False: there are no more. */
bool options_at(size_t index, struct option_text *text);

/* The help text: one paragraph an option, with its default. Returns the length; like snprintf,
 * writes at most `bytes`. */
size_t options_help(char *text, size_t bytes);

#endif
