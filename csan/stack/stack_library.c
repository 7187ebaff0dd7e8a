/* See stack_library.h. */
#include "csan/stack/stack_library.h"
#include "csan/base/path_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum sign {
    SIGN_NAMESPACE, /* the function's name begins with it */
    SIGN_FUNCTION,  /* the function's name */
    SIGN_FILE,      /* the source's path has it */
    SIGN_PACKAGE,   /* the source or the library's file is of that Python package; "": of any */
    SIGN_MODULE     /* the library's file is called so, before ".so.1" and the like */
};

/* The first that fits. Header-only libraries are known by path, as toolkits and distributions
 * install them, and by namespace wherever else they lie. What programs call folders, namespaces and
 * libraries of their own is no sign: include/cuda/, cuda::, libtorch_ops.so. */
static const struct known {
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
    {"libcu++", "/include/cuda/std/", SIGN_FILE},
    {"libcu++", "/libcudacxx/", SIGN_FILE},
    {"libcu++", "cuda::std::", SIGN_NAMESPACE},
    {"libcu++", "cuda::__", SIGN_NAMESPACE}, /* cuda::__4: all that is not in cuda::std */
    {"Cooperative Groups", "cooperative_groups::", SIGN_NAMESPACE},
    {"CUTLASS", "/include/cutlass/", SIGN_FILE},
    {"CUTLASS", "cutlass::", SIGN_NAMESPACE},
    {"CUTLASS", "cute::", SIGN_NAMESPACE},
    {"NVTX", "/nvtx3/nvToolsExt", SIGN_FILE},
    {"NVTX", "/nvtx3/nvtxDetail/", SIGN_FILE},
    {"PyTorch", "torch", SIGN_PACKAGE},
    {"PyTorch", "libtorch", SIGN_MODULE},
    {"PyTorch", "libtorch_cpu", SIGN_MODULE},
    {"PyTorch", "libtorch_cuda", SIGN_MODULE},
    {"PyTorch", "libtorch_cuda_linalg", SIGN_MODULE},
    {"PyTorch", "libtorch_python", SIGN_MODULE},
    {"PyTorch", "libc10", SIGN_MODULE},
    {"PyTorch", "libc10_cuda", SIGN_MODULE},
    {"PyTorch", "at::", SIGN_NAMESPACE},
    {"PyTorch", "c10::", SIGN_NAMESPACE},
    {"PyTorch", "torch::", SIGN_NAMESPACE},
    {"csan", "/csan_pools/", SIGN_FILE},
    {"csan", "libcsan", SIGN_MODULE},
    {"the driver", "libcuda", SIGN_MODULE},
    {"RMM", "rmm", SIGN_PACKAGE},
    {"RMM", "librmm", SIGN_PACKAGE},
    {"NumPy", "numpy", SIGN_PACKAGE},
    {"CuPy", "cupy", SIGN_PACKAGE},
    {"CuPy", "cupy_backends", SIGN_PACKAGE},
    {"CuPy", "cupyx", SIGN_PACKAGE},
    {"JAX", "jax", SIGN_PACKAGE},
    {"JAX", "jaxlib", SIGN_PACKAGE},
    {"Numba", "numba", SIGN_PACKAGE},
    {"Numba", "numba_cuda", SIGN_PACKAGE},
    {"Triton", "triton", SIGN_PACKAGE},
    {"Python packages", "", SIGN_PACKAGE},
    {"Python", "/lib/python3.", SIGN_FILE},
    {"Python", "libpython3", SIGN_MODULE},
    {"Python", "python", SIGN_MODULE}, /* the interpreter's executable */
    {"Python", "python3", SIGN_MODULE},
    {"MPI", "libmpi", SIGN_MODULE}, /* Open MPI's, and MPICH's own name */
    {"MPI", "libmpi_mpifh", SIGN_MODULE},
    {"MPI", "libmpi_usempi_ignore_tkr", SIGN_MODULE},
    {"MPI", "libmpi_usempif08", SIGN_MODULE},
    {"MPI", "libopen-pal", SIGN_MODULE},
    {"MPI", "libmpich", SIGN_MODULE}, /* Debian's name */
    {"MPI", "libmpichfort", SIGN_MODULE},
    {"MPI", "libmpifort", SIGN_MODULE},
    {"MPI", "libucp", SIGN_MODULE},
    {"MPI", "libuct", SIGN_MODULE},
    {"NVIDIA's libraries", "libcublas", SIGN_MODULE},
    {"NVIDIA's libraries", "libcublasLt", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_adv", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_cnn", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_engines_precompiled", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_engines_runtime_compiled", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_graph", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_heuristic", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_ops", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_adv_infer", SIGN_MODULE}, /* cuDNN 8 */
    {"NVIDIA's libraries", "libcudnn_adv_train", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_cnn_infer", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_cnn_train", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_ops_infer", SIGN_MODULE},
    {"NVIDIA's libraries", "libcudnn_ops_train", SIGN_MODULE},
    {"NVIDIA's libraries", "libcufft", SIGN_MODULE},
    {"NVIDIA's libraries", "libcufftw", SIGN_MODULE},
    {"NVIDIA's libraries", "libcurand", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusolver", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusolverMg", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusparse", SIGN_MODULE},
    {"NVIDIA's libraries", "libcusparseLt", SIGN_MODULE},
    {"NVIDIA's libraries", "libnccl", SIGN_MODULE},
    {"NVIDIA's libraries", "libnvJitLink", SIGN_MODULE},
    {"NVIDIA's libraries", "libnvrtc", SIGN_MODULE},
    {"the C++ standard library", "/include/c++/", SIGN_FILE},
    {"the C++ standard library", "-linux-gnu/c++/", SIGN_FILE}, /* Debian's, of the architecture */
    {"the C++ standard library", "std::", SIGN_NAMESPACE},
    {"the C++ standard library", "__gnu_cxx::", SIGN_NAMESPACE},
    {"the C++ standard library", "libstdc++", SIGN_MODULE},
    {"the C++ standard library", "libc++", SIGN_MODULE},
    {"OpenMP", "libgomp", SIGN_MODULE},
    {"OpenMP", "libomp", SIGN_MODULE},
    {"OpenMP", "libiomp5", SIGN_MODULE},
    {"AddressSanitizer", "libasan", SIGN_MODULE},
    {"ThreadSanitizer", "libtsan", SIGN_MODULE},
    {"HWAddressSanitizer", "libhwasan", SIGN_MODULE},
    {"LeakSanitizer", "liblsan", SIGN_MODULE},
    {"UndefinedBehaviorSanitizer", "libubsan", SIGN_MODULE},
    {"Clang's run-time", "libclang_rt", SIGN_MODULE},
    {"the C library", "_start", SIGN_FUNCTION}, /* of every executable */
    {"the C library", "__libc_start_main", SIGN_FUNCTION},
    {"the C library", "libc", SIGN_MODULE}, /* libc-2.31.so before glibc 2.34 */
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

/* "libtorch" of "libtorch.so.2", "libgomp" of "libgomp-a34b.so", "python3" of "python3.12" */
static bool is_called(const char *module, const char *name)
{
    const char *file = path_name(module), *rest = file + strlen(name);
    if (!begins(file, name))
        return false;
    return !*rest || *rest == '.' || *rest == '-';
}

/* As pip and distributions install them. */
static bool is_of_package(const char *path, const char *package)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    const size_t length = strlen(package);
    for (size_t i = 0; path && i < sizeof folders / sizeof *folders; i++) {
        const char *at = strstr(path, folders[i]);
        const char *name = at ? at + strlen(folders[i]) : NULL;
        if (name && begins(name, package) && (!length || name[length] == '/'))
            return true;
    }
    return false;
}

static bool fits(const struct known *known, const char *name, const char *file, const char *module)
{
    switch (known->sign) {
    case SIGN_NAMESPACE:
        return name && begins(name, known->text);
    case SIGN_FUNCTION:
        return name && strcmp(name, known->text) == 0;
    case SIGN_MODULE:
        return module && is_called(module, known->text);
    case SIGN_PACKAGE:
        return is_of_package(file, known->text) || is_of_package(module, known->text);
    default:
        return (file && strstr(file, known->text)) || (module && strstr(module, known->text));
    }
}

const char *stack_library(const char *function, const char *file, const char *module)
{
    const char *name = function && module ? qualified_name(function) : NULL;
    if (file && begins(file, "<frozen ") && !module) /* "<frozen importlib._bootstrap>" */
        return "Python";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (fits(&table[i], name, file, module))
            return table[i].library;
    }
    return NULL;
}
