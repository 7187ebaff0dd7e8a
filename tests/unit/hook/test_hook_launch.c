/* What the hooks enqueue for kernel launches: directions from the PTX of the module, parameters in
 * both ways of passing them, annotations, and what happens when nothing is known. */
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

/* copy: reads in, writes out. boxed: the same, pointers in a struct. count: atomic on a variable.
 */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".visible .entry copy(.param .u64 copy_param_0, .param .u64 copy_param_1)\n"
    "{\n.reg .b64 %rd<5>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [copy_param_0];\nld.param.u64 %rd2, [copy_param_1];\n"
    "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
    "ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd3], %f1;\nret;\n}\n"
    ".visible .entry boxed(.param .align 8 .b8 boxed_param_0[24])\n"
    "{\n.reg .b64 %rd<5>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [boxed_param_0+8];\nld.param.u64 %rd2, [boxed_param_0+16];\n"
    "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
    "ld.global.f32 %f1, [%rd4];\nst.global.f32 [%rd3], %f1;\nret;\n}\n"
    ".visible .entry count()\n"
    "{\n.reg .b32 %r<2>;\n"
    "atom.global.add.u32 %r1, [counter], 1;\nret;\n}\n"
    ".visible .entry peek()\n"
    "{\n.reg .b32 %r<2>;\n"
    "ld.global.u32 %r1, [counter];\nret;\n}\n";

