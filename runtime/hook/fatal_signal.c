/* See fatal_signal.h. */
#include "runtime/hook/fatal_signal.h"
#include "runtime/hook/ending.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Those whose default is to end the process, but for SIGKILL, which nothing can wait for, and
 * SIGTRAP, which is the debugger's (signal(7)). */
static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGSYS,  SIGTERM, SIGINT,
                            SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};

/* Of an instruction, not sent by somebody (sigaction(2), si_code). */
static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

/* SA_RESETHAND has put the default back. A fault comes again by itself, at the same instruction. */
static void on_fatal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (ending_is_own_process())
        ending_finish();
    if (!is_fault(number, info))
        raise(number);
}

void fatal_signal_watch(void)
{
    struct sigaction before,
        after = {.sa_sigaction = on_fatal,
                 .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (sigaction(fatal[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(fatal[i], &after, NULL);
}
