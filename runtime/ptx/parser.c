/* The parser's top: the module's directives (PTX ISA section 11), functions' heads, and the tools
 * the other parser files share. Recursive descent over one token of look-ahead. */
#include "runtime/ptx/parser.h"
#include "runtime/ptx/cfg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tools ---- */

static void describe(struct parser *parser, uint32_t line, const char *format, va_list arguments)
{
    struct ptx_error *error = parser->error;
    error->line = line;
    int used = snprintf(error->message, sizeof error->message, "PTX line %u: ", line);
    vsnprintf(error->message + used, sizeof error->message - (size_t)used, format, arguments);
    for (char *c = error->message; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?';
}

void parser_fail(struct parser *parser, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    describe(parser, parser->token.line, format, arguments);
    va_end(arguments);
    longjmp(*parser->failed, 1);
}

void parser_fail_at(struct parser *parser, uint32_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    describe(parser, line, format, arguments);
    va_end(arguments);
    longjmp(*parser->failed, 1);
}

void parser_advance(struct parser *parser)
{
    lexer_advance(&parser->lexer, &parser->token);
}

const char *parser_token_text(const struct parser *parser, char *buffer, size_t bytes)
{
    if (parser->token.kind == TOKEN_END)
        return "the end of the text";
    snprintf(buffer, bytes, "%.*s",
             (int)(parser->token.length < bytes ? parser->token.length : bytes),
             parser->token.text);
    return buffer;
}

bool parser_at_mark(const struct parser *parser, char mark)
{
    return parser->token.kind == TOKEN_MARK && parser->token.mark == mark;
}

bool parser_at_directive(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_DIRECTIVE &&
           strncmp(parser->token.text, word, parser->token.length) == 0 &&
           word[parser->token.length] == 0;
}

bool parser_accept_mark(struct parser *parser, char mark)
{
    bool there = parser_at_mark(parser, mark);
    if (there)
        parser_advance(parser);
    return there;
}

bool parser_accept_directive(struct parser *parser, const char *word)
{
    bool there = parser_at_directive(parser, word);
    if (there)
        parser_advance(parser);
    return there;
}

void parser_expect_mark(struct parser *parser, char mark)
{
    char text[64];
    if (!parser_accept_mark(parser, mark))
        parser_fail(parser, "expected '%c' before '%s'", mark,
                    parser_token_text(parser, text, sizeof text));
}

struct name *parser_expect_name(struct parser *parser)
{
    char text[64];
    if (parser->token.kind != TOKEN_NAME)
        parser_fail(parser, "expected a name before '%s'",
                    parser_token_text(parser, text, sizeof text));
    struct name *name = names_intern(&parser->names, parser->token.text, parser->token.length);
    parser_advance(parser);
    return name;
}

void parser_enter_scope(struct parser *parser)
{
    struct scope *scope = ptx_arena_allocate(&parser->scratch, sizeof *scope);
    scope->outer = parser->scope;
    scope->depth = parser->scope ? parser->scope->depth + 1 : 0;
    scope->param_cursor = parser->body ? parser->body->param_cursor : 0;
    if (scope->depth > PARSER_MAX_NESTING)
        parser_fail(parser, "scopes nested deeper than %d", PARSER_MAX_NESTING);
    parser->scope = scope;
}

void parser_leave_scope(struct parser *parser)
{
    if (parser->body)
        parser->body->param_cursor = parser->scope->param_cursor;
    names_leave(parser->scope);
    parser->scope = parser->scope->outer;
}

void parser_skip_statement(struct parser *parser)
{
    while (!parser_at_mark(parser, ';')) {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, "the text ends inside a statement");
        parser_advance(parser);
    }
    parser_advance(parser);
}