/* The same sum as count, in 64 bits. */
static const char wide_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .global .align 8 .u64 counter;\n"
                                ".visible .entry count_wide()\n"
                                "{\n.reg .b64 %rd<2>;\n"
                                "atom.global.add.u64 %rd1, [counter], 1;\nret;\n}\n";

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction found;
    if (!module) {
        /* The program may free its image as soon as it is loaded. */
        char *image = strdup(module_text);
        OK(cuModuleLoadData(&module, image));
        memset(image, '#', strlen(image));
        free(image);
    }
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static void launch(CUfunction f, CUstream stream, void **parameters)
{
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static void copy(CUdeviceptr out, CUdeviceptr in, CUstream stream)
{
    launch(function("copy"), stream, (void *[]){&out, &in});
}

static struct csan_race first_race(void)
{
    struct csan_race race = {0};
    assert_true(csan_races_since(hook_mark(), &race, 1) >= 1);
    return race;
}

static void writers_of_one_buffer_race(void **state)
{
    (void)state;
    CUdeviceptr out = device(64), a = device(64), b = device(64);
    copy(out, a, non_blocking());
    copy(out, b, non_blocking());
    assert_int_equal(races(), 1);
    struct csan_race race = first_race();
    assert_int_equal(race.allocation, out);
    assert_string_equal(race.current.name, "copy");
    assert_string_equal(race.current.arguments, "0");
    assert_int_equal(race.current.kind, CSAN_WRITE);
}

static void readers_of_one_buffer_do_not(void **state)
{
    (void)state;
    CUdeviceptr in = device(64), a = device(64), b = device(64);
    copy(a, in, non_blocking());
    copy(b, in, non_blocking());
    assert_int_equal(races(), 0);
}

static void range_starts_at_the_pointer(void **state)
{
    (void)state;
    CUdeviceptr out = device(256), a = device(64);
    copy(out + 128, a, non_blocking());
    OK(cuMemsetD8Async(out, 0, 128, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(out + 131, 0, 1, non_blocking())); /* the last byte of its float */
    assert_int_equal(races(), 1);
}

static void parameters_in_a_buffer(void **state)
{
    (void)state;
    CUdeviceptr pointers[2] = {device(64), device(64)};
    size_t bytes = sizeof pointers;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, pointers, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(function("copy"), 1, 1, 1, 1, 1, 1, 0, non_blocking(), NULL, extra));
    OK(cuMemsetD8Async(pointers[1], 0, 64, non_blocking()));
    assert_int_equal(races(), 1);
    OK(cuMemsetD8Async(pointers[0], 0, 64, non_blocking()));
    assert_int_equal(races(), 2);
}

static void pointers_in_a_struct(void **state)
{
    (void)state;
    struct {
        uint64_t number;
        CUdeviceptr out, in;
    } box = {1, device(64), device(64)};
    launch(function("boxed"), non_blocking(), (void *[]){&box});
    OK(cuMemsetD8Async(box.out, 0, 64, non_blocking()));
    assert_int_equal(races(), 1);
    assert_string_equal(first_race().previous.arguments, "0+8");
}

static void null_pointers_touch_nothing(void **state)
{
    (void)state;
    copy(0, 0, non_blocking());
    copy(0, 0, non_blocking());
    assert_int_equal(races(), 0);
}

static void variables_are_found_in_the_module(void **state)
{
    (void)state;
    launch(function("count"), non_blocking(), NULL);
    launch(function("count"), non_blocking(), NULL);
    assert_int_equal(races(), 0); /* atomic with atomic */
    launch(function("peek"), non_blocking(), NULL);
    assert_int_equal(races(), 2); /* the plain read with each of them */
    assert_string_equal(first_race().previous.arguments, "counter");
}

/* One handle, two contexts: each has the variable for itself. */
static void variables_lie_apart_in_each_context(void **state)
{
    (void)state;
    CUfunction count = function("count"), peek = function("peek");
    launch(peek, non_blocking(), NULL);
    fake_set_context((void *)0xd0);
    launch(count, non_blocking(), NULL);
    assert_int_equal(races(), 0);
    launch(peek, non_blocking(), NULL);
    assert_int_equal(races(), 1); /* in the second one */
    fake_set_context((void *)0xc0);
    launch(count, non_blocking(), NULL);
    assert_int_equal(races(), 2);
}

/* A context that was reset has its old handle, and its variables elsewhere. */
static void variables_move_when_their_context_ends(void **state)
{
    (void)state;
    CUfunction count = function("count");
    launch(count, non_blocking(), NULL);
    OK(cuCtxDestroy_v2((CUcontext)0xc0));
    fake_move_variables(1ull << 40);
    launch(count, non_blocking(), NULL);
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(0xabc000, 0, 4, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(0xabc000 + (1ull << 40), 0, 4, non_blocking()));
    assert_int_equal(races(), 1);
    fake_move_variables(0);
    OK(cuCtxDestroy_v2((CUcontext)0xc0));
}

static void atomics_of_two_widths_race(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction wide;
    OK(cuModuleLoadData(&module, wide_text));
    OK(cuModuleGetFunction(&wide, module, "count_wide"));
    launch(wide, non_blocking(), NULL);
    launch(wide, non_blocking(), NULL);
    assert_int_equal(races(), 0);
    launch(function("count"), non_blocking(), NULL);
    assert_int_equal(races(), 2);
    assert_int_equal(first_race().kind, CSAN_RACE_ATOMIC);
}

static void launch_that_failed_leaves_nothing(void **state)
{
    (void)state;
    CUdeviceptr out = device(64), in = device(64);
    CUstream s = non_blocking();
    CUfunction f = function("copy");
    fake_fail_next(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&out, &in}, NULL),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    copy(out, in, non_blocking());
    assert_int_equal(races(), 0);
}

static void annotations_replace_what_is_known(void **state)
{
    (void)state;
    CUdeviceptr out = device(128), in = device(64);
    csan_launch_writes((void *)out, 64);
    copy(out, in, non_blocking());
    OK(cuMemsetD8Async(out + 64, 0, 64, non_blocking()));
    OK(cuMemsetD8Async(in, 0, 64, non_blocking()));
    assert_int_equal(races(), 0);
    csan_launch_reads((void *)out, 4);
    copy(out, in, non_blocking());
    assert_int_equal(races(), 1);
    assert_false(first_race().possible);
}

static void kernel_without_ptx_is_unknown(void **state)
{
    (void)state;
    CUdeviceptr out = device(64);
    CUfunction f = (CUfunction)0x999000; /* the driver alone knows it */
    launch(f, non_blocking(), (void *[]){&out, &out});
    launch(f, non_blocking(), (void *[]){&out, &out});
    assert_int_equal(races(), 0);
}

/* A cubin's first bytes. */
static const char machine_code[64] = "\177ELF\2\1\1";

