/* Nodes of graphs that decide what runs: words that nodes write and wait for, and conditions. */
#include "tests/unit/device/device_graph.h"

/* ---- Memory operation nodes ---- */

static CUstreamBatchMemOpParams write_of(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                     .address = at,
                                                     .value = value}};
}

static CUstreamBatchMemOpParams wait_of(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                    .address = at,
                                                    .value = value,
                                                    .flags = CU_STREAM_WAIT_VALUE_EQ}};
}

/* A node waits for a word that the other branch writes. */
static void writes_and_waits_for_words(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphNode waits, writes, late;
    CUstreamBatchMemOpParams wait[] = {wait_of(p + 4, 7), write_of(p + 8, 1)};
    CUstreamBatchMemOpParams write[] = {write_of(p + 4, 3)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS waiting = {context, 2, wait, 0}, writing = {context, 1, write, 0},
                                  found;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphAddBatchMemOpNode(&waits, graph, NULL, 0, &waiting));
    ok(cuGraphAddBatchMemOpNode(&writes, graph, NULL, 0, &writing));
    write[0] = write_of(p + 4, 7);
    ok(cuGraphBatchMemOpNodeSetParams(writes, &writing));
    ok(cuGraphBatchMemOpNodeGetParams(writes, &found));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.paramArray[0].writeValue.value, 7);
    assert_int_equal(found.paramArray[0].writeValue.address, p + 4);
    late = set_node(graph, &waits, 1, q, 5);
    (void)late;
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p + 8), 1);
    assert_int_equal(word(q), 5);
    write[0] = write_of(p + 16, 9);
    ok(cuMemsetD32(p + 4, 7, 1));
    ok(cuGraphExecBatchMemOpNodeSetParams(exec, writes, &writing));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p + 16), 9);
    waiting.count = 0;
    assert_int_equal(cuGraphAddBatchMemOpNode(&late, graph, NULL, 0, &waiting),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddBatchMemOpNode(&late, graph, NULL, 0, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

/* ---- Conditional nodes ---- */

/* set(handle, words, at): the condition is the word; count(handle, words): the first word counts
 * down to 0, which is the condition. */
static const char conditions_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);\n"
    ".visible .entry set(.param .u64 h, .param .u64 p, .param .u32 i)\n{\n"
    ".param .b64 a; .param .b32 b;\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [h];\nld.param.u64 %rd2, [p];\nld.param.u32 %r1, [i];\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\n"
    "st.param.b64 [a], %rd1;\nst.param.b32 [b], %r2;\ncall cudaGraphSetConditional, (a, b);\n"
    "ret;\n}\n"
    ".visible .entry count(.param .u64 h, .param .u64 p)\n{\n.param .b64 a; .param .b32 b;\n"
    ".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [h];\nld.param.u64 %rd2, [p];\n"
    "ld.global.u32 %r1, [%rd2];\nsub.s32 %r2, %r1, 1;\nst.global.u32 [%rd2], %r2;\n"
    "st.param.b64 [a], %rd1;\nst.param.b32 [b], %r2;\ncall cudaGraphSetConditional, (a, b);\n"
    "ret;\n}\n"
    ".visible .entry add(.param .u64 p, .param .u32 i)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [i];\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\nadd.s32 %r3, %r2, 1;\n"
    "st.global.u32 [%rd3], %r3;\nret;\n}\n";

static CUgraphNode kernel_node(CUgraph graph, CUgraphNode after, const char *name,
                               void **parameters)
{
    static CUmodule module;
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    if (!module)
        ok(cuModuleLoadData(&module, conditions_text));
    ok(cuModuleGetFunction(&params.func, module, name));
    ok(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after != NULL, &params));
    return node;
}

static CUgraphNode add_one(CUgraph graph, CUgraphNode after, unsigned at)
{
    return kernel_node(graph, after, "add", (void *[]){&q, &at});
}

