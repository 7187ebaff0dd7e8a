/* What the suffixes of an instruction mean (PTX ISA section 9.7). One table lists every suffix with
 * the field it sets; a few spellings mean different things for different opcodes and are settled in
 * one function; which form of a base opcode is meant follows from the words present, by a second
 * table. A suffix in no table sets unknown_suffix, so that nobody runs what he does not know. */
#include "runtime/ptx/suffix.h"

#include <stddef.h>
#include <string.h>

/* Words that choose a form; see `forms`. */
enum word {
    WORD_ASYNC = 1u << 0,
    WORD_BULK = 1u << 1,
    WORD_TENSOR = 1u << 2,
    WORD_COMMIT_GROUP = 1u << 3,
    WORD_WAIT_GROUP = 1u << 4,
    WORD_WAIT_ALL = 1u << 5,
    WORD_MBARRIER = 1u << 6,
    WORD_ARRIVE = 1u << 7,
    WORD_REDUCE = 1u << 8,
    WORD_SYNC = 1u << 9,
    WORD_RED = 1u << 10,
    WORD_WARP = 1u << 11,
    WORD_CLUSTER = 1u << 12,
    WORD_WAIT = 1u << 13,
    WORD_INIT = 1u << 14,
    WORD_INVAL = 1u << 15,
    WORD_ARRIVE_DROP = 1u << 16,
    WORD_TEST_WAIT = 1u << 17,
    WORD_TRY_WAIT = 1u << 18,
    WORD_EXPECT_TX = 1u << 19,
    WORD_LAUNCH_DEPENDENTS = 1u << 20,
    WORD_LOAD = 1u << 21,
    WORD_STORE = 1u << 22,
    WORD_MMA = 1u << 23,
    WORD_PROXY = 1u << 24,
    WORD_IDX = 1u << 25,
    WORD_ANY = 1u << 26,
    WORD_ALL = 1u << 27,
    WORD_OTHER = 1u << 28, /* changes the meaning in a way that only the mnemonic shows */
    WORD_MULTICAST = 1u << 29,
};

enum action {
    SET_TYPE,
    SET_SPACE,
    SET_VECTOR,
    SET_ROUNDING,
    SET_COMPARE,
    SET_PART,
    SET_OPERATION, /* value: atomic op; set/setp take the bool op instead */
    SET_SEMANTICS,
    SET_SCOPE,
    SET_SHUFFLE,
    SET_VOTE,
    SET_FLAG, /* value: offset of a bool */
    ADD_WORD, /* value: enum word */
    SET_FORM,
    CONTEXT, /* decided in decode_context */
    IGNORE   /* a hint, or said by the opcode already */
};

#define FLAG(member) SET_FLAG, offsetof(struct ptx_instruction, member)

