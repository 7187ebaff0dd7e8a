/* What launches touch through textures, surfaces and tensor maps: the memory under the object that
 * the kernel was given, no more and no less. */
#include "tests/unit/hook/test_hook.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

/* fetch reads a texture; pick one of three in a struct, by index; draw writes a surface and
 * fetch_loaded reads a texture whose handle lies in memory. Then tensors: load, store, add to, and
 * store to one of two. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 p)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<5>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];\nret;\n}\n"
    ".visible .entry pick(.param .align 8 .b8 q[24], .param .u32 n)\n"
    "{\n.reg .b64 %rd<5>;\n.reg .f32 %f<5>;\n.reg .b32 %r<3>;\n"
    "mov.b64 %rd1, q;\nld.param.u32 %r1, [n];\nmul.wide.u32 %rd2, %r1, 8;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.param.u64 %rd4, [%rd3];\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd4, {%r1}];\nret;\n}\n"
    ".visible .entry draw(.param .u64 s, .param .u64 out)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [s];\nld.param.u64 %rd2, [out];\n"
    "sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};\nst.global.u32 [%rd2], %r2;\nret;\n}\n"
    ".visible .entry fetch_loaded(.param .u64 p)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<5>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [p];\n"
    "ld.global.u64 %rd2, [%rd1];\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, {%r1}];\nret;\n}\n"
    ".visible .entry load(.param .align 128 .b8 m[128])\n"
    "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<5>;\nmov.b64 %rd1, m;\ncvta.param.u64 %rd2, %rd1;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
    "[%rd2, {%r2, %r3}], [%r4];\nret;\n}\n"
    ".visible .entry store(.param .align 128 .b8 m[128])\n"
    "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<5>;\nmov.b64 %rd1, m;\ncvta.param.u64 %rd2, %rd1;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r2, %r3}], [%r1];\n"
    "ret;\n}\n"
    ".visible .entry add(.param .align 128 .b8 m[128])\n"
    "{\n.reg .b64 %rd<3>;\n.reg .b32 %r<5>;\nmov.b64 %rd1, m;\ncvta.param.u64 %rd2, %rd1;\n"
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {%r2, %r3}], "
    "[%r1];\nret;\n}\n"
    ".visible .entry store_one(.param .align 128 .b8 m[256], .param .u32 n)\n"
    "{\n.reg .b64 %rd<6>;\n.reg .b32 %r<6>;\nmov.b64 %rd1, m;\nld.param.u32 %r5, [n];\n"
    "mul.wide.u32 %rd3, %r5, 128;\nadd.s64 %rd4, %rd1, %rd3;\ncvta.param.u64 %rd2, %rd4;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r2, %r3}], [%r1];\n"
    "ret;\n}\n";

static void launch(const char *name, CUstream stream, void **parameters)
{
    static CUmodule module;
    CUfunction function;
    if (!module)
        OK(cuModuleLoadData(&module, module_text));
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

static void write(CUdeviceptr at, size_t bytes, CUstream stream)
{
    OK(cuMemsetD8Async(at, 0, bytes, stream));
}

static struct csan_race first_race(void)
{
    struct csan_race race = {0};
    assert_true(csan_races_since(hook_mark(), &race, 1) >= 1);
    return race;
}

/* Whether a write to these bytes, unordered with what was launched, is one more race. */
static bool meets(CUdeviceptr at, size_t bytes)
{
    size_t before = races();
    write(at, bytes, non_blocking());
    return races() > before;
}

/* ---- Textures and surfaces ---- */

static CUtexObject texture_of(const CUDA_RESOURCE_DESC *resource)
{
    CUDA_TEXTURE_DESC how = {0};
    CUtexObject made;
    OK(cuTexObjectCreate(&made, resource, &how, NULL));
    return made;
}

static CUtexObject texture(CUdeviceptr at, size_t bytes)
{
    return texture_of(&(CUDA_RESOURCE_DESC){
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {
            .devPtr = at, .format = CU_AD_FORMAT_FLOAT, .numChannels = 1, .sizeInBytes = bytes}});
}

static CUtexObject texture_over_array(void)
{
    return texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_ARRAY,
                                            .res.array.hArray = (CUarray)0x123000});
}

