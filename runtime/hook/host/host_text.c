/* See host_text.h. While no page may be guarded, each function here is a test and a call. */
#include "runtime/hook/host/host_text.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/host/next_call.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#undef puts
#undef fputs

/* The C library's headers declare these with _FORTIFY_SOURCE only. */
int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);
int __vsprintf_chk(char *text, int flag, size_t known, const char *format, va_list list);
int __vsnprintf_chk(char *text, size_t room, int flag, size_t known, const char *format,
                    va_list list);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __sprintf_chk(char *text, int flag, size_t known, const char *format, ...);
int __snprintf_chk(char *text, size_t room, int flag, size_t known, const char *format, ...);

#define CALLS(call)                                                                                \
    call(puts) call(fputs) call(vprintf) call(vfprintf) call(vsprintf) call(vsnprintf)             \
        call(__vprintf_chk) call(__vfprintf_chk) call(__vsprintf_chk) call(__vsnprintf_chk)
NEXT_CALLS(CALLS)

/* Of the innermost of these functions that the thread is in: its frame, and where it returns to. */
static __thread struct {
    uintptr_t frame, caller;
} within __attribute__((tls_model("initial-exec")));

/* One that was left by longjmp, or by the thread's cancellation, lies far away. */
uint64_t host_text_caller(uint64_t stack)
{
    enum { DEEPEST = 64 << 10 };
    return stack < within.frame && within.frame - stack < DEEPEST ? within.caller : 0;
}

/* `made`: the call between, and what it returned. */
#define TEXT(made)                                                                                 \
    if (__builtin_expect(!host_access_guards, 1))                                                  \
        return made;                                                                               \
    const uintptr_t frame = within.frame, caller = within.caller;                                  \
    within.frame = (uintptr_t)__builtin_frame_address(0);                                          \
    within.caller = (uintptr_t)__builtin_return_address(0);                                        \
    const int result = made;                                                                       \
    within.frame = frame;                                                                          \
    within.caller = caller;                                                                        \
    return result

NEXT_EXPORTED int puts(const char *text)
{
    TEXT(NEXT(puts)(text));
}
NEXT_EXPORTED int fputs(const char *restrict text, FILE *restrict file)
{
    TEXT(NEXT(fputs)(text, file));
}
NEXT_EXPORTED int vprintf(const char *restrict format, va_list list)
{
    TEXT(NEXT(vprintf)(format, list));
}
NEXT_EXPORTED int vfprintf(FILE *restrict file, const char *restrict format, va_list list)
{
    TEXT(NEXT(vfprintf)(file, format, list));
}
NEXT_EXPORTED int vsprintf(char *restrict text, const char *restrict format, va_list list)
{
    TEXT(NEXT(vsprintf)(text, format, list));
}
NEXT_EXPORTED int vsnprintf(char *restrict text, size_t room, const char *restrict format,
                            va_list list)
{
    TEXT(NEXT(vsnprintf)(text, room, format, list));
}
NEXT_EXPORTED int __vprintf_chk(int flag, const char *format, va_list list)
{
    TEXT(NEXT(__vprintf_chk)(flag, format, list));
}
NEXT_EXPORTED int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list)
{
    TEXT(NEXT(__vfprintf_chk)(file, flag, format, list));
}
NEXT_EXPORTED int __vsprintf_chk(char *text, int flag, size_t known, const char *format,
                                 va_list list)
{
    TEXT(NEXT(__vsprintf_chk)(text, flag, known, format, list));
}
NEXT_EXPORTED int __vsnprintf_chk(char *text, size_t room, int flag, size_t known,
                                  const char *format, va_list list)
{
    TEXT(NEXT(__vsnprintf_chk)(text, room, flag, known, format, list));
}

/* Those with arguments of their own are made as the ones with a list. */
#define LISTED(last, made)                                                                         \
    va_list list;                                                                                  \
    va_start(list, last);                                                                          \
    const uintptr_t frame = within.frame, caller = within.caller;                                  \
    if (host_access_guards) {                                                                      \
        within.frame = (uintptr_t)__builtin_frame_address(0);                                      \
        within.caller = (uintptr_t)__builtin_return_address(0);                                    \
    }                                                                                              \
    const int result = made;                                                                       \
    within.frame = frame;                                                                          \
    within.caller = caller;                                                                        \
    va_end(list);                                                                                  \
    return result

NEXT_EXPORTED int printf(const char *restrict format, ...)
{
    LISTED(format, NEXT(vprintf)(format, list));
}
NEXT_EXPORTED int fprintf(FILE *restrict file, const char *restrict format, ...)
{
    LISTED(format, NEXT(vfprintf)(file, format, list));
}
NEXT_EXPORTED int sprintf(char *restrict text, const char *restrict format, ...)
{
    LISTED(format, NEXT(vsprintf)(text, format, list));
}
NEXT_EXPORTED int snprintf(char *restrict text, size_t room, const char *restrict format, ...)
{
    LISTED(format, NEXT(vsnprintf)(text, room, format, list));
}
NEXT_EXPORTED int __printf_chk(int flag, const char *format, ...)
{
    LISTED(format, NEXT(__vprintf_chk)(flag, format, list));
}
NEXT_EXPORTED int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    LISTED(format, NEXT(__vfprintf_chk)(file, flag, format, list));
}
NEXT_EXPORTED int __sprintf_chk(char *text, int flag, size_t known, const char *format, ...)
{
    LISTED(format, NEXT(__vsprintf_chk)(text, flag, known, format, list));
}
NEXT_EXPORTED int __snprintf_chk(char *text, size_t room, int flag, size_t known,
                                 const char *format, ...)
{
    LISTED(format, NEXT(__vsnprintf_chk)(text, room, flag, known, format, list));
}