static CUfunction loaded(const char *name)
{
    CUmodule module;
    CUfunction f;
    OK(cuModuleLoadData(&module, machine_code));
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* Races of two writes to one buffer by the function, from two streams. */
static size_t races_of_two(CUfunction f)
{
    CUdeviceptr out = device(64), in = device(64);
    size_t before = races();
    launch(f, non_blocking(), (void *[]){&out, &in});
    launch(f, non_blocking(), (void *[]){&out, &in});
    return races() - before;
}

static void ptx_is_given_for_machine_code(void **state)
{
    (void)state;
    CUfunction f = loaded("copy"), late = loaded("copy");
    char *text = strdup(module_text); /* without its NUL, and gone at once */
    csan_kernel_ptx(f, text, strlen(text));
    free(text);
    assert_int_equal(races_of_two(f), 1);
    assert_string_equal(first_race().current.name, "copy");
    assert_false(first_race().possible);
    assert_int_equal(races_of_two(late), 0); /* of another module */
    csan_kernel_ptx(late, module_text, sizeof module_text);
    assert_int_equal(races_of_two(late), 1);
}

static void ptx_is_given_for_a_library_kernel(void **state)
{
    (void)state;
    CUlibrary library;
    CUkernel kernel;
    CUfunction before, after;
    OK(cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "copy"));
    OK(cuKernelGetFunction(&before, kernel));
    csan_kernel_ptx(kernel, module_text, sizeof module_text);
    OK(cuKernelGetFunction(&after, kernel));
    assert_int_equal(races_of_two((CUfunction)kernel), 1);
    assert_int_equal(races_of_two(before), 1);
    assert_int_equal(races_of_two(after), 1);
}

static void ptx_of_another_kernel_is_refused(void **state)
{
    (void)state;
    static const char broken[] = ".version 8.0\n.target sm_90\n.entry copy(";
    CUfunction other = loaded("kernel_of_another_name"), f = loaded("copy");
    csan_kernel_ptx(other, module_text, sizeof module_text);
    assert_int_equal(races_of_two(other), 0);
    csan_kernel_ptx(f, "no PTX", 6);
    csan_kernel_ptx(f, broken, sizeof broken);
    assert_int_equal(races_of_two(f), 0);
    for (int parameters = 1; parameters <= 3; parameters++) { /* copy has two */
        f = loaded("copy");
        fake_set_parameters(parameters);
        csan_kernel_ptx(f, module_text, sizeof module_text);
        assert_int_equal(races_of_two(f), parameters == 2);
    }
    fake_set_parameters(-1);
    csan_kernel_ptx(NULL, module_text, sizeof module_text);
    csan_kernel_ptx(f, NULL, 1);
}

static void the_image_knows_better_than_what_is_given(void **state)
{
    (void)state;
    static const char idle[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry copy(.param .u64 a, .param .u64 b)\n{\nret;\n}\n";
    CUfunction f = function("copy");
    csan_kernel_ptx(f, idle, sizeof idle);
    assert_int_equal(races_of_two(f), 1);
}

static void reused_function_handle_is_another_kernel(void **state)
{
    (void)state;
    static const char other[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry copy(.param .u64 copy_param_0)\n{\nret;\n}\n";
    CUmodule module;
    CUfunction f;
    CUdeviceptr out = device(64), in = device(64);
    OK(cuModuleLoadData(&module, module_text));
    OK(cuModuleGetFunction(&f, module, "copy"));
    launch(f, non_blocking(), (void *[]){&out, &in});
    OK(cuModuleUnload(module));
    OK(cuCtxSynchronize());
    fake_reuse_handle(module);
    OK(cuModuleLoadData(&module, other));
    fake_reuse_handle(f);
    OK(cuModuleGetFunction(&f, module, "copy"));
    launch(f, non_blocking(), (void *[]){&out, &in});
    launch(f, non_blocking(), (void *[]){&out, &in});
    assert_int_equal(races(), 0);
}

static void event_of_the_launch_does_not_cover_the_kernel(void **state)
{
    (void)state;
    CUdeviceptr out = device(64), in = device(64), before = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    attribute.value.launchCompletionEvent.event = e;
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = a,
                             .attrs = &attribute,
                             .numAttrs = 1};
    OK(cuMemsetD8Async(before, 0, 64, a));
    OK(cuLaunchKernelEx(&config, function("copy"), (void *[]){&out, &in}, NULL));
    OK(cuStreamWaitEvent(b, e, 0));
    OK(cuMemsetD8Async(before, 0, 64, b));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(out, 0, 64, b));
    assert_int_equal(races(), 1);
}

