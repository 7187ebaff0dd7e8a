/* A function's body: scopes, declarations, labels, instructions (PTX ISA sections 4.3 and 11.5). */
#include "runtime/ptx/cfg.h"
#include "runtime/ptx/parser.h"
#include "runtime/ptx/suffix.h"

#include <stdio.h>
#include <string.h>

/* ---- labels ---- */

static void use_label(struct parser *parser, struct name *name, uint32_t instruction,
                      uint32_t *slot)
{
    struct label_use *use = ptx_arena_allocate(&parser->scratch, sizeof *use);
    *use =
        (struct label_use){name, parser->token.line, instruction, slot, parser->scope->label_uses};
    parser->scope->label_uses = use;
}

/* At a scope's end: uses of labels that this scope declares are settled, others wait outside. */
static void settle_labels(struct parser *parser)
{
    struct scope *scope = parser->scope;
    bool last = scope->depth == 1;
    struct label_use *use = scope->label_uses;
    while (use) {
        struct label_use *next = use->next;
        struct binding *binding = use->name->binding;
        if (binding && binding->kind == BINDING_LABEL && binding->depth == scope->depth) {
            if (use->slot)
                *use->slot = binding->index;
            else
                parser->body->instructions[use->instruction].operands[0].target = binding->index;
        } else if (last) {
            parser_fail_at(parser, use->line, "label '%.80s' is not defined", use->name->text);
        } else {
            use->next = scope->outer->label_uses;
            scope->outer->label_uses = use;
        }
        use = next;
    }
}

/* ---- calls ---- */

/* "(a, b)" of a call; `params`, when known, types the immediates. */
static const struct ptx_operand *read_list(struct parser *parser, const struct ptx_param *params,
                                           uint32_t param_count, uint32_t *count)
{
    struct ptx_operand *operands = NULL;
    size_t read = 0, capacity = 0;
    parser_expect_mark(parser, '(');
    while (!parser_at_mark(parser, ')')) {
        operands = ptx_arena_grow(&parser->scratch, operands, read, &capacity, sizeof *operands);
        ptx_operand_read(parser, &operands[read],
                         params && read < param_count ? params[read].type : PTX_TYPE_NONE);
        read++;
        if (!parser_accept_mark(parser, ','))
            break;
    }
    parser_expect_mark(parser, ')');
    struct ptx_operand *kept = ptx_arena_array(parser->arena, read, sizeof *kept);
    if (read)
        memcpy(kept, operands, read * sizeof *kept);
    *count = (uint32_t)read;
    return kept;
}

/* What follows an indirect call's arguments: the label of a prototype or of a list of targets. */
static void read_call_label(struct parser *parser, struct ptx_call *call)
{
    struct name *name = parser_expect_name(parser);
    struct binding *binding = ptx_operand_find_binding(name);
    if (binding && (binding->kind == BINDING_PROTOTYPE || binding->kind == BINDING_FUNCTION)) {
        call->prototype = binding->function;
    } else if (binding && binding->kind == BINDING_TARGETS && binding->targets->functions) {
        call->candidates = binding->targets->functions;
        call->candidate_count = binding->targets->count;
        call->prototype = call->candidate_count ? call->candidates[0] : NULL;
    } else {
        parser_fail(parser, "'%.80s' is neither a .callprototype nor a .calltargets label",
                    name->text);
    }
}

static void read_call(struct parser *parser, struct ptx_instruction *instruction)
{
    struct ptx_call *call = ptx_arena_allocate(parser->arena, sizeof *call);
    if (parser_at_mark(parser, '(')) {
        call->returns = read_list(parser, NULL, 0, &call->return_count);
        parser_expect_mark(parser, ',');
    }
    ptx_operand_read(parser, &call->callee, PTX_U64);
    if (call->callee.kind != PTX_OPERAND_FUNCTION && call->callee.kind != PTX_OPERAND_REGISTER)
        parser_fail(parser, "a call needs a function or a register that holds its address");
    const struct ptx_function *callee = call->callee.function;
    if (parser_accept_mark(parser, ',')) {
        if (parser_at_mark(parser, '(')) {
            call->arguments = read_list(parser, callee ? callee->params : NULL,
                                        callee ? callee->param_count : 0, &call->argument_count);
            if (parser_accept_mark(parser, ','))
                read_call_label(parser, call);
        } else {
            read_call_label(parser, call);
        }
    }
    instruction->call = call;
}

/* ---- instructions ---- */

/* The fewest operands an instruction has: fewer is an error here, so that no reader needs to look.
 */