/* .section .debug_info { ... }: debugging data */
void parser_skip_section(struct parser *parser)
{
    unsigned depth = 0;
    while (!parser_at_mark(parser, '{')) {
        if (parser->token.kind == TOKEN_END || parser_at_mark(parser, ';'))
            parser_fail(parser, ".section without '{'");
        parser_advance(parser);
    }
    do {
        if (parser->token.kind == TOKEN_END)
            parser_fail(parser, "the text ends inside a .section");
        depth += parser_at_mark(parser, '{');
        depth -= depth && parser_at_mark(parser, '}');
        parser_advance(parser);
    } while (depth);
}

static uint32_t read_count(struct parser *parser)
{
    int64_t value = expression_read_integer(parser);
    if (value < 0 || value > UINT32_MAX)
        parser_fail(parser, "%lld is out of range", (long long)value);
    return (uint32_t)value;
}

/* .file 1 "name" [, timestamp, size] after the directive */
void parser_read_file(struct parser *parser)
{
    uint32_t index = read_count(parser);
    if (parser->token.kind != TOKEN_STRING)
        parser_fail(parser, ".file without a name in quotes");
    parser->files = ptx_arena_grow(&parser->scratch, parser->files, parser->file_count,
                                   &parser->file_capacity, sizeof *parser->files);
    parser->files[parser->file_count++] = (struct ptx_file){
        index, ptx_arena_text(parser->arena, parser->token.text, parser->token.length)};
    parser_advance(parser);
    while (parser_accept_mark(parser, ','))
        read_count(parser);
}

/* ---- functions ---- */

static struct name *read_function_name(struct parser *parser, struct ptx_function *function)
{
    struct name *name = parser_expect_name(parser);
    function->name = ptx_arena_text(parser->arena, name->text, name->length);
    return name;
}

void parser_read_signature(struct parser *parser, struct ptx_function *function, bool binds)
{
    struct token returns = parser->token;
    struct lexer resume = parser->lexer;
    uint64_t cursor = 0;
    /* parameters come first in the frame, so the return values are laid out in a second pass */
    bool has_returns = parser_at_mark(parser, '(');
    if (has_returns)
        function->returns =
            declaration_read_params(parser, function, false, &function->return_count, &cursor);
    read_function_name(parser, function);
    cursor = 0;
    if (parser_at_mark(parser, '('))
        function->params =
            declaration_read_params(parser, function, binds, &function->param_count, &cursor);
    function->param_bytes = (uint32_t)cursor;
    if (has_returns) {
        struct token after = parser->token;
        struct lexer after_lexer = parser->lexer;
        parser->token = returns;
        parser->lexer = resume;
        function->returns =
            declaration_read_params(parser, function, binds, &function->return_count, &cursor);
        parser->token = after;
        parser->lexer = after_lexer;
    }
    function->param_frame_bytes = cursor;
}

static void read_extent(struct parser *parser, uint32_t *extent)
{
    extent[0] = extent[1] = extent[2] = 1;
    for (int i = 0; i < 3; i++) {
        extent[i] = read_count(parser);
        if (!parser_accept_mark(parser, ','))
            break;
    }
}

/* A declaration's ';' may be left out. */
static bool starts_declaration(const struct parser *parser)
{
    static const char *const words[] = {"extern", "visible", "weak",  "common", "entry",
                                        "func",   "file",    "alias", "section"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parser_at_directive(parser, words[i]))
            return true;
    return declaration_is_space(parser);
}

/* The directives between a function's head and its body (section 11.4). */
static void read_function_directives(struct parser *parser, struct ptx_function *function)
{
    while (parser->token.kind == TOKEN_DIRECTIVE && !starts_declaration(parser)) {
        uint32_t ignored[3];
        if (parser_accept_directive(parser, "maxntid"))
            read_extent(parser, function->maxntid);
        else if (parser_accept_directive(parser, "reqntid"))
            read_extent(parser, function->reqntid);
        else if (parser_accept_directive(parser, "reqnctapercluster"))
            read_extent(parser, function->required_cluster);
        else if (parser_accept_directive(parser, "minnctapersm"))
            function->minnctapersm = read_count(parser);
        else if (parser_accept_directive(parser, "maxnreg"))
            function->maxnreg = read_count(parser);
        else if (parser_accept_directive(parser, "noreturn"))
            function->noreturn = true;
        else if (parser_accept_directive(parser, "pragma"))
            parser_skip_statement(parser);
        else { /* a hint: .maxclusterrank 8, .explicitcluster, .abi_preserve 3 ... */
            parser_advance(parser);
            if (parser->token.kind == TOKEN_INTEGER)
                read_extent(parser, ignored);
        }
    }
}