static void texture_reads_its_memory(void **state)
{
    (void)state;
    CUdeviceptr p = device(1024);
    CUtexObject t = texture(p + 256, 512);
    launch("fetch", non_blocking(), (void *[]){&t});
    assert_false(meets(p, 256));
    assert_false(meets(p + 768, 256));
    assert_true(meets(p + 767, 1));
    struct csan_race race = first_race();
    assert_true(race.possible);
    assert_int_equal(race.previous.kind, CSAN_READ);
    assert_int_equal(race.previous.bound, CSAN_BOUND_OBJECT);
    assert_string_equal(race.previous.name, "fetch");
    assert_string_equal(race.previous.arguments, "0");
    assert_int_equal(race.allocation, p);
}

static void texture_is_ordered_by_events(void **state)
{
    (void)state;
    CUdeviceptr p = device(1024);
    CUtexObject t = texture(p, 1024);
    CUstream writer = non_blocking(), reader = non_blocking();
    CUevent written = event();
    write(p, 1024, writer);
    OK(cuEventRecord(written, writer));
    OK(cuStreamWaitEvent(reader, written, 0));
    launch("fetch", reader, (void *[]){&t});
    assert_int_equal(races(), 0);
    write(p, 1024, writer);
    assert_int_equal(races(), 1);
}

/* A destroyed object is one finding, its twin behind a wait none, and a handle that is given out
 * again is another object. */
static void a_texture_in_use_is_not_destroyed(void **state)
{
    (void)state;
    CUdeviceptr p = device(1024);
    CUtexObject used = texture(p, 1024), waited = texture(p, 1024);
    CUstream stream = non_blocking();
    launch("fetch", stream, (void *[]){&waited});
    OK(cuStreamSynchronize(stream));
    OK(cuTexObjectDestroy(waited));
    launch("fetch", stream, (void *[]){&used});
    assert_int_equal(races(), 0);
    OK(cuTexObjectDestroy(used));
    assert_int_equal(races(), 1);
    struct csan_race race = first_race();
    assert_int_equal(race.kind, CSAN_RACE_FREE);
    assert_string_equal(race.object, "texture object");
    assert_string_equal(race.previous.name, "fetch");
    used = texture(p, 1024);
    launch("fetch", non_blocking(), (void *[]){&used});
    assert_int_equal(races(), 1);
}

static void textures_read_together(void **state)
{
    (void)state;
    CUtexObject t = texture(device(1024), 1024);
    launch("fetch", non_blocking(), (void *[]){&t});
    launch("fetch", non_blocking(), (void *[]){&t});
    assert_int_equal(races(), 0);
}

/* Rows of 16 float pairs, a pitch of 256: what lies between the rows is not read. */
static void pitched_texture_reads_its_rows(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096);
    CUtexObject t = texture_of(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                                     .res.pitch2D = {.devPtr = p,
                                                                     .format = CU_AD_FORMAT_FLOAT,
                                                                     .numChannels = 2,
                                                                     .width = 16,
                                                                     .height = 8,
                                                                     .pitchInBytes = 256}});
    launch("fetch", non_blocking(), (void *[]){&t});
    OK(cuMemsetD2D8Async(p + 128, 256, 0, 128, 8, non_blocking()));
    assert_int_equal(races(), 0);
    assert_false(meets(p + 8 * 256, 256));
    assert_true(meets(p + 7 * 256 + 127, 1));
}

static void handles_are_forgotten_and_reused(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), r = device(64);
    CUtexObject t = texture(p, 64), again;
    OK(cuTexObjectDestroy(t));
    fake_reuse_handle((void *)(uintptr_t)t);
    again = texture(q, 64);
    assert_int_equal(again, t);
    launch("fetch", non_blocking(), (void *[]){&t});
    assert_false(meets(p, 64));
    assert_true(meets(q, 64));
    fake_reuse_handle((void *)(uintptr_t)t); /* its end was not seen */
    again = texture(r, 64);
    OK(cuCtxSynchronize());
    size_t before = races();
    launch("fetch", non_blocking(), (void *[]){&again});
    assert_false(meets(q, 64));
    assert_int_equal(races(), before);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE); /* it lives on */
    assert_int_equal(cuTexObjectDestroy(again), CUDA_ERROR_INVALID_VALUE);
    launch("fetch", non_blocking(), (void *[]){&again});
    assert_true(meets(r, 64));
}