static const uint8_t fewest_operands[PTX_OP_COUNT] = {
    [PTX_OP_ABS] = 2,        [PTX_OP_ACTIVEMASK] = 1, [PTX_OP_ADD] = 3,
    [PTX_OP_ADDC] = 3,       [PTX_OP_ALLOCA] = 2,     [PTX_OP_AND] = 3,
    [PTX_OP_ATOM] = 3,       [PTX_OP_BFE] = 4,        [PTX_OP_BFI] = 5,
    [PTX_OP_BFIND] = 2,      [PTX_OP_BMSK] = 3,       [PTX_OP_BRA] = 1,
    [PTX_OP_BREV] = 2,       [PTX_OP_BRX] = 1,        [PTX_OP_CLZ] = 2,
    [PTX_OP_CNOT] = 2,       [PTX_OP_COPYSIGN] = 3,   [PTX_OP_COS] = 2,
    [PTX_OP_CVT] = 2,        [PTX_OP_CVTA] = 2,       [PTX_OP_DIV] = 3,
    [PTX_OP_DP2A] = 4,       [PTX_OP_DP4A] = 4,       [PTX_OP_ELECT] = 2,
    [PTX_OP_EX2] = 2,        [PTX_OP_FMA] = 4,        [PTX_OP_FNS] = 4,
    [PTX_OP_GETCTARANK] = 2, [PTX_OP_ISSPACEP] = 2,   [PTX_OP_LD] = 2,
    [PTX_OP_LDMATRIX] = 2,   [PTX_OP_LDU] = 2,        [PTX_OP_LG2] = 2,
    [PTX_OP_LOP3] = 5,       [PTX_OP_MAD] = 4,        [PTX_OP_MAD24] = 4,
    [PTX_OP_MADC] = 4,       [PTX_OP_MAPA] = 3,       [PTX_OP_MATCH] = 3,
    [PTX_OP_MAX] = 3,        [PTX_OP_MBARRIER] = 1,   [PTX_OP_MIN] = 3,
    [PTX_OP_MMA] = 4,        [PTX_OP_MOV] = 2,        [PTX_OP_MOVMATRIX] = 2,
    [PTX_OP_MUL] = 3,        [PTX_OP_MUL24] = 3,      [PTX_OP_NANOSLEEP] = 1,
    [PTX_OP_NEG] = 2,        [PTX_OP_NOT] = 2,        [PTX_OP_OR] = 3,
    [PTX_OP_POPC] = 2,       [PTX_OP_PRMT] = 4,       [PTX_OP_RCP] = 2,
    [PTX_OP_RED] = 2,        [PTX_OP_REDUX] = 3,      [PTX_OP_REM] = 3,
    [PTX_OP_RSQRT] = 2,      [PTX_OP_SAD] = 4,        [PTX_OP_SELP] = 4,
    [PTX_OP_SET] = 3,        [PTX_OP_SETP] = 3,       [PTX_OP_SHF] = 4,
    [PTX_OP_SHFL] = 4,       [PTX_OP_SHL] = 3,        [PTX_OP_SHR] = 3,
    [PTX_OP_SIN] = 2,        [PTX_OP_SLCT] = 4,       [PTX_OP_SQRT] = 2,
    [PTX_OP_ST] = 2,         [PTX_OP_STMATRIX] = 2,   [PTX_OP_SUB] = 3,
    [PTX_OP_SUBC] = 3,       [PTX_OP_SULD] = 2,       [PTX_OP_SUST] = 2,
    [PTX_OP_SURED] = 2,      [PTX_OP_SZEXT] = 3,      [PTX_OP_TANH] = 2,
    [PTX_OP_TESTP] = 2,      [PTX_OP_TEX] = 2,        [PTX_OP_TLD4] = 2,
    [PTX_OP_VABSDIFF] = 3,   [PTX_OP_VABSDIFF4] = 4,  [PTX_OP_VOTE] = 2,
    [PTX_OP_WMMA] = 2,       [PTX_OP_XOR] = 3,
};

/* Which operand of a memory instruction is its address; -1: none. */
static int address_operand(const struct ptx_instruction *instruction)
{
    switch (instruction->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ATOM:
        return 1;
    case PTX_OP_ST:
    case PTX_OP_RED:
        return 0;
    default:
        return -1;
    }
}

