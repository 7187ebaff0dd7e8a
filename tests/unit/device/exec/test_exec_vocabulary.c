/* The device takes what compilers write. The list is of the base opcodes that nvcc 13.0 emits for
 * 764 kernels of public programs, CUB and Thrust included, most frequent first: each must occur in
 * a kernel that is supported. */
#include "tests/unit/device/exec/exec_harness.h"

static const char *const opcodes[] = {"add",       "mov",
                                      "ld",        "setp",
                                      "bra",       "st",
                                      "selp",      "and",
                                      "shl",       "mul",
                                      "cvt",       "shr",
                                      "fma",       "sub",
                                      "shfl",      "bar",
                                      "not",       "cvta",
                                      "xor",       "vote",
                                      "or",        "cp",
                                      "mad",       "atom",
                                      "barrier",   "bmsk",
                                      "ret",       "min",
                                      "div",       "tex",
                                      "clz",       "max",
                                      "rsqrt",     "popc",
                                      "neg",       "membar",
                                      "abs",       "nanosleep",
                                      "call",      "brev",
                                      "ex2",       "rem",
                                      "redux",     "rcp",
                                      "mbarrier",  "griddepcontrol",
                                      "bfi",       "sqrt",
                                      "red",       "sin",
                                      "cos",       "bfind",
                                      "exit",      "shf",
                                      "lg2",       "activemask",
                                      "vabsdiff4", "prefetch",
                                      "match",     "trap",
                                      "fence",     "copysign",
                                      "elect",     "bfe",
                                      "prmt",      "wmma"};

static bool seen[PTX_OP_COUNT];

static void note_opcodes(const struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        for (uint32_t k = 0; k < module->functions[i]->instruction_count; k++)
            seen[module->functions[i]->instructions[k].opcode] = true;
}

static void check_kernels(const char *name)
{
    static struct harness h;
    harness_open(&h, name);
    for (uint32_t i = 0; i < h.module->function_count; i++) {
        const struct ptx_function *kernel = h.module->functions[i];
        char message[512];
        if (kernel->is_entry && !exec_prepare(h.image, kernel, message, sizeof message))
            fail_msg("%s", message);
    }
    note_opcodes(h.module);
    harness_close(&h);
}

static void takes_what_nvcc_writes(void **unused)
{
    (void)unused;
    check_kernels("vocabulary");
    check_kernels("basic");
    check_kernels("device");
    check_kernels("matrix");
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        bool found = false;
        for (uint32_t op = 1; op < PTX_OP_COUNT && !found; op++)
            found = seen[op] && !strcmp(ptx_opcode_name(op), opcodes[i]);
        if (!found)
            fail_msg("no kernel here has '%s': nothing is known of it", opcodes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_what_nvcc_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