static void failed_creation_is_no_object(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUDA_RESOURCE_DESC resource = {
        .resType = CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {.devPtr = p, .format = CU_AD_FORMAT_FLOAT, .numChannels = 1, 64}};
    CUtexObject t = 0x7777;
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectCreate(&t, &resource, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    launch("fetch", non_blocking(), (void *[]){&t});
    assert_false(meets(p, 64));
}

static void texture_picked_by_index_may_be_any(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), r = device(64);
    CUtexObject several[3] = {texture(p, 64), texture_over_array(), texture(q, 64)};
    uint32_t n = 2;
    launch("pick", non_blocking(), (void *[]){several, &n});
    several[0] = 0x123456789; /* no texture at all: a number in the struct */
    launch("pick", non_blocking(), (void *[]){several, &n});
    assert_true(meets(p, 64));
    assert_true(meets(q, 64));
    assert_false(meets(r, 64));
}

/* An array has no address: the rest of what the kernel does is checked all the same. */
static void arrays_are_not_followed(void **state)
{
    (void)state;
    CUtexObject t = texture_over_array();
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = (CUarray)0x123000};
    CUsurfObject s;
    CUdeviceptr p = device(64), q = device(64);
    CUtexObject same = texture(q, 64);
    do
        OK(cuSurfObjectCreate(&s, &resource));
    while (s < same); /* a surface with the number of a texture */
    launch("draw", non_blocking(), (void *[]){&s, &p});
    launch("fetch", non_blocking(), (void *[]){&t});
    assert_int_equal(races(), 0);
    assert_false(meets(q, 64));
    assert_true(meets(p, 4));
    OK(cuSurfObjectDestroy(s));
    launch("draw", non_blocking(), (void *[]){&s, &p});
}

/* ---- Tensor maps ---- */

static const cuuint32_t ones[5] = {1, 1, 1, 1, 1};

static CUtensorMap tensor(CUdeviceptr at, CUtensorMapDataType type, cuuint32_t rank,
                          const cuuint64_t *sizes, const cuuint64_t *strides)
{
    CUtensorMap map;
    OK(cuTensorMapEncodeTiled(&map, type, rank, (void *)(uintptr_t)at, sizes, strides, ones, ones,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return map;
}

/* `rows` rows of 16 floats, 256 bytes apart. */
static CUtensorMap panel(CUdeviceptr at, cuuint64_t rows)
{
    return tensor(at, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (cuuint64_t[]){16, rows},
                  (cuuint64_t[]){256});
}

static void tensor_covers_its_rows(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096);
    CUtensorMap map = panel(p + 64, 8), other = panel(p + 128, 8);
    launch("load", non_blocking(), (void *[]){&map});
    launch("store", non_blocking(), (void *[]){&other});
    assert_int_equal(races(), 0);
    assert_false(meets(p + 8 * 256, 256));
    launch("store", non_blocking(), (void *[]){&map});
    assert_int_equal(races(), 1);
    struct csan_race race = first_race();
    assert_true(race.possible);
    assert_int_equal(race.current.kind, CSAN_WRITE);
    assert_int_equal(race.address, p + 64);
    assert_int_equal(race.bytes, 64);
}

/* The program may copy the 128 bytes: they are what counts. */
static void tensor_map_is_known_by_its_bytes(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096);
    CUtensorMap map = panel(p, 4), copy;
    memcpy(&copy, &map, sizeof copy);
    memset(&map, 1, sizeof map);
    launch("store", non_blocking(), (void *[]){&copy});
    assert_true(meets(p + 3 * 256, 1));
    launch("store", non_blocking(), (void *[]){&map});
    memset(&map, 0, sizeof map);
    launch("store", non_blocking(), (void *[]){&map});
}

static void replaced_address_is_another_map(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096), q = device(4096);
    CUtensorMap map = panel(p, 4), before = map;
    OK(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)q));
    launch("store", non_blocking(), (void *[]){&map});
    assert_false(meets(p, 64));
    assert_false(meets(q + 64, 192));
    assert_true(meets(q + 3 * 256, 64));
    launch("store", non_blocking(), (void *[]){&before});
    assert_true(meets(p, 64));
}