static const struct suffix {
    const char *text;
    uint8_t action;
    uint32_t value;
} suffixes[] = {
    /* types, most frequent first */
    {"b32", SET_TYPE, PTX_B32},
    {"u32", SET_TYPE, PTX_U32},
    {"s32", SET_TYPE, PTX_S32},
    {"f32", SET_TYPE, PTX_F32},
    {"u64", SET_TYPE, PTX_U64},
    {"s64", SET_TYPE, PTX_S64},
    {"b64", SET_TYPE, PTX_B64},
    {"f64", SET_TYPE, PTX_F64},
    {"pred", SET_TYPE, PTX_PRED},
    {"u8", SET_TYPE, PTX_U8},
    {"s8", SET_TYPE, PTX_S8},
    {"b8", SET_TYPE, PTX_B8},
    {"u16", SET_TYPE, PTX_U16},
    {"s16", SET_TYPE, PTX_S16},
    {"b16", SET_TYPE, PTX_B16},
    {"b128", SET_TYPE, PTX_B128},
    {"f16", SET_TYPE, PTX_F16},
    {"f16x2", SET_TYPE, PTX_F16X2},
    {"bf16", SET_TYPE, PTX_BF16},
    {"bf16x2", SET_TYPE, PTX_BF16X2},
    {"tf32", SET_TYPE, PTX_TF32},
    {"f32x2", SET_TYPE, PTX_F32X2},
    {"u16x2", SET_TYPE, PTX_U16X2},
    {"s16x2", SET_TYPE, PTX_S16X2},
    {"e4m3x2", SET_TYPE, PTX_E4M3X2},
    {"e5m2x2", SET_TYPE, PTX_E5M2X2},
    {"texref", SET_TYPE, PTX_TEXREF},
    {"samplerref", SET_TYPE, PTX_SAMPLERREF},
    {"surfref", SET_TYPE, PTX_SURFREF},
    {"e4m3", SET_TYPE, PTX_TYPE_OTHER},
    {"e5m2", SET_TYPE, PTX_TYPE_OTHER},
    {"e3m2", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m3", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m1", SET_TYPE, PTX_TYPE_OTHER},
    {"e3m2x2", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m3x2", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m1x2", SET_TYPE, PTX_TYPE_OTHER},
    {"e4m3x4", SET_TYPE, PTX_TYPE_OTHER},
    {"e5m2x4", SET_TYPE, PTX_TYPE_OTHER},
    {"e3m2x4", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m3x4", SET_TYPE, PTX_TYPE_OTHER},
    {"e2m1x4", SET_TYPE, PTX_TYPE_OTHER},
    {"ue8m0", SET_TYPE, PTX_TYPE_OTHER},
    {"ue4m3", SET_TYPE, PTX_TYPE_OTHER},
    {"ue8m0x2", SET_TYPE, PTX_TYPE_OTHER},
    {"u4", SET_TYPE, PTX_TYPE_OTHER},
    {"s4", SET_TYPE, PTX_TYPE_OTHER},
    {"u2", SET_TYPE, PTX_TYPE_OTHER},
    {"s2", SET_TYPE, PTX_TYPE_OTHER},
    {"b1", SET_TYPE, PTX_TYPE_OTHER},
    {"b4", SET_TYPE, PTX_TYPE_OTHER},
    {"b4x16", SET_TYPE, PTX_TYPE_OTHER},
    {"b4x16_p64", SET_TYPE, PTX_TYPE_OTHER},
    {"b6x16_p32", SET_TYPE, PTX_TYPE_OTHER},
    {"b6p2x16", SET_TYPE, PTX_TYPE_OTHER},
    {"b8x16", SET_TYPE, PTX_TYPE_OTHER},
    {"u8x4", SET_TYPE, PTX_TYPE_OTHER},
    {"s8x4", SET_TYPE, PTX_TYPE_OTHER},
    /* state spaces */
    {"global", SET_SPACE, PTX_SPACE_GLOBAL},
    {"shared", SET_SPACE, PTX_SPACE_SHARED},
    {"shared::cta", SET_SPACE, PTX_SPACE_SHARED},
    {"shared::cluster", SET_SPACE, PTX_SPACE_SHARED_CLUSTER},
    {"local", SET_SPACE, PTX_SPACE_LOCAL},
    {"param", SET_SPACE, PTX_SPACE_PARAM},
    {"param::entry", SET_SPACE, PTX_SPACE_PARAM},
    {"param::func", SET_SPACE, PTX_SPACE_PARAM},
    {"const", SET_SPACE, PTX_SPACE_CONST},
    {"v2", SET_VECTOR, 2},
    {"v4", SET_VECTOR, 4},
    {"v8", SET_VECTOR, 8},
    {"rn", SET_ROUNDING, PTX_ROUND_RN},
    {"rz", SET_ROUNDING, PTX_ROUND_RZ},
    {"rm", SET_ROUNDING, PTX_ROUND_RM},
    {"rp", SET_ROUNDING, PTX_ROUND_RP},
    {"rna", SET_ROUNDING, PTX_ROUND_RNA},
    {"rni", SET_ROUNDING, PTX_ROUND_RNI},
    {"rzi", SET_ROUNDING, PTX_ROUND_RZI},
    {"rmi", SET_ROUNDING, PTX_ROUND_RMI},
    {"rpi", SET_ROUNDING, PTX_ROUND_RPI},
    {"rs", ADD_WORD, WORD_OTHER}, /* stochastic */
    {"eq", SET_COMPARE, PTX_CMP_EQ},
    {"ne", SET_COMPARE, PTX_CMP_NE},
    {"lt", SET_COMPARE, PTX_CMP_LT},
    {"le", SET_COMPARE, PTX_CMP_LE},
    {"gt", SET_COMPARE, PTX_CMP_GT},
    {"ge", SET_COMPARE, PTX_CMP_GE},
    {"ls", SET_COMPARE, PTX_CMP_LS},
    {"hs", SET_COMPARE, PTX_CMP_HS},
    {"equ", SET_COMPARE, PTX_CMP_EQU},
    {"neu", SET_COMPARE, PTX_CMP_NEU},
    {"ltu", SET_COMPARE, PTX_CMP_LTU},
    {"leu", SET_COMPARE, PTX_CMP_LEU},
    {"gtu", SET_COMPARE, PTX_CMP_GTU},
    {"geu", SET_COMPARE, PTX_CMP_GEU},
    {"num", SET_COMPARE, PTX_CMP_NUM},
    {"nan", SET_COMPARE, PTX_CMP_NAN},
    {"lo", CONTEXT, 0},
    {"hi", CONTEXT, 0},
    {"wide", SET_PART, PTX_PART_WIDE},
    {"l", SET_PART, PTX_PART_LEFT},
    {"r", SET_PART, PTX_PART_RIGHT},
    {"add", SET_OPERATION, PTX_ATOMIC_ADD},
    {"min", SET_OPERATION, PTX_ATOMIC_MIN},
    {"max", SET_OPERATION, PTX_ATOMIC_MAX},
    {"and", SET_OPERATION, PTX_ATOMIC_AND},
    {"or", SET_OPERATION, PTX_ATOMIC_OR},
    {"xor", SET_OPERATION, PTX_ATOMIC_XOR},
    {"exch", SET_OPERATION, PTX_ATOMIC_EXCH},
    {"cas", SET_OPERATION, PTX_ATOMIC_CAS},
    {"inc", SET_OPERATION, PTX_ATOMIC_INC},
    {"dec", SET_OPERATION, PTX_ATOMIC_DEC},
    {"popc", SET_OPERATION, PTX_ATOMIC_ADD},
    {"weak", SET_SEMANTICS, PTX_SEM_WEAK},
    {"volatile", SET_SEMANTICS, PTX_SEM_VOLATILE},
    {"relaxed", SET_SEMANTICS, PTX_SEM_RELAXED},
    {"acquire", SET_SEMANTICS, PTX_SEM_ACQUIRE},
    {"release", SET_SEMANTICS, PTX_SEM_RELEASE},
    {"acq_rel", SET_SEMANTICS, PTX_SEM_ACQ_REL},
    {"sc", SET_SEMANTICS, PTX_SEM_SC},
    {"mmio", SET_SEMANTICS, PTX_SEM_MMIO},
    {"cta", SET_SCOPE, PTX_SCOPE_CTA},
    {"gpu", SET_SCOPE, PTX_SCOPE_GPU},
    {"gl", SET_SCOPE, PTX_SCOPE_GPU}, /* membar.gl */
    {"sys", SET_SCOPE, PTX_SCOPE_SYS},
    {"cluster", CONTEXT, 0},
    {"up", SET_SHUFFLE, PTX_SHFL_UP},
    {"down", SET_SHUFFLE, PTX_SHFL_DOWN},
    {"bfly", SET_SHUFFLE, PTX_SHFL_BFLY},
    {"idx", CONTEXT, 0},
    {"all", CONTEXT, 0},
    {"any", CONTEXT, 0},
    {"uni", CONTEXT, 0},
    {"ballot", SET_VOTE, PTX_VOTE_BALLOT},
    {"ftz", FLAG(ftz)},
    {"sat", FLAG(sat)},
    {"satfinite", FLAG(sat)},
    {"approx", FLAG(approx)},
    {"full", FLAG(full)},
    {"noftz", FLAG(noftz)},
    {"cc", FLAG(carry_out)},
    {"to", FLAG(to)},
    {"nc", FLAG(nc)},
    {"wrap", FLAG(wrap)},
    {"shiftamt", FLAG(shiftamt)},
    {"noreturn", FLAG(noreturn)},
    {"relu", FLAG(relu)},
    {"NaN", FLAG(nan)},
    {"abs", FLAG(abs)},
    {"xorsign", FLAG(xorsign)},
    {"aligned", FLAG(aligned)},
    {"noinc", FLAG(noinc)},
    {"parity", FLAG(parity)},
    {"async", ADD_WORD, WORD_ASYNC},
    {"bulk", ADD_WORD, WORD_BULK},
    {"tensor", ADD_WORD, WORD_TENSOR},
    {"commit_group", ADD_WORD, WORD_COMMIT_GROUP},
    {"wait_group", ADD_WORD, WORD_WAIT_GROUP},
    {"wait_all", ADD_WORD, WORD_WAIT_ALL},
    {"mbarrier", ADD_WORD, WORD_MBARRIER},
    {"arrive", ADD_WORD, WORD_ARRIVE},
    {"reduce", ADD_WORD, WORD_REDUCE},
    {"sync", ADD_WORD, WORD_SYNC},
    {"red", ADD_WORD, WORD_RED},
    {"warp", ADD_WORD, WORD_WARP},
    {"wait", ADD_WORD, WORD_WAIT},
    {"init", ADD_WORD, WORD_INIT},
    {"inval", ADD_WORD, WORD_INVAL},
    {"arrive_drop", ADD_WORD, WORD_ARRIVE_DROP},
    {"test_wait", ADD_WORD, WORD_TEST_WAIT},
    {"try_wait", ADD_WORD, WORD_TRY_WAIT},
    {"expect_tx", ADD_WORD, WORD_EXPECT_TX},
    {"launch_dependents", ADD_WORD, WORD_LAUNCH_DEPENDENTS},
    {"load", ADD_WORD, WORD_LOAD},
    {"store", ADD_WORD, WORD_STORE},
    {"mma", ADD_WORD, WORD_MMA},
    {"mma_async", ADD_WORD, WORD_MMA},
    {"proxy", ADD_WORD, WORD_PROXY},
    {"prefetch", ADD_WORD, WORD_OTHER}, /* cp.async.bulk.prefetch */
    {"pack", ADD_WORD, WORD_OTHER},
    {"scaled", ADD_WORD, WORD_OTHER},
    {"noComplete", IGNORE, 0},
    {"complete_tx", ADD_WORD, WORD_OTHER},
    {"pending_count", ADD_WORD, WORD_OTHER},
    {"mbarrier_init", ADD_WORD, WORD_OTHER},
    {"ignore_oob", IGNORE, 0},
    {"cp_mask", ADD_WORD, WORD_OTHER},
    {"read", IGNORE, 0},
    {"bulk_group", IGNORE, 0},
    {"mbarrier::complete_tx::bytes", IGNORE, 0},
    {"multicast::cluster", ADD_WORD, WORD_MULTICAST},
    {"tile", IGNORE, 0},
    {"tile::gather4", IGNORE, 0},
    {"tile::scatter4", IGNORE, 0},
    {"im2col", IGNORE, 0},
    {"im2col_no_offs", IGNORE, 0},
    {"im2col::w", IGNORE, 0},
    {"im2col::w::128", IGNORE, 0},
    {"cta_group::1", IGNORE, 0},
    {"cta_group::2", IGNORE, 0},
    {"finite", SET_FORM, PTX_FORM_TESTP_FINITE},
    {"infinite", SET_FORM, PTX_FORM_TESTP_INFINITE},
    {"number", SET_FORM, PTX_FORM_TESTP_NUMBER},
    {"notanumber", SET_FORM, PTX_FORM_TESTP_NOTANUMBER},
    {"normal", SET_FORM, PTX_FORM_TESTP_NORMAL},
    {"subnormal", SET_FORM, PTX_FORM_TESTP_SUBNORMAL},
    {"f4e", SET_FORM, PTX_FORM_PRMT_F4E},
    {"b4e", SET_FORM, PTX_FORM_PRMT_B4E},
    {"rc8", SET_FORM, PTX_FORM_PRMT_RC8},
    {"ecl", SET_FORM, PTX_FORM_PRMT_ECL},
    {"ecr", SET_FORM, PTX_FORM_PRMT_ECR},
    {"rc16", SET_FORM, PTX_FORM_PRMT_RC16},
    /* cache hints, shapes, layouts, texture geometry: no part of what is read or written where */
    {"clamp", IGNORE, 0},
    {"zero", IGNORE, 0},
    {"trap", IGNORE, 0},
    {"ca", IGNORE, 0},
    {"cg", IGNORE, 0},
    {"cs", IGNORE, 0},
    {"lu", IGNORE, 0},
    {"cv", IGNORE, 0},
    {"wb", IGNORE, 0},
    {"wt", IGNORE, 0},
    {"unified", IGNORE, 0},
    {"L1", IGNORE, 0},
    {"L2", IGNORE, 0},
    {"fractional", IGNORE, 0},
    {"range", IGNORE, 0},
    {"cvt", IGNORE, 0},
    {"row", IGNORE, 0},
    {"col", IGNORE, 0},
    {"trans", IGNORE, 0},
    {"x1", IGNORE, 0},
    {"x2", IGNORE, 0},
    {"x4", IGNORE, 0},
    {"a", IGNORE, 0},
    {"b", IGNORE, 0},
    {"c", IGNORE, 0},
    {"d", IGNORE, 0},
    {"p", IGNORE, 0},
    {"1d", IGNORE, 0},
    {"2d", IGNORE, 0},
    {"3d", IGNORE, 0},
    {"4d", IGNORE, 0},
    {"5d", IGNORE, 0},
    {"a1d", IGNORE, 0},
    {"a2d", IGNORE, 0},
    {"cube", IGNORE, 0},
    {"acube", IGNORE, 0},
    {"2dms", IGNORE, 0},
    {"a2dms", IGNORE, 0},
    {"level", IGNORE, 0},
    {"base", IGNORE, 0},
    {"grad", IGNORE, 0},
    {"g", IGNORE, 0},
    {"width", IGNORE, 0},
    {"height", IGNORE, 0},
    {"depth", IGNORE, 0},
    {"channel_data_type", IGNORE, 0},
    {"channel_order", IGNORE, 0},
    {"normalized_coords", IGNORE, 0},
    {"array_size", IGNORE, 0},
    {"num_mipmap_levels", IGNORE, 0},
    {"num_samples", IGNORE, 0},
    {"memory_layout", IGNORE, 0},
    {"filter_mode", IGNORE, 0},
    {"force_unnormalized_coords", IGNORE, 0},
    {"addr_mode_0", IGNORE, 0},
    {"addr_mode_1", IGNORE, 0},
    {"addr_mode_2", IGNORE, 0},
    {"fence", IGNORE, 0},
    {"fetch", IGNORE, 0},
    {"alias", IGNORE, 0},
    {"alloc", IGNORE, 0},
    {"tensormap", IGNORE, 0},
    {"cp_fenceproxy", IGNORE, 0},
    {"b1024", IGNORE, 0}, /* the fields of tensor maps, and the whole of one */
    {"global_address", IGNORE, 0},
    {"rank", IGNORE, 0},
    {"box_dim", IGNORE, 0},
    {"global_dim", IGNORE, 0},
    {"global_stride", IGNORE, 0},
    {"element_stride", IGNORE, 0},
    {"elemtype", IGNORE, 0},
    {"interleave_layout", IGNORE, 0},
    {"swizzle_mode", IGNORE, 0},
    {"swizzle_atomicity", IGNORE, 0},
    {"fill_mode", IGNORE, 0},
    {"tensormap::generic", IGNORE, 0},
    {"async::generic", IGNORE, 0},
    {"sync_restrict::shared::cta", IGNORE, 0},
    {"sync_restrict::shared::cluster", IGNORE, 0},
    {"sync_restrict::shared::cta::cluster", IGNORE, 0},
    {"sync_restrict::shared::cluster::cta", IGNORE, 0},
    {"ld_reduce", ADD_WORD, WORD_LOAD},
    {"st", ADD_WORD, WORD_STORE},
    {"sp", IGNORE, 0},
    {"sp::ordered_metadata", IGNORE, 0},
    {"block_scale", IGNORE, 0},
    {"b0", ADD_WORD, WORD_OTHER}, /* byte and half selectors of the video instructions */
    {"b2", ADD_WORD, WORD_OTHER},
    {"b3", ADD_WORD, WORD_OTHER},
    {"h0", ADD_WORD, WORD_OTHER},
    {"h1", ADD_WORD, WORD_OTHER},
    {"replace", ADD_WORD, WORD_OTHER},
};

/* Prefixes of suffixes with a variable tail, all without effect on the fields of the IR. */
static const char *const ignored_prefixes[] = {
    "L1::", "L2::", "level::", "kind::",  "proxy::",     "m16n",
    "m8n",  "m32n", "m64n",    "range::", "scale_vec::",
};

static const struct form {
    uint8_t opcode;
    uint32_t words;
    uint8_t form;
} forms[] = {
    /* the first whose words are all present wins */
    {PTX_OP_CP, WORD_ASYNC | WORD_MBARRIER | WORD_ARRIVE, PTX_FORM_CP_ASYNC_MBARRIER_ARRIVE},
    {PTX_OP_CP, WORD_REDUCE | WORD_BULK | WORD_TENSOR, PTX_FORM_CP_REDUCE_ASYNC_BULK_TENSOR},
    {PTX_OP_CP, WORD_REDUCE | WORD_ASYNC | WORD_BULK, PTX_FORM_CP_REDUCE_ASYNC_BULK},
    {PTX_OP_CP, WORD_BULK | WORD_COMMIT_GROUP, PTX_FORM_CP_ASYNC_BULK_COMMIT},
    {PTX_OP_CP, WORD_BULK | WORD_WAIT_GROUP, PTX_FORM_CP_ASYNC_BULK_WAIT_GROUP},
    {PTX_OP_CP, WORD_BULK | WORD_OTHER, PTX_FORM_CP_OTHER},
    {PTX_OP_CP, WORD_ASYNC | WORD_BULK | WORD_TENSOR, PTX_FORM_CP_ASYNC_BULK_TENSOR},
    {PTX_OP_CP, WORD_ASYNC | WORD_BULK, PTX_FORM_CP_ASYNC_BULK},
    {PTX_OP_CP, WORD_ASYNC | WORD_COMMIT_GROUP, PTX_FORM_CP_ASYNC_COMMIT},
    {PTX_OP_CP, WORD_ASYNC | WORD_WAIT_GROUP, PTX_FORM_CP_ASYNC_WAIT_GROUP},
    {PTX_OP_CP, WORD_ASYNC | WORD_WAIT_ALL, PTX_FORM_CP_ASYNC_WAIT_ALL},
    {PTX_OP_CP, WORD_ASYNC | WORD_OTHER, PTX_FORM_CP_OTHER},
    {PTX_OP_CP, WORD_ASYNC, PTX_FORM_CP_ASYNC},
    {PTX_OP_CP, 0, PTX_FORM_CP_OTHER},
    {PTX_OP_BAR, WORD_WARP, PTX_FORM_BAR_WARP_SYNC},
    {PTX_OP_BAR, WORD_SYNC, PTX_FORM_BAR_SYNC},
    {PTX_OP_BAR, WORD_ARRIVE, PTX_FORM_BAR_ARRIVE},
    {PTX_OP_BAR, WORD_RED, PTX_FORM_BAR_RED},
    {PTX_OP_BARRIER, WORD_CLUSTER | WORD_ARRIVE, PTX_FORM_BARRIER_CLUSTER_ARRIVE},
    {PTX_OP_BARRIER, WORD_CLUSTER | WORD_WAIT, PTX_FORM_BARRIER_CLUSTER_WAIT},
    {PTX_OP_BARRIER, WORD_SYNC, PTX_FORM_BAR_SYNC},
    {PTX_OP_BARRIER, WORD_ARRIVE, PTX_FORM_BAR_ARRIVE},
    {PTX_OP_BARRIER, WORD_RED, PTX_FORM_BAR_RED},
    {PTX_OP_BRX, WORD_IDX, PTX_FORM_BRX_IDX},
    {PTX_OP_MATCH, WORD_ANY, PTX_FORM_MATCH_ANY},
    {PTX_OP_MATCH, WORD_ALL, PTX_FORM_MATCH_ALL},
    {PTX_OP_MBARRIER, WORD_OTHER, PTX_FORM_MBARRIER_OTHER},
    {PTX_OP_MBARRIER, WORD_INIT, PTX_FORM_MBARRIER_INIT},
    {PTX_OP_MBARRIER, WORD_INVAL, PTX_FORM_MBARRIER_INVAL},
    {PTX_OP_MBARRIER, WORD_ARRIVE, PTX_FORM_MBARRIER_ARRIVE},
    {PTX_OP_MBARRIER, WORD_ARRIVE_DROP, PTX_FORM_MBARRIER_ARRIVE_DROP},
    {PTX_OP_MBARRIER, WORD_TEST_WAIT, PTX_FORM_MBARRIER_TEST_WAIT},
    {PTX_OP_MBARRIER, WORD_TRY_WAIT, PTX_FORM_MBARRIER_TRY_WAIT},
    {PTX_OP_MBARRIER, WORD_EXPECT_TX, PTX_FORM_MBARRIER_EXPECT_TX},
    {PTX_OP_MBARRIER, 0, PTX_FORM_MBARRIER_OTHER},
    {PTX_OP_GRIDDEPCONTROL, WORD_WAIT, PTX_FORM_GRIDDEP_WAIT},
    {PTX_OP_GRIDDEPCONTROL, WORD_LAUNCH_DEPENDENTS, PTX_FORM_GRIDDEP_LAUNCH_DEPENDENTS},
    {PTX_OP_MMA, 0, PTX_FORM_MMA},
    {PTX_OP_WMMA, WORD_LOAD, PTX_FORM_WMMA_LOAD},
    {PTX_OP_WMMA, WORD_STORE, PTX_FORM_WMMA_STORE},
    {PTX_OP_WMMA, WORD_MMA, PTX_FORM_WMMA_MMA},
    {PTX_OP_FENCE, WORD_PROXY, PTX_FORM_FENCE_PROXY},
    {PTX_OP_FENCE, WORD_OTHER, PTX_FORM_FENCE_PROXY},
    {PTX_OP_MEMBAR, WORD_PROXY, PTX_FORM_FENCE_PROXY},
};

static bool same(const char *text, size_t length, const char *word)
{
    return strncmp(text, word, length) == 0 && word[length] == 0;
}

static const struct suffix *suffix_find(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (same(text, length, suffixes[i].text))
            return &suffixes[i];
    return NULL;
}

static bool is_ignored_prefix(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof ignored_prefixes / sizeof *ignored_prefixes; i++) {
        size_t prefix = strlen(ignored_prefixes[i]);
        if (length >= prefix && memcmp(text, ignored_prefixes[i], prefix) == 0)
            return true;
    }
    return false;
}

