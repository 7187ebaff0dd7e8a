/* See stack_library.h. */
#include "stack_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum sign {
    SIGN_NAMESPACE, /* the function's name begins with it */
    SIGN_FILE,      /* the source's path has it */
    SIGN_MODULE     /* the name of the library's file begins with it */
};

/* The first that fits. Header-only libraries are known by path, as toolkits and distributions
 * install them, and by namespace wherever else they lie. */
static const struct {
    const char *library, *text;
    enum sign sign;
} table[] = {
    {"Thrust", "/cccl/thrust/", SIGN_FILE},
    {"Thrust", "/include/thrust/", SIGN_FILE},
    {"Thrust", "thrust::", SIGN_NAMESPACE},
    {"CUB", "/cccl/cub/", SIGN_FILE},
    {"CUB", "/include/cub/", SIGN_FILE},
    {"CUB", "cub::", SIGN_NAMESPACE},
    {"libcu++", "/cccl/cuda/", SIGN_FILE},
    {"libcu++", "/include/cuda/", SIGN_FILE},
    {"libcu++", "/libcudacxx/", SIGN_FILE},
    {"libcu++", "cuda::", SIGN_NAMESPACE},
    {"Cooperative Groups", "cooperative_groups::", SIGN_NAMESPACE},
    {"CUTLASS", "/include/cutlass/", SIGN_FILE},
    {"CUTLASS", "/include/cute/", SIGN_FILE},
    {"CUTLASS", "cutlass::", SIGN_NAMESPACE},
    {"CUTLASS", "cute::", SIGN_NAMESPACE},
    {"PyTorch", "-packages/torch/", SIGN_FILE},
    {"PyTorch", "libtorch", SIGN_MODULE},
    {"PyTorch", "libc10", SIGN_MODULE},
    {"PyTorch", "at::", SIGN_NAMESPACE},
    {"PyTorch", "c10::", SIGN_NAMESPACE},
    {"PyTorch", "torch::", SIGN_NAMESPACE},
    {"NumPy", "-packages/numpy/", SIGN_FILE},
    {"CuPy", "-packages/cupy/", SIGN_FILE},
    {"CuPy", "-packages/cupy_backends/", SIGN_FILE},
    {"CuPy", "-packages/cupyx/", SIGN_FILE},
    {"JAX", "-packages/jax/", SIGN_FILE},
    {"JAX", "-packages/jaxlib/", SIGN_FILE},
    {"Numba", "-packages/numba/", SIGN_FILE},
    {"Numba", "-packages/numba_cuda/", SIGN_FILE},
    {"Triton", "-packages/triton/", SIGN_FILE},
    {"Python packages", "-packages/", SIGN_FILE},
    {"Python", "/lib/python3", SIGN_FILE},
    {"Python", "libpython", SIGN_MODULE},
    {"NVIDIA's libraries", "libcublas", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn", SIGN_MODULE},
    {"NVIDIA's libraries", "libcufft", SIGN_MODULE},
    {"NVIDIA's libraries", "libcurand", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusolver", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusparse", SIGN_MODULE},
    {"NVIDIA's libraries", "libnccl", SIGN_MODULE},
    {"NVIDIA's libraries", "libnvJitLink", SIGN_MODULE},
    {"NVIDIA's libraries", "libnvrtc", SIGN_MODULE},
    {"the C++ standard library", "/include/c++/", SIGN_FILE},
    {"the C++ standard library", "std::", SIGN_NAMESPACE},
    {"the C++ standard library", "__gnu_cxx::", SIGN_NAMESPACE},
    {"the C++ standard library", "libstdc++.", SIGN_MODULE},
    {"the C++ standard library", "libc++.", SIGN_MODULE},
    {"OpenMP", "libgomp.", SIGN_MODULE},
    {"OpenMP", "libomp.", SIGN_MODULE},
    {"OpenMP", "libiomp5.", SIGN_MODULE},
    {"the C library", "libc.", SIGN_MODULE},
    {"the C library", "libc-", SIGN_MODULE}, /* glibc before 2.34 */
    {"the C library", "libpthread", SIGN_MODULE},
    {"the C library", "ld-linux", SIGN_MODULE},
};

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Where the function's own name begins: a template's instance has its return type before it, "void
 * thrust::sort<...>(...)". */
static const char *qualified_name(const char *function)
{
    const char *name = function;
    int depth = 0;
    for (const char *at = function; *at; at++) {
        if (*at == '(' && depth == 0 && !begins(at, "(anonymous namespace)"))
            break;
        if (begins(at, "operator"))
            break;
        if (*at == '<' || *at == '(')
            depth++;
        else if (*at == '>' || *at == ')')
            depth--;
        else if (*at == ' ' && depth == 0)
            name = at + 1;
    }
    return name;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *stack_library(const char *function, const char *file, const char *module)
{
    const char *name = function && module ? qualified_name(function) : NULL;
    if (file && file[0] == '<' && !module) /* "<frozen importlib._bootstrap>" */
        return "Python";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *text = table[i].text;
        const enum sign sign = table[i].sign;
        const bool fits = sign == SIGN_NAMESPACE ? name && begins(name, text)
                          : sign == SIGN_MODULE
                              ? module && begins(base_name(module), text)
                              : (file && strstr(file, text)) || (module && strstr(module, text));
        if (fits)
            return table[i].library;
    }
    return NULL;
}