static struct ptx_function *find_or_add_function(struct parser *parser, struct name *name)
{
    struct scope *outer = parser->scope;
    while (outer->outer)
        outer = outer->outer;
    struct binding *known = name->binding;
    while (known && known->depth > 0)
        known = known->shadowed;
    if (known && known->kind == BINDING_FUNCTION)
        return known->function;
    if (known)
        parser_fail(parser, "'%.80s' is declared twice", name->text);
    struct ptx_function *function = ptx_arena_allocate(parser->arena, sizeof *function);
    function->is_prototype = true;
    struct binding *binding = ptx_arena_allocate(&parser->scratch, sizeof *binding);
    binding->kind = BINDING_FUNCTION;
    binding->function = function;
    binding->name = name;
    binding->next_in_scope = outer->bindings;
    outer->bindings = binding;
    struct binding **bottom = &name->binding; /* below what a parameter of that name shadows */
    while (*bottom)
        bottom = &(*bottom)->shadowed;
    *bottom = binding;
    parser->functions = ptx_arena_grow(&parser->scratch, parser->functions, parser->function_count,
                                       &parser->function_capacity, sizeof *parser->functions);
    parser->functions[parser->function_count++] = function;
    return function;
}

static void own_params(struct ptx_function *function, struct ptx_param *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (params[i].variable)
            ((struct ptx_variable *)params[i].variable)->owner = function;
}

static void read_function(struct parser *parser, enum ptx_linkage linkage, bool is_entry)
{
    struct ptx_function draft = {.linkage = (uint8_t)linkage,
                                 .is_entry = is_entry,
                                 .is_prototype = true,
                                 .module = parser->module};
    struct body body = {0};
    parser->body = &body;
    parser_enter_scope(parser);
    if (parser_accept_directive(parser, "attribute")) {
        while (!parser_accept_mark(parser, ')'))
            if (parser->token.kind == TOKEN_END)
                parser_fail(parser, "the text ends inside .attribute(");
            else
                parser_advance(parser);
    }
    parser_read_signature(parser, &draft, true);
    read_function_directives(parser, &draft);
    struct ptx_function *function =
        find_or_add_function(parser, names_intern(&parser->names, draft.name, strlen(draft.name)));
    bool defines = parser_at_mark(parser, '{');
    if (defines && !function->is_prototype)
        parser_fail(parser, "function '%.80s' is defined twice", draft.name);
    if (function->is_prototype) {
        *function = draft;
        own_params(function, function->params, function->param_count);
        own_params(function, function->returns, function->return_count);
    }
    if (defines) {
        function->is_prototype = false;
        body.function = function;
        body.param_cursor = function->param_frame_bytes;
        ptx_body_read(parser, function);
    } else {
        parser_accept_mark(parser, ';');
    }
    body.param_cursor = 0;
    parser_leave_scope(parser);
    parser->body = NULL;
}

/* .alias a, b; : a is another name for the function b (section 11.6.6) */
static void read_alias(struct parser *parser)
{
    struct name *alias = parser_expect_name(parser);
    parser_expect_mark(parser, ',');
    struct name *target = parser_expect_name(parser);
    parser_expect_mark(parser, ';');
    if (!alias->binding || alias->binding->kind != BINDING_FUNCTION || !target->binding ||
        target->binding->kind != BINDING_FUNCTION)
        parser_fail(parser, ".alias of '%.80s' to '%.80s', which are not both declared functions",
                    alias->text, target->text);
    struct ptx_function *function = alias->binding->function;
    if (!function->is_prototype || target->binding->function->is_prototype)
        parser_fail(parser, ".alias needs '%.80s' declared only and '%.80s' defined before it",
                    alias->text, target->text);
    const char *name = function->name;
    uint8_t linkage = function->linkage;
    *function = *target->binding->function;
    function->name = name;
    function->linkage = linkage;
}

