/* Whose code a frame is, and the lines that stretches of libraries' frames become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/stack/stack_fold.h"
#include "csan/stack/stack_library.h"

#include <string.h>

static void is(const char *function, const char *file, const char *module, const char *library)
{
    const char *found = stack_library(function, file, module);
    assert_string_equal(found ? found : "own", library ? library : "own");
}

static void header_libraries_by_path_and_namespace(void **state)
{
    (void)state;
    is("Kernel<cub::Policy>", "/usr/local/cuda/include/cccl/cub/kernels/sort.cuh", "/bin/app",
       "CUB");
    is("void thrust::sort<int*>(int*, int*)", "/opt/new/thrust/sort.inl", "/bin/app", "Thrust");
    is("cudaError cub::Sort<int (*)(int)>::run<4>(void (*)(int))", NULL, "/bin/app", "CUB");
    is("cuda::std::__4::less<int>::operator()(int, int)", NULL, "/bin/app", "libcu++");
    is("std::thread::_Invoker<std::tuple<work> >::operator()()",
       "/usr/include/c++/13/bits/std_thread.h", "/bin/app", "the C++ standard library");
    is("__gthread_once", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", "/bin/app",
       "the C++ standard library");
    is("nvtxMemRegionsRegister", "/usr/local/cuda/include/nvtx3/nvtxDetail/nvtxExtImplMem_v1.h",
       "/bin/app", "NVTX");
    is("start_thread", NULL, "/lib/x86_64-linux-gnu/libc.so.6", "the C library");
}

static void the_programs_own_is_not_known_by_what_it_takes(void **state)
{
    (void)state;
    is("void step<thrust::device_ptr<int> >(thrust::device_ptr<int>)", "/src/step.cu", "/bin/app",
       NULL);
    is("std::vector<int> mine::collect(std::vector<int> const&)", "/src/mine.cc", "/bin/app", NULL);
    is("app::operator<(std::string const&)", "/src/mine.cc", "/bin/app", NULL);
    is("main", "/home/me/thrust/main.cu", "/home/me/thrust/app", NULL);
    is("main", "/home/me/nvtx3/main.cu", "/home/me/nvtx3/app", NULL);
    is("(anonymous namespace)::run(std::vector<int>)", "/src/mine.cc", "/bin/app", NULL);
    is("mythrust::sort()", "/src/mine.cc", "/bin/app", NULL);
    is(NULL, NULL, "/opt/vendor/libsolver.so", NULL);
    is("libcublas", "/src/libcublas.cc", "/bin/app", NULL);
    is(NULL, NULL, NULL, NULL);
    is("cuda::launch(float*)", "/src/include/cuda/launch.cuh", "/bin/app", NULL);
    is("launch(float*)", "/src/include/cute/launch.cuh", "/bin/app", NULL);
    is("step()", NULL, "/src/build/libtorch_ops.so", NULL);
    is("step()", NULL, "/src/build/libcudnn_helpers.so", NULL);
    is("step()", NULL, "/src/build/libc3.so", NULL);
    is("step()", NULL, "/src/build/python_engine", NULL);
}

static void libraries_by_the_names_of_their_files(void **state)
{
    (void)state;
    is("f", NULL, "/opt/lib/libtorch_cuda.so", "PyTorch");
    is("run_host_function", NULL, "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06", "the driver");
    is("host_call_run", NULL, "/opt/csan/lib/libcsan.so.0", "csan");
    is("f", NULL, "/opt/lib/libcublasLt.so.13", "NVIDIA's libraries");
    is("f", NULL, "/opt/lib/libcudnn_ops.so.9", "NVIDIA's libraries");
    is("f", NULL, "/opt/lib/libnvrtc-builtins.so.13.0", "NVIDIA's libraries");
    is("__interceptor_pthread_create", "/src/libsanitizer/asan/asan_interceptors.cpp",
       "/lib/x86_64-linux-gnu/libasan.so.8", "AddressSanitizer");
    is("f", NULL, "/usr/lib/clang/18/lib/linux/libclang_rt.asan-x86_64.so", "Clang's run-time");
    is("f", NULL, "/opt/lib/libgomp-a34b3233.so.1", "OpenMP");
    is("f", NULL, "/lib/libc-2.31.so", "the C library");
    is("f", NULL, "/lib64/ld-linux-x86-64.so.2", "the C library");
    is("f", NULL, "/usr/lib/libpython3.12.so.1.0", "Python");
    is("f", NULL, "/usr/lib/libstdc++.so.6", "the C++ standard library");
    is("cuda::__4::barrier<(cuda::__4::thread_scope)2>::wait()", NULL, "/bin/app", "libcu++");
}

static void python_by_path(void **state)
{
    (void)state;
    is("forward", "/venv/lib/python3.12/site-packages/torch/nn/module.py", NULL, "PyTorch");
    is("add", "/venv/lib/python3.12/site-packages/cupy/_core.py", NULL, "CuPy");
    is("f", NULL, "/venv/lib/python3.12/site-packages/rmm/pylibrmm/device_buffer.abi3.so", "RMM");
    is("given_out", "/opt/csan/lib/csan/python/csan_pools/blocks.py", NULL, "csan");
    is("run", "/venv/lib/python3.12/site-packages/other/run.py", NULL, "Python packages");
    is("loads", "/usr/lib/python3.12/json/__init__.py", NULL, "Python");
    is("exec_module", "<frozen importlib._bootstrap>", NULL, "Python");
    is("at::add", NULL, "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so", "PyTorch");
    is("step", "/src/train.py", NULL, NULL);
    is("step", "/home/me/my-packages/torch/train.py", NULL, NULL);
    is("step", "/venv/lib/python3.12/site-packages/torchmine/step.py", NULL, "Python packages");
    is("add", "/usr/lib/python3/dist-packages/numpy/core.py", NULL, "NumPy");
    is("step", "/opt/app/lib/python3/train.py", NULL, NULL);
    is("<module>", "<string>", NULL, NULL);
    is("<module>", "<ipython-input-1-2f3>", NULL, NULL);
    is("__enter__", "<frozen contextlib>", NULL, "Python");
    is("main", NULL, "/usr/bin/python3.12", "Python");
    is("_start", NULL, "/bin/app", "the C library");
    is("main", NULL, "/bin/app", NULL);
    is("std::step", "/src/train.py", NULL, NULL); /* no namespace of C++ */
}

