/* Runs the command's constructors. Since glibc 2.34 the C library does, for programs that were
 * linked with 2.34 or later; before, a function that was linked into each program did. The command
 * is linked with a new glibc and runs with old ones, so it brings that function: both call it where
 * it is given (glibc 2.34, csu/libc-start.c). The linker's --wrap puts this between crt1.o and the
 * C library. */
#include "runtime/glibc/glibc.h"

#include <stddef.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void constructor(int argc, char **argv, char **environment);
typedef void function(void);

extern constructor *__preinit_array_start[], *__preinit_array_end[];
extern constructor *__init_array_start[], *__init_array_end[];

int __real___libc_start_main(main_function *main, int argc, char **argv, constructor *init,
                             function *fini, function *loader_fini, void *stack_end);
LACKING int __wrap___libc_start_main(main_function *main, int argc, char **argv, constructor *init,
                                     function *fini, function *loader_fini, void *stack_end);

static void construct(int argc, char **argv, char **environment)
{
    for (constructor **c = __preinit_array_start; c < __preinit_array_end; c++)
        (*c)(argc, argv, environment);
    for (constructor **c = __init_array_start; c < __init_array_end; c++)
        (*c)(argc, argv, environment);
}

int __wrap___libc_start_main(main_function *main, int argc, char **argv, constructor *init,
                             function *fini, function *loader_fini, void *stack_end)
{
    return __real___libc_start_main(main, argc, argv, init ? init : construct, fini, loader_fini,
                                    stack_end);
}
