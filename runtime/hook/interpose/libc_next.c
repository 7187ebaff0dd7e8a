/* See libc_next.h. Never built with a sanitizer, as dlsym.c is not. */
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>

struct libc_next libc_next;

static void *next(const char *name)
{
    return driver_dlsym(RTLD_NEXT, name);
}

__attribute__((constructor(101))) void libc_next_find(void)
{
    Dl_info self;
    libc_next.create_thread = (libc_create *)next("pthread_create"); /* of any version */
    libc_next.getenv = (libc_getenv *)next("getenv");
    libc_next.leave = (libc_leave *)next("_exit");
    libc_next.leave_quickly = (libc_leave *)next("quick_exit");
    libc_next.abort = (libc_abort *)next("abort");
    libc_next.execve = (libc_execve *)next("execve");
    libc_next.execvpe = (libc_execve *)next("execvpe");
    libc_next.fexecve = (libc_fexecve *)next("fexecve");
    libc_next.execveat = (libc_execveat *)next("execveat");
    libc_next.spawn = (libc_spawn *)next("posix_spawn");
    libc_next.spawnp = (libc_spawn *)next("posix_spawnp");
    libc_next.fork = (libc_fork *)next("fork");
    libc_next.vfork = (libc_fork *)next("vfork");
    libc_next.sigaction = (libc_sigaction *)next("sigaction");
    libc_next.signal = (libc_signal *)next("signal");
    libc_next.thread_mask = (libc_sigmask *)next("pthread_sigmask");
    libc_next.process_mask = (libc_sigmask *)next("sigprocmask");
    libc_next.sysv_signal = (libc_signal *)next("__sysv_signal");
    *(void **)&libc_next.attribute_mask = next("pthread_attr_setsigmask_np");
    libc_next.suspend = (libc_suspend *)next("sigsuspend");
    libc_next.ppoll = (libc_ppoll *)next("ppoll");
    libc_next.pselect = (libc_pselect *)next("pselect");
    libc_next.epoll_pwait = (libc_epoll_pwait *)next("epoll_pwait");
    if (dladdr((void *)libc_next_find, &self) && self.dli_fname && self.dli_fname[0] == '/')
        libc_next.library = self.dli_fname;
    __atomic_store_n(&libc_next.found, true, __ATOMIC_RELEASE);
}