enum ptx_type ptx_suffix_type(const char *text, size_t length)
{
    const struct suffix *suffix = suffix_find(text, length);
    return suffix && suffix->action == SET_TYPE ? (enum ptx_type)suffix->value : PTX_TYPE_NONE;
}

/* Spellings whose meaning depends on the opcode. Returns a word to add. */
static uint32_t decode_context(struct ptx_instruction *i, const char *text, size_t length)
{
    bool compares = i->opcode == PTX_OP_SET || i->opcode == PTX_OP_SETP;
    if (same(text, length, "lo") || same(text, length, "hi")) {
        bool low = text[0] == 'l';
        if (compares)
            i->compare = low ? PTX_CMP_LO : PTX_CMP_HI;
        else
            i->part = low ? PTX_PART_LO : PTX_PART_HI;
        return 0;
    }
    if (same(text, length, "cluster")) {
        if (i->opcode == PTX_OP_BARRIER)
            return WORD_CLUSTER;
        i->scope = PTX_SCOPE_CLUSTER;
        return 0;
    }
    if (same(text, length, "idx")) {
        i->shuffle = i->opcode == PTX_OP_SHFL ? PTX_SHFL_IDX : PTX_SHFL_NONE;
        return WORD_IDX;
    }
    if (same(text, length, "uni")) {
        if (i->opcode == PTX_OP_VOTE)
            i->vote = PTX_VOTE_UNI;
        else
            i->uniform = true;
        return 0;
    }
    bool all = same(text, length, "all");
    if (i->opcode == PTX_OP_VOTE)
        i->vote = all ? PTX_VOTE_ALL : PTX_VOTE_ANY;
    return all ? WORD_ALL : WORD_ANY;
}

