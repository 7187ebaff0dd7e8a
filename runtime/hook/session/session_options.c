/* See session_options.h. */
#include "runtime/hook/session/session_options.h"
#include "csan/base/thread_sanitizer.h"
#include "csan/base/environment.h"
#include "csan/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct options all;
    struct session_options options;
    bool restarted;
} settings;

const struct options *session_all_options(void)
{
    return &settings.all;
}

const struct session_options *session_options(void)
{
    return &settings.options;
}

/* Before there is a report to write to. The process that this one was forked from has said it. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    if (settings.restarted)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_make_plain(line);
    fprintf(stderr, "csan: %s\n", line);
}

/* What is neither yes nor no is taken as yes: a program that is silently not checked is worse. */
bool session_is_wanted(bool restarted)
{
    const char *value = environment_get("CSAN");
    const enum environment_switch choice = environment_switch_of(value);
    settings.restarted = restarted;
    if (choice == ENVIRONMENT_UNCLEAR)
        say("CSAN is '%.32s', which is neither yes nor no; it is taken as yes. Set CSAN=1 to check "
            "the program, CSAN=0 not to",
            value);
    return choice != ENVIRONMENT_OFF;
}

static uint8_t implicit_option(void)
{
    return strcmp(settings.all.implicit_sync, "none") == 0       ? IMPLICIT_NONE
           : strcmp(settings.all.implicit_sync, "promised") == 0 ? IMPLICIT_PROMISED
                                                                 : IMPLICIT_OBSERVED;
}

/* Of option launch_blocking, as session_options has it. */
static const char *blocking_option(void)
{
    const char *value = settings.all.launch_blocking, *name = strchr(value, ':');
    if (name)
        return name + 1;
    return strcmp(value, "1") == 0 ? "" : NULL;
}

/* In a new thread libcsan_threads would come before ThreadSanitizer's run-time, and the program
 * would crash. */
static bool host_observed(void)
{
    if (strcmp(settings.all.host_order, "observed") == 0)
        return true;
    if (thread_sanitizer_is_here() && !settings.restarted)
        say("host_order=threads does not work beside ThreadSanitizer: the order is that in which "
            "calls reach csan, as with host_order=observed");
    return thread_sanitizer_is_here();
}

/* A setting that is wrong costs itself and what follows it, never the check or the program. */
void session_options_read(void)
{
    char message[256];
    const char *text = environment_get("CSAN_OPTIONS");
    options_default(&settings.all);
    if (text && options_parse(&settings.all, text, message, sizeof message) != 0)
        say("CSAN_OPTIONS: %s; the rest of CSAN_OPTIONS is ignored", message);
    if (settings.all.old_name && !settings.restarted)
        say("CSAN_OPTIONS: %s", settings.all.old_name);
    if (settings.all.help && !settings.restarted) {
        size_t bytes = options_help(NULL, 0) + 1;
        char *help = malloc(bytes);
        if (help) {
            options_help(help, bytes);
            fputs(help, stderr);
        }
        free(help);
    }
    if (strcmp(settings.all.host, "auto") == 0) /* csan run chooses for its programs */
        strcpy(settings.all.host, "off");
    settings.options = (struct session_options){
        .strict_free = settings.all.strict_free != 0,
        .host_observed = host_observed(),
        .implicit_sync = implicit_option(),
        .access = access_rule_of(settings.all.access, settings.all.trace != 0),
        .errors = strcmp(settings.all.errors, "off") != 0,
        .learn_launches = settings.all.learn_launches,
        .learn_values = settings.all.learn_values,
        .learn_cache_mb = settings.all.learn_cache_mb,
        .learn_memory_mb = settings.all.learn_memory_mb,
        .learn_warmup_ms = settings.all.learn_warmup_ms,
        .learn_confirm_ms = settings.all.learn_confirm_ms,
        .learn_every = settings.all.learn_every,
        .blocking = blocking_option(),
        .verify_ranges = settings.all.verify_ranges != 0,
        .list_syncs = settings.all.list_syncs != 0,
        .drop_sync = settings.all.drop_sync,
        .add_order = settings.all.add_order,
        .verbosity = settings.all.verbosity,
        .pending_timeout_ms = settings.all.pending_timeout_ms,
        .pending_limit = settings.all.pending_limit,
        .native_stacks = settings.all.native_stacks != 0,
        .stack_depth = settings.all.stacks ? (size_t)settings.all.stack_depth : 0};
}
