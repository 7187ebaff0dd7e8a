/* The shape that most of this library's functions share: what is said of a call before MPI's own
 * function, and behind it.
 *
 * The arguments of such a call are two rows of a table. STEM_PARAMETERS declares them, and
 * STEM_ARGUMENTS(pass) lists them; `pass` gets each buffer, and what reports call it. */
#ifndef RUNTIME_MPI_WRAPPER_H
#define RUNTIME_MPI_WRAPPER_H

#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/request.h"

/* What `pass` is: the buffers of the program, or those that MPI can use. */
#define AS_IT_IS(address, argument) address
#define USABLE(address, argument)   call_usable(&call, address, argument)

/* Defines the function, or MPI_NAME. The lists stand in parentheses, so that their commas stay
 * theirs: parameters, arguments as the program passed them, and those for MPI. `before` says what
 * the call touches, and `behind` sees the `result`; either may be empty. */
#define WRAPPER(name, parameters, arguments, usable, before, behind)                               \
    WRAPPER_OF(MPI_##name, parameters, arguments, usable, before, behind)
#define WRAPPER_OF(function, parameters, arguments, usable, before, behind)                        \
    EXPORTED int function parameters;                                                              \
    int function parameters                                                                        \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, #function))                                                         \
            return ABI_BEHIND(function) arguments;                                                 \
        before;                                                                                    \
        call_inside();                                                                             \
        const int result = ABI_BEHIND(function) usable;                                            \
        behind;                                                                                    \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_BEHIND(function)

/* The forms of a call whose buffers `touch` declares. This one is done when it returns. */
#define BLOCKING(name, stem, touch)                                                                \
    WRAPPER(name, (stem##_PARAMETERS), (stem##_ARGUMENTS(AS_IT_IS)), (stem##_ARGUMENTS(USABLE)),   \
            (touch(&call, stem##_ARGUMENTS(AS_IT_IS)), call_touches(&call)), )

/* This one starts it, and makes a request for the rest. */
#define STARTING(name, stem, touch)                                                                \
    WRAPPER(name, (stem##_PARAMETERS, void *request), (stem##_ARGUMENTS(AS_IT_IS), request),       \
            (stem##_ARGUMENTS(USABLE), request),                                                   \
            (touch(&call, stem##_ARGUMENTS(AS_IT_IS)), call_starts(&call)),                        \
            request_started(&call, result, request))

#endif