static void stretches_are_lines(void **state)
{
    (void)state;
    struct text text = {0};
    struct stack_fold fold = {.on = true};
    assert_true(stack_fold_takes(&fold, &text, "CUB"));
    assert_false(stack_fold_takes(&fold, &text, NULL));
    text_add(&text, "own\n");
    const char *const many[] = {"CUB", "Thrust", "CUB", "libcu++", "Thrust"};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        assert_true(stack_fold_takes(&fold, &text, many[i]));
    stack_fold_end(&fold, &text);
    for (size_t i = 0; i < 3; i++)
        stack_fold_takes(&fold, &text, many[i + 1]);
    stack_fold_takes(&fold, &text, "NumPy");
    stack_fold_takes(&fold, &text, "JAX");
    stack_fold_end(&fold, &text);
    stack_fold_end(&fold, &text);
    assert_string_equal(text.data, "  ... 1 frame of CUB (full_stacks=1 shows them)\nown\n"
                                   "  ... 5 frames of CUB, Thrust and libcu++ (full_stacks=1 shows "
                                   "them)\n"
                                   "  ... 5 frames of libraries (full_stacks=1 shows them)\n");
    struct stack_fold off = {.on = false};
    assert_false(stack_fold_takes(&off, &text, "CUB"));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_libraries_by_path_and_namespace),
        cmocka_unit_test(the_programs_own_is_not_known_by_what_it_takes),
        cmocka_unit_test(libraries_by_the_names_of_their_files),
        cmocka_unit_test(python_by_path),
        cmocka_unit_test(stretches_are_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