static void set_type(struct ptx_instruction *i, uint32_t type)
{
    if (i->type != PTX_TYPE_NONE && i->type2 == PTX_TYPE_NONE)
        i->type2 = i->type;
    i->type = (uint8_t)type;
}

static void set_space(struct ptx_instruction *i, uint32_t space)
{
    if (i->opcode == PTX_OP_CP && i->space != PTX_SPACE_GENERIC)
        i->space2 = (uint8_t)space;
    else
        i->space = (uint8_t)space;
}

static void set_operation(struct ptx_instruction *i, uint32_t operation)
{
    bool compares = i->opcode == PTX_OP_SET || i->opcode == PTX_OP_SETP;
    if (!compares && i->opcode != PTX_OP_LOP3) {
        i->atomic = (uint8_t)operation;
        return;
    }
    i->bool_op = operation == PTX_ATOMIC_AND  ? PTX_BOOL_AND
                 : operation == PTX_ATOMIC_OR ? PTX_BOOL_OR
                                              : PTX_BOOL_XOR;
}

/* One suffix; returns the word it adds. */
static uint32_t decode_suffix(struct ptx_instruction *i, const char *text, size_t length)
{
    const struct suffix *suffix = suffix_find(text, length);
    if (!suffix) {
        i->unknown_suffix |= !is_ignored_prefix(text, length);
        return 0;
    }
    switch ((enum action)suffix->action) {
    case SET_TYPE:
        set_type(i, suffix->value);
        break;
    case SET_SPACE:
        set_space(i, suffix->value);
        break;
    case SET_VECTOR:
        i->vector = (uint8_t)suffix->value;
        break;
    case SET_ROUNDING:
        i->rounding = (uint8_t)suffix->value;
        break;
    case SET_COMPARE:
        i->compare = (uint8_t)suffix->value;
        break;
    case SET_PART:
        i->part = (uint8_t)suffix->value;
        break;
    case SET_OPERATION:
        set_operation(i, suffix->value);
        break;
    case SET_SEMANTICS:
        i->semantics = (uint8_t)suffix->value;
        break;
    case SET_SCOPE:
        i->scope = (uint8_t)suffix->value;
        break;
    case SET_SHUFFLE:
        i->shuffle = (uint8_t)suffix->value;
        break;
    case SET_VOTE:
        i->vote = (uint8_t)suffix->value;
        break;
    case SET_FLAG:
        *(bool *)((char *)i + suffix->value) = true;
        break;
    case SET_FORM:
        i->form = (uint8_t)suffix->value;
        break;
    case ADD_WORD:
        return suffix->value;
    case CONTEXT:
        return decode_context(i, text, length);
    case IGNORE:
        break;
    }
    return 0;
}

