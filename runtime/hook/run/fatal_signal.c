/* See fatal_signal.h. */
#include "runtime/hook/run/fatal_signal.h"
#include "runtime/hook/run/process_exit.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Those whose default is to end the process, but for SIGKILL, which nothing can wait for, and
 * SIGTRAP, which is the debugger's (signal(7)); and the real-time signals. */
static const int fatal[] = {SIGABRT, SIGALRM, SIGBUS,  SIGFPE,  SIGHUP,    SIGILL,  SIGINT,
                            SIGIO,   SIGPIPE, SIGPROF, SIGPWR,  SIGQUIT,   SIGSEGV, SIGSTKFLT,
                            SIGSYS,  SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};

/* Of an instruction, not sent by somebody (sigaction(2), si_code). */
static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

void (*fatal_signal_explain)(int number, const siginfo_t *info, const void *context);

void fatal_signal_end(void)
{
    if (process_exit_is_own_process())
        process_exit_finish(SESSION_END_KILLED, 0);
}

/* SA_RESETHAND has put the default back. A fault comes again by itself, at the same instruction. */
static void on_fatal(int number, siginfo_t *info, void *context)
{
    if (is_fault(number, info) && fatal_signal_explain)
        fatal_signal_explain(number, info, context);
    fatal_signal_end();
    if (!is_fault(number, info))
        raise(number);
}

/* Another thread of the program may set handlers meanwhile: the newest of them stays. What was
 * displaced is put back until nothing but what was put last is displaced by it. */
static void watch(int number)
{
    struct sigaction put = {.sa_sigaction = on_fatal,
                            .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
    struct sigaction newest, displaced;
    if (sigaction(number, NULL, &newest) != 0 || newest.sa_handler != SIG_DFL ||
        sigaction(number, &put, &newest) != 0 || newest.sa_handler == SIG_DFL)
        return;
    while (sigaction(number, &newest, &displaced) == 0 && displaced.sa_handler != put.sa_handler) {
        put = newest;
        newest = displaced;
    }
}

void fatal_signal_watch_faults(void)
{
    watch(SIGSEGV);
}

void fatal_signal_watch(void)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        watch(fatal[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        watch(number);
}
