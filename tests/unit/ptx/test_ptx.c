/* The PTX parser: mnemonics, operands, typed immediates, declarations, scopes, errors. */
#include "tests/unit/ptx/test_ptx.h"

static void assert_name(const struct ptx_function *f, const struct ptx_operand *o, const char *name)
{
    assert_int_equal(o->kind, PTX_OPERAND_REGISTER);
    assert_string_equal(f->registers[o->reg].name, name);
}

static void module_head(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(".version 8.7 .target sm_100a, debug .address_size 64\n"
                                      ".file 3 \"a.cu\", 12, 34\n"
                                      ".section .debug_str { $x: .b8 1,2 .b64 $x \n }");
    assert_int_equal(m->version, 87);
    assert_int_equal(m->target, 100);
    assert_true(m->arch_specific);
    assert_int_equal(m->file_count, 1);
    assert_int_equal(m->files[0].index, 3);
    assert_string_equal(m->files[0].name, "a.cu");
    ptx_module_release(m);
}

struct mnemonic_case {
    const char *text;
    uint16_t opcode;
    uint8_t type, type2, space, vector;
};

static void mnemonics(void **state)
{
    (void)state;
    static const struct mnemonic_case cases[] = {
        {"ld.global.nc.v2.f32 {%f1,%f2}, [%rd1];", PTX_OP_LD, PTX_F32, 0, PTX_SPACE_GLOBAL, 2},
        {"cvt.rzi.ftz.s32.f32 %r1, %f1;", PTX_OP_CVT, PTX_F32, PTX_S32, 0, 1},
        {"cvta.to.global.u64 %rd1, %rd2;", PTX_OP_CVTA, PTX_U64, 0, PTX_SPACE_GLOBAL, 1},
        {"st.volatile.shared.u32 [%rd1], %r1;", PTX_OP_ST, PTX_U32, 0, PTX_SPACE_SHARED, 1},
        {"ld.shared::cluster.b32 %r1, [%r2];", PTX_OP_LD, PTX_B32, 0, PTX_SPACE_SHARED_CLUSTER, 1},
        {"ld .global .L1::no_allocate.L2::128B .b64 %rd1, [%rd2];", PTX_OP_LD, PTX_B64, 0,
         PTX_SPACE_GLOBAL, 1},
        {"set.gt.u32.f32 %r1, %f1, %f2;", PTX_OP_SET, PTX_F32, PTX_U32, 0, 1},
        {"frobnicate.u32 %r1, %r2;", PTX_OP_UNKNOWN, PTX_U32, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptx_module *m = parse_body(cases[i].text);
        const struct ptx_instruction *in = first_instruction(m);
        assert_int_equal(in->opcode, cases[i].opcode);
        assert_int_equal(in->type, cases[i].type);
        assert_int_equal(in->type2, cases[i].type2);
        assert_int_equal(in->space, cases[i].space);
        assert_int_equal(in->vector, cases[i].vector);
        assert_false(in->unknown_suffix);
        ptx_module_release(m);
    }
}

static void qualifiers(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("setp.lt.and.ftz.f32 %p1|%p2, %f1, %f2, !%p3;\n"
                                      "mul.hi.u32 %r1, %r2, %r3;\n"
                                      "setp.hi.u32 %p1, %r1, %r2;\n"
                                      "atom.acq_rel.sys.global.cas.b32 %r1, [%rd1], %r2, %r3;\n"
                                      "shf.l.wrap.b32 %r1, %r2, %r3, 5;\n"
                                      "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n"
                                      "vote.sync.ballot.b32 %r1, %p1, -1;\n"
                                      "mad.lo.cc.u32 %r1, %r2, %r3, %r4;\n"
                                      "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;\n"
                                      "fence.proxy.async;\n"
                                      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 1;\n"
                                      "min.NaN.xorsign.abs.f32 %f1, %f2, %f3;\n"
                                      "membar.gl;\n"
                                      "add.newmode.f32 %f1, %f2, %f3;\n"
                                      "bar.red.popc.u32 %r1, 0, %p1;\n");
    const struct ptx_instruction *in = first_instruction(m);
    assert_int_equal(in[0].compare, PTX_CMP_LT);
    assert_int_equal(in[0].bool_op, PTX_BOOL_AND);
    assert_true(in[0].ftz);
    assert_int_equal(in[0].second.kind, PTX_OPERAND_REGISTER);
    assert_int_equal(in[0].operand_count, 4);
    assert_true(in[0].operands[3].negated);
    assert_int_equal(in[1].part, PTX_PART_HI);
    assert_int_equal(in[2].compare, PTX_CMP_HI);
    assert_int_equal(in[3].atomic, PTX_ATOMIC_CAS);
    assert_int_equal(in[3].semantics, PTX_SEM_ACQ_REL);
    assert_int_equal(in[3].scope, PTX_SCOPE_SYS);
    assert_int_equal(in[4].part, PTX_PART_LEFT);
    assert_true(in[4].wrap);
    assert_int_equal(in[5].shuffle, PTX_SHFL_BFLY);
    assert_int_equal(in[5].operands[4].imm, -1);
    assert_int_equal(in[6].vote, PTX_VOTE_BALLOT);
    assert_true(in[7].carry_out);
    assert_int_equal(in[8].form, PTX_FORM_CP_ASYNC);
    assert_int_equal(in[8].space, PTX_SPACE_SHARED);
    assert_int_equal(in[8].space2, PTX_SPACE_GLOBAL);
    assert_int_equal(in[9].form, PTX_FORM_FENCE_PROXY);
    assert_int_equal(in[10].form, PTX_FORM_MBARRIER_TRY_WAIT);
    assert_true(in[10].parity);
    assert_true(in[11].nan && in[11].xorsign && in[11].abs);
    assert_int_equal(in[12].scope, PTX_SCOPE_GPU);
    assert_true(in[13].unknown_suffix);
    assert_int_equal(in[14].form, PTX_FORM_BAR_RED);
    assert_int_equal(in[14].atomic, PTX_ATOMIC_ADD);
    ptx_module_release(m);
}

static void immediates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned operand;
        int64_t bits;
    } cases[] = {
        {"mov.f32 %f1, 0f3F800000;", 1, 0x3f800000},
        {"mov.f32 %f1, 0f7FA00001;", 1, 0x7fa00001}, /* a signalling NaN stays one */
        {"mov.b32 %r1, 0f40490FDB;", 1, 0x40490fdb},
        {"mov.f64 %fd1, 0dBFF0000000000000;", 1, (int64_t)0xbff0000000000000},
        {"add.f32 %f1, %f2, 1.5;", 2, 0x3fc00000},
        {"add.f32 %f1, %f2, -1;", 2, 0xbf800000},
        {"add.f64 %fd1, %fd2, -0.5e0;", 2, (int64_t)0xbfe0000000000000},
        {"cvt.rn.f32.s32 %f1, 3;", 1, 3},
        {"setp.gt.f32 %p1, %f1, 2.0;", 2, 0x40000000},
        {"selp.f32 %f1, 1.0, 0f00000000, %p1;", 1, 0x3f800000},
        {"shr.s32 %r1, %r2, 31;", 2, 31},
        {"add.s32 %r1, %r2, -7;", 2, -7},
        {"mov.u64 %rd1, 0xffffffffffffffff;", 1, -1},
        {"mov.u32 %r1, (1 << 4) + 017 * 2 - ~0;", 1, 16 + 30 + 1},
        {"mov.u32 %r1, 5 > 3 ? 10 : 20;", 1, 10},
        {"mov.u32 %r1, WARP_SZ;", 1, 32},
        {"mov.u32 %r1, !4;", 1, 0},
        {"mov.u32 %r1, 0b101U;", 1, 5},
        {"mov.u32 %r1, -7 / 2;", 1, -3},
        {"mov.u64 %rd1, 18446744073709551615 / 3;", 1, 6148914691236517205},
        {"slct.f32.s32 %f1, 1.0, %f2, 4;", 3, 4},
        {"set.lt.f32.u32 %f1, %r1, 9;", 2, 9},
        {"fma.rn.f16 %rs1, %rs2, 1.5, %rs3;", 2, 0x3e00},
        {"fma.rn.bf16 %rs1, %rs2, 1.5, %rs3;", 2, 0x3fc0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptx_module *m = parse_body(cases[i].text);
        const struct ptx_operand *o = &first_instruction(m)->operands[cases[i].operand];
        if (o->kind != PTX_OPERAND_IMMEDIATE || o->imm != cases[i].bits)
            fail_msg("%s: kind %d, %llx", cases[i].text, o->kind, (unsigned long long)o->imm);
        ptx_module_release(m);
    }
}