/* ---- the module ---- */

/* "9.0" as 90: read as text, since the lexer takes it for a number */
static void read_version(struct parser *parser)
{
    unsigned major = 0, minor = 0;
    char text[32];
    parser_token_text(parser, text, sizeof text);
    if (sscanf(text, "%4u.%4u", &major, &minor) != 2 || major < 1)
        parser_fail(parser, ".version '%s' is no PTX version such as 9.0", text);
    parser->module->version = major * 10 + minor;
    parser_advance(parser);
}

static void read_target(struct parser *parser)
{
    do {
        struct name *name = parser_expect_name(parser);
        unsigned target = 0;
        char suffix = 0;
        if (sscanf(name->text, "sm_%4u%c", &target, &suffix) >= 1) {
            parser->module->target = target;
            parser->module->arch_specific = suffix == 'a' || suffix == 'f';
        }
    } while (parser_accept_mark(parser, ','));
}

static enum ptx_linkage read_linkage(struct parser *parser)
{
    if (parser_accept_directive(parser, "extern"))
        return PTX_LINK_EXTERN;
    if (parser_accept_directive(parser, "visible"))
        return PTX_LINK_VISIBLE;
    if (parser_accept_directive(parser, "weak"))
        return PTX_LINK_WEAK;
    return parser_accept_directive(parser, "common") ? PTX_LINK_COMMON : PTX_LINK_NONE;
}

static void read_address_size(struct parser *parser)
{
    if (read_count(parser) != 64)
        parser_fail(parser, ".address_size must be 64");
}

static void read_module_directive(struct parser *parser)
{
    char text[64];
    enum ptx_linkage linkage = read_linkage(parser);
    if (parser_accept_directive(parser, "entry"))
        read_function(parser, linkage, true);
    else if (parser_accept_directive(parser, "func"))
        read_function(parser, linkage, false);
    else if (declaration_is_space(parser) && !parser_at_directive(parser, "reg"))
        declaration_read(parser, linkage);
    else if (parser_accept_directive(parser, "file"))
        parser_read_file(parser);
    else if (parser_accept_directive(parser, "section"))
        parser_skip_section(parser);
    else if (parser_accept_directive(parser, "version"))
        read_version(parser);
    else if (parser_accept_directive(parser, "target"))
        read_target(parser);
    else if (parser_accept_directive(parser, "address_size"))
        read_address_size(parser);
    else if (parser_accept_directive(parser, "alias"))
        read_alias(parser);
    else if (parser_accept_directive(parser, "pragma") || parser_accept_directive(parser, "tex"))
        parser_skip_statement(parser);
    else
        parser_fail(parser, "'%s%s' does not belong at module scope",
                    parser->token.kind == TOKEN_DIRECTIVE ? "." : "",
                    parser_token_text(parser, text, sizeof text));
}

static void finish(struct parser *parser)
{
    struct ptx_module *module = parser->module;
    declaration_resolve_relocations(parser);
    module->function_count = (uint32_t)parser->function_count;
    module->variable_count = (uint32_t)parser->variable_count;
    module->file_count = (uint32_t)parser->file_count;
    struct ptx_function **functions =
        ptx_arena_array(parser->arena, parser->function_count, sizeof *functions);
    struct ptx_variable **variables =
        ptx_arena_array(parser->arena, parser->variable_count, sizeof *variables);
    struct ptx_file *files = ptx_arena_array(parser->arena, parser->file_count, sizeof *files);
    if (parser->function_count)
        memcpy(functions, parser->functions, parser->function_count * sizeof *functions);
    if (parser->variable_count)
        memcpy(variables, parser->variables, parser->variable_count * sizeof *variables);
    if (parser->file_count)
        memcpy(files, parser->files, parser->file_count * sizeof *files);
    module->functions = functions;
    module->variables = variables;
    module->files = files;
    ptx_module_finish(module);
}