/* Hundreds of pointers, more than fit where csan puts them at first. */
static void kernel_with_many_parameters(void **state)
{
    (void)state;
    enum { COUNT = 1250 };
    char *text = malloc(COUNT * 200), *at = text;
    static CUdeviceptr values[COUNT];
    static void *parameters[COUNT];
    CUmodule module;
    CUfunction f;
    CUdeviceptr all = device(COUNT * 64);
    at += sprintf(at, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry many(");
    for (int i = 0; i < COUNT; i++) {
        at += sprintf(at, "%s.param .u64 many_param_%d", i ? ",\n" : "", i);
        values[i] = all + (uint64_t)i * 64;
        parameters[i] = &values[i];
    }
    at += sprintf(at, ")\n{\n.reg .b64 %%rd<3>;\n.reg .b32 %%r<2>;\n");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at,
                      "ld.param.u64 %%rd1, [many_param_%d];\ncvta.to.global.u64 %%rd2, %%rd1;\n"
                      "ld.global.u32 %%r1, [%%rd2];\n",
                      i);
    sprintf(at, "ret;\n}\n");
    OK(cuModuleLoadData(&module, text));
    free(text);
    OK(cuModuleGetFunction(&f, module, "many"));
    launch(f, non_blocking(), parameters);
    launch(f, non_blocking(), parameters);
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(all + 64 * (COUNT - 1), 0, 4, non_blocking()));
    assert_true(races() >= 1);
}

static void damaged_images_are_survived(void **state)
{
    (void)state;
    static const char *const images[] = {"",
                                         "\x7f"
                                         "ELF",
                                         ".version 8.0\n.target sm_90\n.entry copy(",
                                         "\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff\xff\xff"};
    CUdeviceptr out = device(64);
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        CUmodule module;
        CUfunction f;
        char image[256] = {0};
        memcpy(image, images[i], i == 3 ? 12 : strlen(images[i]));
        OK(cuModuleLoadData(&module, image));
        OK(cuModuleGetFunction(&f, module, "copy_of_a_damaged_image"));
        launch(f, non_blocking(), (void *[]){&out, &out});
        OK(cuModuleUnload(module));
    }
    assert_int_equal(races(), 0);
}

/* The driver copies what it loads, so the object that an image came in may be closed. */
static void image_in_a_closed_library(void **state)
{
    (void)state;
    CUmodule module;
    CUfunction f;
    CUdeviceptr out = device(64);
    void *library = dlopen(FAKE_DRIVER "/traced/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    OK(cuModuleLoadData(&module, dlsym(library, "fake_image")));
    assert_int_equal(dlclose(library), 0);
    assert_null(dlopen(FAKE_DRIVER "/traced/libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
    OK(cuModuleGetFunction(&f, module, "kernel_of_a_closed_library"));
    launch(f, non_blocking(), (void *[]){&out});
    OK(cuModuleUnload(module));
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(writers_of_one_buffer_race),
        TEST(readers_of_one_buffer_do_not),
        TEST(range_starts_at_the_pointer),
        TEST(parameters_in_a_buffer),
        TEST(pointers_in_a_struct),
        TEST(null_pointers_touch_nothing),
        TEST(variables_are_found_in_the_module),
        TEST(variables_lie_apart_in_each_context),
        TEST(variables_move_when_their_context_ends),
        TEST(atomics_of_two_widths_race),
        TEST(launch_that_failed_leaves_nothing),
        TEST(annotations_replace_what_is_known),
        TEST(kernel_without_ptx_is_unknown),
        TEST(ptx_is_given_for_machine_code),
        TEST(ptx_is_given_for_a_library_kernel),
        TEST(ptx_of_another_kernel_is_refused),
        TEST(the_image_knows_better_than_what_is_given),
        TEST(reused_function_handle_is_another_kernel),
        TEST(event_of_the_launch_does_not_cover_the_kernel),
        TEST(kernel_with_many_parameters),
        TEST(image_in_a_closed_library),
        TEST(damaged_images_are_survived),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_launch", tests, NULL, NULL));
}