static void operands(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_body(".local .align 8 .b8 buffer[24]; .shared .u32 sh[4];\n"
                   "ld.global.u32 %r1, [%rd1+-8];\n"
                   "st.local.u32 [buffer+4], 7;\n"
                   "ld.shared.u32 %r1, sh[3];\n"
                   "mov.u64 %rd1, buffer+8;\n"
                   "ld.global.u32 %r1, [4096];\n"
                   "mov.b64 {%r1, _}, %rd1;\n"
                   "mov.u32 %r1, %ctaid.y;\n"
                   "mov.u32 %r1, %envreg31;\n"
                   "mov.u32 %r1, %reserved_smem_offset_begin;\n"
                   "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f1, %f2}];\n"
                   "mov.u64 %rd1, p;\n"
                   "elect.sync _|%p1, -1;\n");
    const struct ptx_function *f = m->functions[0];
    const struct ptx_instruction *in = f->instructions;
    assert_int_equal(in[0].operands[1].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(in[0].operands[1].base, PTX_OPERAND_REGISTER);
    assert_int_equal(in[0].operands[1].imm, -8);
    assert_string_equal(in[1].operands[0].variable->name, "buffer");
    assert_int_equal(in[1].operands[0].imm, 4);
    assert_int_equal(in[2].operands[1].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(in[2].operands[1].imm, 12);
    assert_int_equal(in[3].operands[1].kind, PTX_OPERAND_SYMBOL);
    assert_int_equal(in[3].operands[1].imm, 8);
    assert_int_equal(in[4].operands[1].base, PTX_OPERAND_IMMEDIATE);
    assert_int_equal(in[4].operands[1].imm, 4096);
    assert_int_equal(in[5].operands[0].count, 2);
    assert_name(f, &in[5].operands[0].elements[0], "%r1");
    assert_int_equal(in[5].operands[0].elements[1].kind, PTX_OPERAND_SINK);
    assert_int_equal(in[6].operands[1].special, PTX_SREG_CTAID_Y);
    assert_int_equal(in[7].operands[1].special, PTX_SREG_ENVREG_31);
    assert_int_equal(in[8].operands[1].kind, PTX_OPERAND_SPECIAL);
    assert_int_equal(in[8].operands[1].special, PTX_SREG_NONE);
    assert_int_equal(in[9].operands[1].count, 2);
    assert_int_equal(in[9].operands[1].elements[0].kind, PTX_OPERAND_REGISTER);
    assert_int_equal(in[9].operands[1].elements[1].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(in[9].operands[1].elements[1].count, 2);
    assert_ptr_equal(in[10].operands[1].variable, f->params[0].variable);
    assert_int_equal(in[11].operands[0].kind, PTX_OPERAND_SINK);
    assert_name(f, &in[11].second, "%p1");
    assert_int_equal(f->local_bytes, 24);
    assert_int_equal(f->shared_bytes, 16);
    ptx_module_release(m);
}

/* An inner brace's registers, ranges and labels hide the outer ones and end with it. */
static void scopes(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("mov.u32 %r1, 1;\n"
                                      "{ .reg .b64 %r1; mov.u64 %r1, 2; bra L; L: \n"
                                      "  { .reg .f32 %r<4>; mov.f32 %r1, 0f00000000;\n"
                                      "    mov.f32 %r3, 0f00000000; mov.u32 %r4, 5; }\n"
                                      "  mov.u64 %r1, 3; }\n"
                                      "mov.u32 %r1, 4; bra L; L: ret;\n");
    const struct ptx_function *f = m->functions[0];
    const struct ptx_instruction *in = f->instructions;
    uint32_t outer = in[0].operands[0].reg, middle = in[1].operands[0].reg;
    assert_int_equal(f->registers[outer].type, PTX_B32);
    assert_int_equal(f->registers[middle].type, PTX_B64);
    assert_int_equal(in[2].operands[0].target, 3);
    assert_int_equal(f->registers[in[3].operands[0].reg].type, PTX_F32);
    assert_int_equal(f->registers[in[4].operands[0].reg].type, PTX_F32);
    assert_int_equal(f->registers[in[5].operands[0].reg].type, PTX_B32); /* the range ends at 3 */
    assert_int_equal(in[6].operands[0].reg, middle);
    assert_int_equal(in[7].operands[0].reg, outer);
    assert_int_equal(in[8].operands[0].target, 9);
    ptx_module_release(m);
}

static void call_shapes(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(
        HEAD
        ".extern .func (.param .b32 r) ext (.param .b64 a, .param .f32 b);\n"
        ".func none;\n"
        ".func (.param .align 8 .b8 r[16]) big (.param .b32 x, .param .align 8 .b8 y[24]);\n"
        ".entry k () {\n .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        " { .param .b64 param0; .param .f32 param1; .param .b32 retval0;\n"
        "   call.uni (retval0), ext, (param0, param1); ld.param.b32 %r1, [retval0]; }\n"
        " call none;\n"
        " mov.u64 %rd2, big;\n"
        " { .param .align 8 .b8 q[24]; .param .align 8 .b8 r0[16]; .param .b32 i;\n"
        "   proto : .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .align 8 "
        ".b8 _[24]) .noreturn;\n"
        "   call (r0), %rd2, (i, q), proto; }\n"
        " list: .calltargets none, big;\n"
        " call %rd3, list;\n"
        " call (%r3), ext, (1, 1.0);\n }\n"
        ".visible .func (.param .align 8 .b8 r[16]) big (.param .b32 x, .param .align 8 .b8 "
        "y[24])\n"
        "{ .reg .b32 %r<3>; .param .b32 own; ld.param.b32 %r1, [x];\n"
        "  st.param.b32 [r+4], %r1; ret; }\n"
        ".func none { ret; }\n");
    const struct ptx_function *k = ptx_module_function(m, "k"),
                              *big = ptx_module_function(m, "big");
    const struct ptx_instruction *in = k->instructions;
    assert_int_equal(in[0].opcode, PTX_OP_CALL);
    assert_true(in[0].uniform);
    assert_ptr_equal(in[0].call->callee.function, ptx_module_function(m, "ext"));
    assert_true(in[0].call->callee.function->is_prototype);
    assert_int_equal(in[0].call->argument_count, 2);
    assert_string_equal(in[0].call->returns[0].variable->name, "retval0");
    assert_int_equal(in[2].call->argument_count, 0);
    assert_int_equal(in[3].operands[1].kind, PTX_OPERAND_FUNCTION);
    assert_ptr_equal(in[3].operands[1].function, big);
    assert_int_equal(in[4].call->callee.kind, PTX_OPERAND_REGISTER);
    assert_int_equal(in[4].call->prototype->param_count, 2);
    assert_true(in[4].call->prototype->noreturn);
    assert_int_equal(in[5].call->candidate_count, 2);
    assert_ptr_equal(in[5].call->candidates[1], big);
    assert_int_equal(in[6].call->returns[0].kind, PTX_OPERAND_REGISTER);
    assert_int_equal(in[6].call->arguments[1].imm, 0x3f800000); /* typed by the callee */
    assert_false(big->is_prototype);
    assert_int_equal(big->params[1].offset, 8);
    assert_int_equal(big->param_bytes, 32);
    assert_int_equal(big->returns[0].variable->offset, 32); /* behind the parameters */
    assert_ptr_equal(big->returns[0].variable->owner, big);
    assert_int_equal(big->locals[0]->offset, 48);
    assert_int_equal(big->param_frame_bytes, 52);
    ptx_module_release(m);
}

static void parameters(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_text(HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b,\n"
                        " .param .align 8 .b8 c[20], .param .u16 d)\n"
                        ".maxntid 128, 2, 1 .minnctapersm 3 .maxnreg 40 .reqnctapercluster 2\n"
                        ".explicitcluster .maxclusterrank 8 { ret; }\n"
                        ".func (.reg .u32 r) old(.reg .u32 x) { add.u32 r, x, 1; ret; }\n");
    const struct ptx_function *k = ptx_module_function(m, "k");
    assert_int_equal(k->param_count, 4);
    assert_int_equal(k->params[1].offset, 8);
    assert_true(k->params[1].is_ptr);
    assert_int_equal(k->params[1].ptr_space, PTX_SPACE_GLOBAL);
    assert_int_equal(k->params[1].align, 8);
    assert_int_equal(k->params[2].offset, 16);
    assert_int_equal(k->params[2].size, 20);
    assert_int_equal(k->params[3].offset, 36);
    assert_int_equal(k->param_bytes, 38);
    assert_int_equal(k->maxntid[0], 128);
    assert_int_equal(k->maxntid[1], 2);
    assert_int_equal(k->minnctapersm, 3);
    assert_int_equal(k->maxnreg, 40);
    assert_int_equal(k->required_cluster[0], 2);
    const struct ptx_function *old = ptx_module_function(m, "old");
    assert_null(old->params[0].variable);
    assert_string_equal(old->registers[old->params[0].reg].name, "x");
    ptx_module_release(m);
}

static void variables(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_text(HEAD ".extern .global .u32 later;\n"
                        ".global .u32 later = 5;\n"
                        ".visible .global .align 4 .b8 bytes[8] = {1, 0xff, -1};\n"
                        ".const .f32 reals[2][3] = {{0f3F800000, 2.0}, {-1}};\n"
                        ".global .align 8 .u64 pointers[4] = {generic(bytes)+2, f, 0, bytes-1};\n"
                        ".global .b8 split[2] = {0xFF(later), 0xFF00(generic(later))};\n"
                        ".global .attribute(.managed) .align 8 .f64 d = 0d3FF0000000000000;\n"
                        ".extern .shared .align 16 .b8 dynamic[];\n"
                        ".global .b16 counted[] = {1, 2, 3};\n"
                        ".global .v4 .f32 vec;\n"
                        ".common .global .u64 shared_by_all;\n"
                        ".shared .b8 s1[3]; .shared .u64 s2;\n"
                        ".global .texref tex; .global .samplerref smp = { addr_mode_0 = wrap };\n"
                        ".func f;\n");
    const struct ptx_variable *later = ptx_module_variable(m, "later");
    assert_int_equal(later->linkage, PTX_LINK_NONE);
    assert_int_equal(later->init[0], 5);
    const struct ptx_variable *bytes = ptx_module_variable(m, "bytes");
    assert_memory_equal(bytes->init, "\1\xff\xff\0\0\0\0\0", 8);
    const struct ptx_variable *reals = ptx_module_variable(m, "reals");
    float expected[6] = {1, 2, 0, -1, 0, 0};
    assert_memory_equal(reals->init, expected, sizeof expected);
    assert_int_equal(reals->space, PTX_SPACE_CONST);
    const struct ptx_variable *pointers = ptx_module_variable(m, "pointers");
    assert_int_equal(pointers->relocation_count, 3);
    assert_ptr_equal(pointers->relocations[0].variable, bytes);
    assert_int_equal(pointers->relocations[0].addend, 2);
    assert_true(pointers->relocations[0].generic);
    assert_ptr_equal(pointers->relocations[1].function, ptx_module_function(m, "f"));
    assert_int_equal(pointers->relocations[1].offset, 8);
    assert_int_equal(pointers->relocations[2].addend, -1);
    const struct ptx_variable *split = ptx_module_variable(m, "split");
    assert_int_equal(split->relocations[0].bytes, 1);
    assert_int_equal(split->relocations[1].shift, 1);
    assert_true(ptx_module_variable(m, "d")->managed);
    assert_true(ptx_module_variable(m, "dynamic")->unsized);
    assert_int_equal(ptx_module_variable(m, "counted")->size, 6);
    assert_false(ptx_module_variable(m, "counted")->unsized);
    assert_int_equal(ptx_module_variable(m, "vec")->size, 16);
    assert_int_equal(ptx_module_variable(m, "vec")->offset % 16, 0);
    assert_int_equal(ptx_module_variable(m, "shared_by_all")->linkage, PTX_LINK_COMMON);
    assert_int_equal(m->const_bytes, 24);
    assert_int_equal(m->shared_bytes, 16);
    assert_int_equal(ptx_module_variable(m, "tex")->type, PTX_TEXREF);
    assert_null(ptx_module_variable(m, "nothing"));
    ptx_module_release(m);
}

static void branch_targets(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("ts: .branchtargets A, B, A;\n"
                                      "brx.idx.uni %r1, ts;\n"
                                      "A: ret;\n B: @!%p1 bra END;\n trap;\n END:\n");
    const struct ptx_instruction *in = first_instruction(m);
    assert_int_equal(in[0].form, PTX_FORM_BRX_IDX);
    assert_int_equal(in[0].target_count, 3);
    assert_int_equal(in[0].targets[0], 1);
    assert_int_equal(in[0].targets[1], 2);
    assert_true(in[2].guard_negated);
    assert_int_equal(in[2].operands[0].target, 4); /* the function's end */
    ptx_module_release(m);
}

static void locations(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body(".loc 1 76 0\nmov.u32 %r1, 1;\n"
                                      ".loc 2 83 37, function_name $L__info+4, inlined_at 1 85 8\n"
                                      ".pragma \"nounroll\";\nmov.u32 %r1, 2;");
    const struct ptx_instruction *in = first_instruction(m);
    assert_int_equal(in[0].source_line, 76);
    assert_int_equal(in[1].source_file, 2);
    assert_int_equal(in[1].source_line, 83);
    assert_int_equal(in[0].line, 9);
    ptx_module_release(m);
}

/* The first .loc of a body is the function's, unless it is of what was inlined. */
static void definitions(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(HEAD ".entry own() { .loc 1 5 0\n.loc 1 7 3\nret; }\n"
                                           ".entry inlined() { .loc 1 9 3, function_name x, "
                                           "inlined_at 1 8 1\nret; }\n"
                                           ".entry late() { bar.sync 0; .loc 1 9 3\nret; }\n");
    assert_int_equal(ptx_module_function(m, "own")->source_line, 5);
    assert_int_equal(ptx_module_function(m, "own")->source_file, 1);
    assert_int_equal(ptx_module_function(m, "inlined")->source_line, 0);
    assert_int_equal(ptx_module_function(m, "late")->source_line, 0);
    ptx_module_release(m);
}

static void alias(void **state)
{
    (void)state;
    struct ptx_module *m = parse_text(HEAD ".visible .func other .func body { ret; }\n"
                                           ".alias other, body;\n");
    const struct ptx_function *other = ptx_module_function(m, "other");
    assert_int_equal(other->instruction_count, 1);
    assert_int_equal(other->linkage, PTX_LINK_VISIBLE);
    ptx_module_release(m);
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t line;
        const char *says;
    } cases[] = {
        {"", 1, "starts with .version"},
        {".version x", 1, "is no PTX version"},
        {HEAD ".address_size 32", 4, "must be 64"},
        {HEAD ".entry k() {\n bra NOWHERE;\n}", 5, "label 'NOWHERE' is not defined"},
        {HEAD ".entry k() {\n .reg .b32 %r1;\n add.s32 %r1, %r2, 1; }", 6, "'%r2'"},
        {HEAD ".entry k() {\n .reg .b32 %r<3>;\n add.s32 %r1, %r2; }", 6, "needs 3"},
        {HEAD ".entry k() {\n .reg .b32 %r<3>;\n add.s32 %r1, %r3, 1; }", 6, "%r3"},
        {HEAD ".entry k() {\n .reg .b32 %r<3>;\n add.s32 %r1, %r2, x; }", 6, "'x' is not declared"},
        {HEAD ".entry k() {\n .reg .b32 %r<3>;\n ld.global.u32 %r1, %r2; }", 6, "no address"},
        {HEAD ".entry k() {\n A: A: ret; }", 5, "defined twice"},
        {HEAD ".entry k() { ret; }\n.entry k() { ret; }", 5, "defined twice"},
        {HEAD ".global .u32 x; .global .u32 x;", 4, "declared twice"},
        {HEAD ".global .b8 x[2] = {1,2,3};", 4, "too many values"},
        {HEAD ".global .u64 x = nothing;", 4, "'nothing', which is not declared"},
        {HEAD ".global .b8 x[99999999][999999999];", 4, "larger than"},
        {HEAD ".global .b8 x[1 / 0];", 4, "division by zero"},
        {HEAD ".entry k() {\n ret;\n", 6, "the text ends inside function 'k'"},
        {HEAD ".entry k() { .reg .b32 %r<999999999>; }", 4, "register range"},
        {HEAD "bogus", 4, "'bogus' does not belong"},
        {HEAD ".entry k() { .weird; }", 4, "'.weird' does not belong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptx_error error;
        struct ptx_module *m = ptx_parse(cases[i].text, strlen(cases[i].text), &error);
        if (m || error.line != cases[i].line || !strstr(error.message, cases[i].says))
            fail_msg("%s\n=> line %u: %s", cases[i].text, error.line,
                     m ? "no error" : error.message);
        assert_null(strchr(error.message, '\n'));
    }
}

/* What no parser knows is kept, and does not spoil the rest. */
static void unknown_instructions(void **state)
{
    (void)state;
    struct ptx_module *m =
        parse_body("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;\n"
                   "zorp.x %%%, ((<>;\n"
                   "glorp nowhere;\n"
                   "mov.u32 %r1, 1;");
    const struct ptx_instruction *in = first_instruction(m);
    assert_int_equal(in[0].opcode, PTX_OP_UNKNOWN);
    assert_string_equal(in[0].mnemonic, "tcgen05.mma.cta_group::1.kind::f16");
    assert_int_equal(in[0].operand_count, 5);
    assert_int_equal(in[1].opcode, PTX_OP_UNKNOWN);
    assert_int_equal(in[1].operand_count, 0);
    assert_int_equal(in[3].opcode, PTX_OP_MOV);
    assert_false(in[3].unknown_suffix);
    ptx_module_release(m);
    /* a part of a register is no whole register: nobody may run this as if it were */
    m = parse_body("vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1, %r4; vadd.u32.u32.u32 %r1, %r2, %r3;");
    assert_true(first_instruction(m)[0].unknown_suffix);
    assert_int_equal(first_instruction(m)[0].operand_count, 4);
    assert_false(first_instruction(m)[1].unknown_suffix);
    ptx_module_release(m);
}

/* Instructions that libraries write by hand, for tensor cores and bulk copies: every one parses,
 * and forms that the IR does not distinguish are marked. */
static void assembly_of_libraries(void **state)
{
    (void)state;
    static const char *const marked[] = {"tcgen05.", "clusterlaunchcontrol.", "pmevent.", "vadd."};
    size_t bytes, found = 0;
    char *text = file_read(TEST_DATA "/ptx/exotic.ptx", &bytes);
    struct ptx_module *m = parse_text(text);
    const struct ptx_function *f = m->functions[0];
    assert_true(f->instruction_count > 100);
    for (uint32_t i = 0; i < f->instruction_count; i++) {
        const struct ptx_instruction *in = &f->instructions[i];
        bool expected = false;
        for (size_t k = 0; k < sizeof marked / sizeof *marked; k++)
            expected |= strncmp(in->mnemonic, marked[k], strlen(marked[k])) == 0;
        if (expected != (in->opcode == PTX_OP_UNKNOWN || in->unknown_suffix))
            fail_msg("line %u: %s", in->line, in->mnemonic);
        found += expected;
    }
    assert_int_equal(found, 5);
    ptx_module_release(m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_head),
        cmocka_unit_test(mnemonics),
        cmocka_unit_test(qualifiers),
        cmocka_unit_test(immediates),
        cmocka_unit_test(operands),
        cmocka_unit_test(scopes),
        cmocka_unit_test(call_shapes),
        cmocka_unit_test(parameters),
        cmocka_unit_test(variables),
        cmocka_unit_test(branch_targets),
        cmocka_unit_test(locations),
        cmocka_unit_test(definitions),
        cmocka_unit_test(alias),
        cmocka_unit_test(errors),
        cmocka_unit_test(unknown_instructions),
        cmocka_unit_test(assembly_of_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