static void check_operands(struct parser *parser, const struct ptx_instruction *instruction)
{
    uint8_t fewest = fewest_operands[instruction->opcode];
    if (instruction->operand_count < fewest)
        parser_fail_at(parser, instruction->line, "'%.80s' has %u operands and needs %u",
                       instruction->mnemonic, instruction->operand_count, fewest);
    int address = address_operand(instruction);
    if (address >= 0 && instruction->operands[address].kind != PTX_OPERAND_ADDRESS)
        parser_fail_at(parser, instruction->line, "operand %d of '%.80s' is no address in brackets",
                       address + 1, instruction->mnemonic);
    if (instruction->opcode == PTX_OP_CVTA && instruction->operands[0].kind != PTX_OPERAND_REGISTER)
        parser_fail_at(parser, instruction->line, "the destination of '%.80s' is no register",
                       instruction->mnemonic);
}

/* More operands than the IR holds: an instruction nobody models. */
static void drop_operands(struct parser *parser, struct ptx_instruction *instruction)
{
    struct ptx_operand dropped;
    instruction->opcode = PTX_OP_UNKNOWN;
    ptx_operand_read(parser, &dropped, PTX_TYPE_NONE);
}

static void read_operands(struct parser *parser, struct ptx_instruction *instruction)
{
    while (!parser_at_mark(parser, ';')) {
        uint32_t position = instruction->operand_count;
        if (position == PTX_MAX_OPERANDS) {
            drop_operands(parser, instruction);
        } else {
            ptx_operand_read(parser, &instruction->operands[position],
                             ptx_operand_type(instruction, position));
            instruction->operand_count++;
            if (position == 0 && parser_accept_mark(parser, '|'))
                ptx_operand_read(parser, &instruction->second, PTX_PRED);
        }
        if (!parser_accept_mark(parser, ','))
            break;
    }
}

static void read_branch(struct parser *parser, struct ptx_instruction *instruction)
{
    struct name *name = parser_expect_name(parser);
    instruction->operands[0] =
        (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER};
    instruction->operand_count = 1;
    use_label(parser, name, (uint32_t)parser->body->instruction_count, NULL);
}

static void read_indexed_branch(struct parser *parser, struct ptx_instruction *instruction)
{
    ptx_operand_read(parser, &instruction->operands[0], PTX_U32);
    instruction->operand_count = 1;
    parser_expect_mark(parser, ',');
    struct name *name = parser_expect_name(parser);
    struct binding *binding = ptx_operand_find_binding(name);
    if (!binding || binding->kind != BINDING_TARGETS || !binding->targets->labels)
        parser_fail(parser, "'%.80s' is no .branchtargets label", name->text);
    instruction->targets = binding->targets->labels;
    instruction->target_count = binding->targets->count;
}

/* An instruction nobody knows may have operands nobody can read: then it has none. */
static void read_unknown(struct parser *parser, struct ptx_instruction *instruction)
{
    jmp_buf failed, *outer = parser->failed;
    struct lexer *resume = ptx_arena_allocate(&parser->scratch, sizeof *resume);
    struct token *token = ptx_arena_allocate(&parser->scratch, sizeof *token);
    *resume = parser->lexer;
    *token = parser->token;
    unsigned nesting = parser->nesting;
    if (setjmp(failed) == 0) {
        parser->failed = &failed;
        read_operands(parser, instruction);
        if (!parser_at_mark(parser, ';'))
            parser_fail(parser, "unreadable operands");
        parser->failed = outer;
        return;
    }
    parser->failed = outer;
    parser->nesting = nesting;
    parser->lexer = *resume;
    parser->token = *token;
    instruction->operand_count = 0;
    while (!parser_at_mark(parser, ';') && parser->token.kind != TOKEN_END)
        parser_advance(parser);
}

/* The opcode and its suffixes, decoded once per spelling. */
static const struct ptx_instruction *read_mnemonic(struct parser *parser)
{
    char text[256];
    size_t length = 0;
    bool suffix = false;
    do {
        const struct token *t = &parser->token;
        if (length + t->length + 2 > sizeof text)
            parser_fail(parser, "an instruction's name of more than 250 characters");
        if (suffix)
            text[length++] = '.';
        memcpy(text + length, t->text, t->length);
        length += t->length;
        suffix = true;
        parser_advance(parser);
    } while (parser->token.kind == TOKEN_DIRECTIVE);
    struct name *name = names_intern(&parser->names, text, length);
    if (!name->decoded) {
        name->decoded = ptx_arena_allocate(&parser->scratch, sizeof *name->decoded);
        ptx_mnemonic_decode(ptx_arena_text(parser->arena, text, length), name->decoded);
    }
    return name->decoded;
}