static void additions_to_a_tensor_are_atomic(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096);
    CUtensorMap map = panel(p, 4);
    CUtensorMap pairs =
        tensor(p, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (cuuint64_t[]){32, 4}, (cuuint64_t[]){256});
    launch("add", non_blocking(), (void *[]){&map});
    launch("add", non_blocking(), (void *[]){&map});
    assert_int_equal(races(), 0);
    launch("add", non_blocking(), (void *[]){&pairs}); /* another width than both */
    assert_int_equal(races(), 2);
    assert_int_equal(first_race().kind, CSAN_RACE_ATOMIC);
}

static void one_of_several_maps(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096), q = device(4096);
    CUtensorMap maps[2] = {panel(p, 4), panel(q, 4)};
    uint32_t n = 1;
    launch("store_one", non_blocking(), (void *[]){maps, &n});
    assert_true(meets(p, 64));
    assert_true(meets(q, 64));
}

/* Of an interleaved tensor, a pixel's slice of channels has 16 bytes. */
static void other_layouts_have_their_bytes(void **state)
{
    (void)state;
    CUdeviceptr p = device(4096), q = device(4096), r = device(4096);
    const cuuint64_t sizes[3] = {8, 4, 2}, strides[2] = {64, 256}, rows[2] = {256, 1024};
    const cuuint32_t slice[3] = {8, 1, 1};
    const int corner[2] = {0, 0};
    CUtensorMap interleaved, pixels, wide;
    OK(cuTensorMapEncodeTiled(&interleaved, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3,
                              (void *)(uintptr_t)(p + 1024), sizes, rows, slice, ones,
                              CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_SWIZZLE_NONE,
                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    launch("store", non_blocking(), (void *[]){&interleaved});
    assert_false(meets(p, 1024));
    assert_true(meets(p + 1024 + 127, 1));
    assert_false(meets(p + 1024 + 128, 128)); /* behind the pixels of a row */
    assert_true(meets(p + 2048 + 3 * 256 + 127, 1));
    assert_false(meets(p + 2048 + 3 * 256 + 128, 128));
    OK(cuTensorMapEncodeIm2col(&pixels, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void *)(uintptr_t)q,
                               sizes, strides, corner, corner, 8, 4, ones,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    launch("store", non_blocking(), (void *[]){&pixels});
    assert_false(meets(q + 16, 48));
    assert_true(meets(q + 256 + 3 * 64 + 15, 1));
    OK(cuTensorMapEncodeIm2colWide(&wide, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 3,
                                   (void *)(uintptr_t)r, sizes, strides, 0, 0, 8, 4, ones,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    launch("store", non_blocking(), (void *[]){&wide});
    assert_true(meets(r + 256 + 3 * 64 + 3, 1)); /* eight values of four bits */
    assert_false(meets(r + 256 + 3 * 64 + 4, 1));
}

/* ---- Threads ---- */

static void *make_and_launch(void *user)
{
    CUdeviceptr p = *(CUdeviceptr *)user;
    CUstream stream = non_blocking();
    for (cuuint64_t i = 0; i < 200; i++) {
        CUtexObject unused = texture(p, 64), t = texture(p, 64);
        CUtensorMap map = panel(p + 1024, 1 + i);
        launch("fetch", stream, (void *[]){&t});
        launch("store", stream, (void *[]){&map});
        OK(cuTexObjectDestroy(unused));
    }
    return NULL;
}

/* Each thread has memory of its own, and none sees what lies under another's. */
static void threads_apart(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    CUdeviceptr memory[THREADS];
    CUtexObject first = texture(device(64), 64);
    launch("fetch", NULL, (void *[]){&first}); /* loads the module */
    launch("store", NULL, (void *[]){&(CUtensorMap){{0}}});
    for (int i = 0; i < THREADS; i++)
        memory[i] = device(1 << 20);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_launch, &memory[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(races(), 0);
    for (int i = 0; i < THREADS; i++) {
        csan_races_clear(); /* the same two places of the program race for each thread */
        assert_true(meets(memory[i], 1));
        assert_true(meets(memory[i] + 1024 + 199 * 256, 1));
    }
}

/* ---- Levels ---- */

/* In a process of its own: each returns how many of its launches csan cannot know. */
static int launch_unknown(void)
{
    CUdeviceptr p = device(64);
    CUtexObject loose = 0x7777, gone = texture(p, 64);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                   .res.linear = {p, CU_AD_FORMAT_FLOAT, 1, 64}};
    CUtensorMap map;
    memset(&map, 1, sizeof map);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuTexObjectCreate(&loose, &resource, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexObjectDestroy(gone));
    launch("fetch", NULL, (void *[]){&loose});
    launch("fetch", NULL, (void *[]){&gone});
    launch("draw", NULL, (void *[]){&gone, &p});
    launch("fetch_loaded", NULL, (void *[]){&p});
    launch("load", NULL, (void *[]){&map});
    CUtexObject strangers[3] = {0x123456, 0, 0x234567};
    CUtensorMap two[2] = {map, map};
    uint32_t n = 0;
    launch("pick", NULL, (void *[]){strangers, &n});
    launch("store_one", NULL, (void *[]){two, &n});
    return 7;
}

static void launch_known(void)
{
    CUdeviceptr p = device(64);
    CUtexObject null = 0, over_array = texture_over_array();
    CUtexObject several[3] = {texture(p, 64), over_array, 0x123456789};
    CUtensorMap zeros;
    uint32_t n = 2;
    memset(&zeros, 0, sizeof zeros);
    launch("fetch", NULL, (void *[]){&null});
    launch("fetch", NULL, (void *[]){&over_array});
    launch("pick", NULL, (void *[]){several, &n});
    launch("load", NULL, (void *[]){&zeros});
}

/* Programs may encode one for each launch: the table is bounded, and keeps those in use. */
static int launch_ever_new(void)
{
    CUdeviceptr p = device(1 << 20), q = device(4096);
    CUtensorMap kept = panel(q, 4), left = panel(q + 2048, 4);
    for (cuuint64_t i = 0; i < 40000; i++) {
        CUtensorMap map = panel(p + 16 * i, 1);
        if (i % 1000 == 0)
            launch("load", NULL, (void *[]){&kept});
        if (i == 39999)
            launch("load", NULL, (void *[]){&map});
    }
    launch("load", NULL, (void *[]){&left});
    return 1;
}

static void run_levels(void)
{
    launch_known();
    printf("expected=%d\n", launch_unknown() + launch_ever_new());
    exit(0);
}

/* The summary of that process counts what is not known, and names arrays once. */
static void levels_are_counted(void **state)
{
    (void)state;
    char command[512], text[4096], expected[32];
    snprintf(command, sizeof command,
             "CSAN=1 CSAN_OPTIONS=symbolize=0:print_summary=1 '%s' levels 2>&1",
             program_invocation_name);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    text[fread(text, 1, sizeof text - 1, child)] = 0;
    assert_int_equal(pclose(child), 0);
    const char *number = strstr(text, "expected=");
    assert_non_null(number);
    /* no part of the line with the number, which must not be taken for the summary */
    snprintf(expected, sizeof expected, " %d unknown)", atoi(number + strlen("expected=")));
    const char *arrays = strstr(text, "textures and surfaces over arrays");
    if (!arrays || strstr(arrays + 1, "textures and surfaces") || !strstr(text, expected))
        fail_msg("expected%s and one word of arrays in:\n%s", expected, text);
}

int main(int argc, char **argv)
{
    hook_test_start(argv);
    if (argc > 1 && strcmp(argv[1], "levels") == 0)
        run_levels();
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(texture_reads_its_memory),
        TEST(texture_is_ordered_by_events),
        TEST(a_texture_in_use_is_not_destroyed),
        TEST(textures_read_together),
        TEST(pitched_texture_reads_its_rows),
        TEST(handles_are_forgotten_and_reused),
        TEST(failed_creation_is_no_object),
        TEST(texture_picked_by_index_may_be_any),
        TEST(arrays_are_not_followed),
        TEST(tensor_covers_its_rows),
        TEST(tensor_map_is_known_by_its_bytes),
        TEST(replaced_address_is_another_map),
        TEST(additions_to_a_tensor_are_atomic),
        TEST(one_of_several_maps),
        TEST(other_layouts_have_their_bytes),
        TEST(threads_apart),
        TEST(levels_are_counted),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_object", tests, NULL, NULL));
}