static void decode_form(struct ptx_instruction *i, uint32_t words)
{
    i->async = words & WORD_ASYNC;
    i->expect_tx = words & WORD_EXPECT_TX;
    if (i->opcode == PTX_OP_BAR) /* "bar{.cta} is equivalent to barrier{.cta}.aligned" */
        i->aligned = true;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (forms[k].opcode == i->opcode && (words & forms[k].words) == forms[k].words) {
            i->form = forms[k].form;
            return;
        }
    }
    if (words & WORD_OTHER)
        i->form = PTX_FORM_OTHER;
}

static uint16_t opcode_find(const char *text, size_t length)
{
    for (int opcode = PTX_OP_UNKNOWN + 1; opcode < PTX_OP_COUNT; opcode++)
        if (same(text, length, ptx_opcode_name((enum ptx_opcode)opcode)))
            return (uint16_t)opcode;
    return PTX_OP_UNKNOWN;
}

void ptx_mnemonic_decode(const char *mnemonic, struct ptx_instruction *instruction)
{
    memset(instruction, 0, sizeof *instruction);
    instruction->mnemonic = mnemonic;
    instruction->vector = 1;
    instruction->guard = PTX_NO_REGISTER;
    size_t length = strcspn(mnemonic, ".");
    instruction->opcode = opcode_find(mnemonic, length);
    uint32_t words = 0;
    for (const char *text = mnemonic + length; *text; text += length) {
        text++;
        length = strcspn(text, ".");
        words |= decode_suffix(instruction, text, length);
    }
    decode_form(instruction, words);
}