static void read_guard(struct parser *parser, uint32_t *guard, bool *negated)
{
    parser_expect_mark(parser, '@');
    *negated = parser_accept_mark(parser, '!');
    struct name *name = parser_expect_name(parser);
    *guard = ptx_operand_find_register(parser, name);
    if (*guard == PTX_NO_REGISTER || parser->body->registers[*guard].type != PTX_PRED)
        parser_fail(parser, "guard '%.80s' is no predicate register", name->text);
}

static void read_instruction(struct parser *parser)
{
    struct body *body = parser->body;
    uint32_t guard = PTX_NO_REGISTER, line = parser->token.line;
    bool negated = false;
    if (parser_at_mark(parser, '@'))
        read_guard(parser, &guard, &negated);
    if (parser->token.kind != TOKEN_NAME)
        parser_fail(parser, "expected an instruction");
    if (++parser->instruction_total > PARSER_MAX_INSTRUCTIONS)
        parser_fail(parser, "more than %d instructions", PARSER_MAX_INSTRUCTIONS);
    body->instructions =
        ptx_arena_grow(&parser->scratch, body->instructions, body->instruction_count,
                       &body->instruction_capacity, sizeof *body->instructions);
    struct ptx_instruction *instruction = &body->instructions[body->instruction_count];
    *instruction = *read_mnemonic(parser);
    instruction->guard = guard;
    instruction->guard_negated = negated;
    instruction->line = line;
    instruction->source_line = body->source_line;
    instruction->source_file = body->source_file;
    if (instruction->opcode == PTX_OP_CALL)
        read_call(parser, instruction);
    else if (instruction->opcode == PTX_OP_BRA)
        read_branch(parser, instruction);
    else if (instruction->opcode == PTX_OP_BRX)
        read_indexed_branch(parser, instruction);
    else if (instruction->opcode == PTX_OP_UNKNOWN || instruction->unknown_suffix)
        read_unknown(parser, instruction);
    else
        read_operands(parser, instruction);
    parser_expect_mark(parser, ';');
    instruction->unknown_suffix |= parser->has_selector;
    parser->has_selector = false;
    if (!instruction->unknown_suffix)
        check_operands(parser, instruction);
    body->instruction_count++;
}

/* ---- statements ---- */

/* .loc 1 76 0 [, function_name label [+ n], inlined_at 1 85 8] */
static void read_location(struct parser *parser)
{
    uint32_t numbers[3] = {0};
    for (int i = 0; i < 3 && parser->token.kind == TOKEN_INTEGER; i++) {
        numbers[i] = (uint32_t)parser->token.integer;
        parser_advance(parser);
    }
    parser->body->source_file = numbers[0];
    parser->body->source_line = numbers[1];
    if (!parser->body->instruction_count && !parser->body->function->source_line &&
        !(parser->token.kind == TOKEN_MARK && parser->token.mark == ',')) {
        parser->body->function->source_file = numbers[0];
        parser->body->function->source_line = numbers[1];
    }
    while (parser_accept_mark(parser, ',')) {
        struct name *word = parser_expect_name(parser);
        if (!strcmp(word->text, "function_name")) {
            parser_expect_name(parser);
            if (parser_accept_mark(parser, '+'))
                parser_advance(parser);
        } else {
            while (parser->token.kind == TOKEN_INTEGER)
                parser_advance(parser);
        }
    }
}

static struct target_list *read_targets(struct parser *parser, bool branches)
{
    struct name **names = NULL;
    size_t count = 0, capacity = 0;
    do {
        names = ptx_arena_grow(&parser->scratch, names, count, &capacity, sizeof *names);
        names[count++] = parser_expect_name(parser);
    } while (parser_accept_mark(parser, ','));
    parser_expect_mark(parser, ';');
    struct target_list *list = ptx_arena_allocate(&parser->scratch, sizeof *list);
    list->count = (uint32_t)count;
    if (branches) {
        list->labels = ptx_arena_array(parser->arena, count, sizeof *list->labels);
        for (size_t i = 0; i < count; i++)
            use_label(parser, names[i], 0, &list->labels[i]);
        return list;
    }
    list->functions = ptx_arena_array(parser->arena, count, sizeof *list->functions);
    for (size_t i = 0; i < count; i++) {
        struct binding *binding = ptx_operand_find_binding(names[i]);
        if (!binding || binding->kind != BINDING_FUNCTION)
            parser_fail(parser, "'%.80s' in .calltargets is no declared function", names[i]->text);
        list->functions[i] = binding->function;
    }
    return list;
}