static CUresult conditional(CUgraph graph, CUgraphNode after, CUgraphConditionalHandle handle,
                            CUgraphConditionalNodeType type, unsigned size, CUgraphNode *node,
                            CUgraph *bodies)
{
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = type, .size = size, .ctx = context}};
    CUresult result =
        cuGraphAddNode(node, graph, after ? &after : NULL, NULL, after != NULL, &params);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return result;
}

/* What each value of the condition runs. Twice, since a launch must not see the last one's. */
static void runs_the_body_of_the_value(void **state)
{
    (void)state;
    CUgraph graph, bodies[3];
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    const unsigned at = 1;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    CUgraphNode chosen = kernel_node(graph, NULL, "set", (void *[]){&handle, &p, (void *)&at});
    ok(conditional(graph, chosen, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, &node, bodies));
    for (unsigned i = 0; i < 3; i++)
        add_one(bodies[i], NULL, i);
    add_one(graph, node, 3);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphDestroy(graph));
    const unsigned values[] = {2, 0, 7, 2, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ok(cuMemsetD32Async(p + 4, values[i], 1, a));
        ok(cuGraphLaunch(exec, a));
    }
    ok(cuGraphExecDestroy(exec)); /* what was launched goes on */
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(q), 1);
    assert_int_equal(word(q + 4), 1);
    assert_int_equal(word(q + 8), 2);
    assert_int_equal(word(q + 12), 5);
}

/* A loop with an else in it, whose start value is given at each launch. */
static void loops_and_nests(void **state)
{
    (void)state;
    CUgraph graph, loop, branches[2];
    CUgraphNode node, inner;
    CUgraphConditionalHandle again, which;
    const unsigned at = 1;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphConditionalHandleCreate(&again, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    ok(conditional(graph, NULL, again, CU_GRAPH_COND_TYPE_WHILE, 1, &node, &loop));
    ok(cuGraphConditionalHandleCreate(&which, loop, context, 0, 0));
    CUgraphNode counted = kernel_node(loop, NULL, "count", (void *[]){&again, &p});
    CUgraphNode chosen = kernel_node(loop, counted, "set", (void *[]){&which, &p, (void *)&at});
    ok(conditional(loop, chosen, which, CU_GRAPH_COND_TYPE_IF, 2, &inner, branches));
    add_one(branches[0], NULL, 0);
    add_one(branches[1], NULL, 1);
    add_one(loop, inner, 2);
    CUgraphExec exec = instantiate(graph);
    for (unsigned launch = 0; launch < 2; launch++) {
        ok(cuMemsetD32Async(p, 4, 1, b));
        ok(cuMemsetD32Async(p + 4, launch, 1, b));
        ok(cuGraphLaunch(exec, b));
    }
    ok(cuStreamSynchronize(b));
    assert_int_equal(word(q), 4);
    assert_int_equal(word(q + 4), 4);
    assert_int_equal(word(q + 8), 8);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

static void refuses_wrong_conditions(void **state)
{
    (void)state;
    CUgraph graph, other, bodies[2];
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    ok(cuGraphCreate(&graph, 0));
    assert_int_equal(cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    assert_int_equal(
        conditional(graph, NULL, handle + 1000, CU_GRAPH_COND_TYPE_IF, 1, &node, bodies),
        CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 2, &node, bodies),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 0, &node, bodies),
                     CUDA_ERROR_INVALID_VALUE);
    ok(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 2, &node, bodies));
    /* one node for each */
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node, &other),
                     CUDA_ERROR_INVALID_VALUE);
    /* a body is its node's */
    assert_int_equal(cuGraphDestroy(bodies[0]), CUDA_ERROR_INVALID_VALUE);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

int main(int count, char **arguments)
{
    (void)count;
    if (!test_schedule())
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        TEST(writes_and_waits_for_words),
        TEST(runs_the_body_of_the_value),
        TEST(loops_and_nests),
        TEST(refuses_wrong_conditions),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