static const struct {
    const char *name;
    uint8_t special;
} special_registers[] = {
    {"%tid.x", PTX_SREG_TID_X},
    {"%tid.y", PTX_SREG_TID_Y},
    {"%tid.z", PTX_SREG_TID_Z},
    {"%ntid.x", PTX_SREG_NTID_X},
    {"%ntid.y", PTX_SREG_NTID_Y},
    {"%ntid.z", PTX_SREG_NTID_Z},
    {"%ctaid.x", PTX_SREG_CTAID_X},
    {"%ctaid.y", PTX_SREG_CTAID_Y},
    {"%ctaid.z", PTX_SREG_CTAID_Z},
    {"%nctaid.x", PTX_SREG_NCTAID_X},
    {"%nctaid.y", PTX_SREG_NCTAID_Y},
    {"%nctaid.z", PTX_SREG_NCTAID_Z},
    {"%laneid", PTX_SREG_LANEID},
    {"%warpid", PTX_SREG_WARPID},
    {"%nwarpid", PTX_SREG_NWARPID},
    {"%smid", PTX_SREG_SMID},
    {"%nsmid", PTX_SREG_NSMID},
    {"%gridid", PTX_SREG_GRIDID},
    {"%lanemask_eq", PTX_SREG_LANEMASK_EQ},
    {"%lanemask_le", PTX_SREG_LANEMASK_LE},
    {"%lanemask_lt", PTX_SREG_LANEMASK_LT},
    {"%lanemask_ge", PTX_SREG_LANEMASK_GE},
    {"%lanemask_gt", PTX_SREG_LANEMASK_GT},
    {"%clock", PTX_SREG_CLOCK},
    {"%clock_hi", PTX_SREG_CLOCK_HI},
    {"%clock64", PTX_SREG_CLOCK64},
    {"%globaltimer", PTX_SREG_GLOBALTIMER},
    {"%globaltimer_lo", PTX_SREG_GLOBALTIMER_LO},
    {"%globaltimer_hi", PTX_SREG_GLOBALTIMER_HI},
    {"%dynamic_smem_size", PTX_SREG_DYNAMIC_SMEM_SIZE},
    {"%total_smem_size", PTX_SREG_TOTAL_SMEM_SIZE},
    {"%aggr_smem_size", PTX_SREG_AGGR_SMEM_SIZE},
    {"%clusterid.x", PTX_SREG_CLUSTERID_X},
    {"%clusterid.y", PTX_SREG_CLUSTERID_Y},
    {"%clusterid.z", PTX_SREG_CLUSTERID_Z},
    {"%nclusterid.x", PTX_SREG_NCLUSTERID_X},
    {"%nclusterid.y", PTX_SREG_NCLUSTERID_Y},
    {"%nclusterid.z", PTX_SREG_NCLUSTERID_Z},
    {"%cluster_ctaid.x", PTX_SREG_CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", PTX_SREG_CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", PTX_SREG_CLUSTER_CTAID_Z},
    {"%cluster_nctaid.x", PTX_SREG_CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", PTX_SREG_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", PTX_SREG_CLUSTER_NCTAID_Z},
    {"%cluster_ctarank", PTX_SREG_CLUSTER_CTARANK},
    {"%cluster_nctarank", PTX_SREG_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", PTX_SREG_IS_EXPLICIT_CLUSTER},
};

/* "%envreg17" and "%pm3": a stem and a number below `count` */
static int numbered(const char *text, size_t length, const char *stem, int count)
{
    size_t prefix = strlen(stem);
    if (length <= prefix || length > prefix + 2 || memcmp(text, stem, prefix) != 0)
        return -1;
    int number = 0;
    for (size_t i = prefix; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number < count ? number : -1;
}

enum ptx_special_register ptx_special_register_find(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof special_registers / sizeof *special_registers; i++)
        if (same(text, length, special_registers[i].name))
            return (enum ptx_special_register)special_registers[i].special;
    int number = numbered(text, length, "%envreg", 32);
    if (number >= 0)
        return (enum ptx_special_register)(PTX_SREG_ENVREG_0 + number);
    number = numbered(text, length, "%pm", 8);
    return number >= 0 ? (enum ptx_special_register)(PTX_SREG_PM_0 + number) : PTX_SREG_NONE;
}

enum ptx_type ptx_operand_type(const struct ptx_instruction *i, uint32_t position)
{
    switch (i->opcode) {
    case PTX_OP_SET:
    case PTX_OP_CVT:
        return position == 0 && i->type2 ? i->type2 : i->type;
    case PTX_OP_SETP:
        return position == 0 || position == 3 ? PTX_PRED : i->type;
    case PTX_OP_SELP:
        return position == 3 ? PTX_PRED : i->type;
    case PTX_OP_SLCT:
        return position < 3 && i->type2 ? i->type2 : i->type;
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        return position == 2 ? PTX_U32 : i->type;
    case PTX_OP_MMA: /* metadata of sparse matrices, and a selector */
        return position > 3 ? PTX_U32 : i->type;
    case PTX_OP_WGMMA: /* scales and layouts */
        return position > 2 ? PTX_S32 : i->type;
    default:
        return i->type;
    }
}