static void read_module(struct parser *parser)
{
    parser_enter_scope(parser);
    parser_advance(parser);
    if (!parser_at_directive(parser, "version"))
        parser_fail(parser, "PTX starts with .version");
    while (parser->token.kind != TOKEN_END)
        if (!parser_accept_mark(parser, ';'))
            read_module_directive(parser);
    finish(parser);
}

/* 0: parsed; 1: an error in the text; 2: memory is short. The only frame that is jumped to. */
static int read_protected(struct parser *parser)
{
    jmp_buf failed, out_of_memory;
    if (setjmp(out_of_memory))
        return 2;
    if (setjmp(failed))
        return 1;
    parser->failed = &failed;
    parser->scratch.out_of_memory = &out_of_memory;
    parser->arena->out_of_memory = &out_of_memory;
    names_start(&parser->names, &parser->scratch);
    read_module(parser);
    parser->failed = NULL;
    parser->arena->out_of_memory = parser->scratch.out_of_memory = NULL;
    return 0;
}

static struct ptx_module *parse(const char *text, size_t bytes, const struct lexer_gap *gaps,
                                size_t gap_count, struct ptx_error *error)
{
    struct ptx_error unused = {0};
    struct parser parser = {.error = error ? error : &unused, .module = ptx_module_create()};
    *parser.error = (struct ptx_error){0};
    if (!parser.module || bytes > PARSER_MAX_TEXT) {
        snprintf(parser.error->message, sizeof parser.error->message, "%s",
                 parser.module ? "the PTX text is larger than 256 MiB" : "out of memory");
        ptx_module_release(parser.module);
        return NULL;
    }
    parser.arena = &((struct module_storage *)parser.module->arena)->arena;
    lexer_start(&parser.lexer, text, bytes);
    lexer_leave_out(&parser.lexer, gaps, gap_count);
    int status = read_protected(&parser);
    ptx_arena_release(&parser.scratch);
    if (status == 0)
        return parser.module;
    if (status == 2)
        snprintf(parser.error->message, sizeof parser.error->message,
                 "out of memory at PTX line %u", parser.token.line);
    ptx_module_release(parser.module);
    return NULL;
}

struct ptx_module *ptx_parse(const char *text, size_t bytes, struct ptx_error *error)
{
    return parse(text, bytes, NULL, 0, error);
}

/* Through a register, to whatever function has its address taken somewhere. */
static const struct ptx_instruction *call_of_any(const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        if (instruction->opcode == PTX_OP_CALL && !instruction->call->candidate_count &&
            instruction->call->callee.kind != PTX_OPERAND_FUNCTION)
            return instruction;
    }
    return NULL;
}

static bool calls_none_of_others(const struct ptx_module *module, struct ptx_error *error)
{
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_instruction *call = call_of_any(module->functions[i]);
        if (call && error) {
            error->line = call->line;
            snprintf(error->message, sizeof error->message,
                     "PTX line %u: which functions are called, other kernels may show", call->line);
        }
        if (call)
            return false;
    }
    return true;
}

struct ptx_module *ptx_parse_kernel(const char *text, size_t bytes, const struct outline *outline,
                                    size_t kernel, struct ptx_error *error)
{
    struct lexer_gap *gaps = calloc(outline->count, sizeof *gaps);
    size_t count = 0;
    if (!gaps)
        return parse(text, bytes, NULL, 0, error);
    for (size_t i = 0; i < outline->count; i++)
        if (i != kernel)
            gaps[count++] = outline->kernels[i].text;
    struct ptx_module *module = parse(text, bytes, gaps, count, error);
    free(gaps);
    if (!module || calls_none_of_others(module, error))
        return module;
    ptx_module_release(module);
    return NULL;
}