static struct ptx_function *read_prototype(struct parser *parser)
{
    struct ptx_function *prototype = ptx_arena_allocate(parser->arena, sizeof *prototype);
    prototype->is_prototype = true;
    prototype->module = parser->module;
    parser_read_signature(parser, prototype, false);
    while (parser->token.kind == TOKEN_DIRECTIVE) { /* .noreturn, .abi_preserve 3 */
        prototype->noreturn |= parser_at_directive(parser, "noreturn");
        parser_advance(parser);
        if (parser->token.kind == TOKEN_INTEGER)
            parser_advance(parser);
    }
    parser_expect_mark(parser, ';');
    return prototype;
}

static void read_label(struct parser *parser)
{
    struct name *name = parser_expect_name(parser);
    parser_expect_mark(parser, ':');
    enum binding_kind kind = BINDING_LABEL;
    struct target_list *targets = NULL;
    struct ptx_function *prototype = NULL;
    if (parser_accept_directive(parser, "branchtargets")) {
        kind = BINDING_TARGETS;
        targets = read_targets(parser, true);
    } else if (parser_accept_directive(parser, "calltargets")) {
        kind = BINDING_TARGETS;
        targets = read_targets(parser, false);
    } else if (parser_accept_directive(parser, "callprototype")) {
        kind = BINDING_PROTOTYPE;
        prototype = read_prototype(parser);
    }
    struct binding *binding = names_bind(&parser->names, parser->scope, name, kind);
    if (!binding)
        parser_fail(parser, "label '%.80s' is defined twice", name->text);
    binding->index = (uint32_t)parser->body->instruction_count;
    binding->targets = targets;
    binding->function = prototype;
}

static void read_directive(struct parser *parser)
{
    char text[64];
    enum ptx_linkage linkage = PTX_LINK_NONE;
    if (parser_accept_directive(parser, "extern"))
        linkage = PTX_LINK_EXTERN;
    if (parser_at_directive(parser, "reg"))
        declaration_read_registers(parser);
    else if (declaration_is_space(parser))
        declaration_read(parser, linkage);
    else if (parser_accept_directive(parser, "loc"))
        read_location(parser);
    else if (parser_accept_directive(parser, "file"))
        parser_read_file(parser);
    else if (parser_accept_directive(parser, "pragma"))
        parser_skip_statement(parser);
    else if (parser_accept_directive(parser, "section"))
        parser_skip_section(parser);
    else
        parser_fail(parser, "'.%s' does not belong in a function",
                    parser_token_text(parser, text, sizeof text));
}

static void read_statement(struct parser *parser)
{
    if (parser->token.kind == TOKEN_DIRECTIVE)
        read_directive(parser);
    else if (parser->token.kind == TOKEN_NAME && lexer_peek(&parser->lexer) == ':')
        read_label(parser);
    else if (!parser_accept_mark(parser, ';'))
        read_instruction(parser);
}

static void keep_body(struct parser *parser, struct ptx_function *function)
{
    struct body *body = parser->body;
    struct ptx_instruction *instructions =
        ptx_arena_array(parser->arena, body->instruction_count, sizeof *instructions);
    struct ptx_register *registers =
        ptx_arena_array(parser->arena, body->register_count, sizeof *registers);
    struct ptx_variable **locals =
        ptx_arena_array(parser->arena, body->local_count, sizeof *locals);
    if (body->instruction_count)
        memcpy(instructions, body->instructions, body->instruction_count * sizeof *instructions);
    if (body->register_count)
        memcpy(registers, body->registers, body->register_count * sizeof *registers);
    if (body->local_count)
        memcpy(locals, body->locals, body->local_count * sizeof *locals);
    function->instructions = instructions;
    function->instruction_count = (uint32_t)body->instruction_count;
    function->registers = registers;
    function->register_count = (uint32_t)body->register_count;
    function->locals = locals;
    function->local_count = (uint32_t)body->local_count;
    ptx_cfg_build(function, parser->arena, &parser->scratch);
}

/* The function's own scope, opened for its parameters, is also that of the body's outer braces. */
void ptx_body_read(struct parser *parser, struct ptx_function *function)
{
    uint32_t depth = parser->scope->depth;
    parser_expect_mark(parser, '{');
    for (;;) {
        if (parser->token.kind == TOKEN_END) {
            parser_fail(parser, "the text ends inside function '%.80s'", function->name);
        } else if (parser_accept_mark(parser, '{')) {
            parser_enter_scope(parser);
        } else if (parser_at_mark(parser, '}')) {
            settle_labels(parser);
            if (parser->scope->depth == depth)
                break;
            parser_leave_scope(parser);
            parser_advance(parser);
        } else {
            read_statement(parser);
        }
    }
    keep_body(parser, function);
    parser_expect_mark(parser, '}');
}
