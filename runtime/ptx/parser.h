/* The parser's inside, shared by its files and nobody else:
 *   parser.c      the module: directives, functions' heads
 *   declaration.c variables, parameters, initialisers
 *   body.c        what stands between a function's braces
 *   operand.c     operands of one instruction
 *   expression.c  constant expressions
 * A parse either ends or jumps to `failed` through
 * parser_fail; all memory lies in two arenas, so
 * there is nothing to clean up on the way. */
#ifndef RUNTIME_PTX_PARSER_H
#define RUNTIME_PTX_PARSER_H

#include "runtime/ptx/arena.h"
#include "runtime/ptx/ir.h"
#include "runtime/ptx/lexer.h"
#include "runtime/ptx/module.h"
#include "runtime/ptx/names.h"
#include "runtime/ptx/ptx.h"

/* Limits: far above what a compiler writes, low enough that no input exhausts the machine. */
enum {
    PARSER_MAX_NESTING = 256,
    PARSER_MAX_RANGE = 1 << 24,       /* registers in one .reg range */
    PARSER_MAX_INSTRUCTIONS = 4 << 20 /* in one module */
};
#define PARSER_MAX_TEXT            ((size_t)256 << 20)
#define PARSER_MAX_VARIABLE        ((uint64_t)1 << 40)   /* bytes of one variable */
#define PARSER_MAX_INITIALISED     ((uint64_t)256 << 20) /* bytes of one initialised variable */
#define PARSER_MAX_INITIALISED_ALL ((uint64_t)1 << 30)   /* of all in a module */

/* The function whose body is being read; arrays grow in the scratch arena. */
struct body {
    struct ptx_function *function;
    struct ptx_instruction *instructions;
    size_t instruction_count, instruction_capacity;
    struct ptx_register *registers;
    size_t register_count, register_capacity;
    struct ptx_variable **locals;
    size_t local_count, local_capacity;
    uint64_t param_cursor; /* bytes of the .param frame in use */
    uint32_t source_line, source_file;
};

/* A relocation whose symbol is looked up when the whole module is known. */
struct pending_relocation {
    struct ptx_relocation *relocation;
    uint32_t line;
};

struct parser {
    struct lexer lexer;
    struct token token; /* the current one */
    struct arena scratch;
    struct arena *arena; /* the module's */
    jmp_buf *failed;     /* where an error in the text goes */
    jmp_buf *out_of_memory;
    struct ptx_error *error;
    struct name_table names;
    struct scope *scope;
    struct ptx_module *module;
    struct body *body; /* NULL at module scope */

    struct ptx_function **functions;
    size_t function_count, function_capacity;
    struct ptx_variable **variables;
    size_t variable_count, variable_capacity;
    struct ptx_file *files;
    size_t file_count, file_capacity;
    struct pending_relocation *relocations;
    size_t relocation_count, relocation_capacity;
    uint64_t initialised_bytes;
    size_t instruction_total;
    unsigned nesting;
    bool has_selector; /* an operand of this instruction picks a byte or half of a register */
};

/* parser.c */
void parser_fail(struct parser *parser, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void parser_fail_at(struct parser *parser, uint32_t line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void parser_advance(struct parser *parser);
bool parser_at_mark(const struct parser *parser, char mark);
bool parser_at_directive(const struct parser *parser, const char *word);
bool parser_accept_mark(struct parser *parser, char mark); /* consumes it when it is there */
bool parser_accept_directive(struct parser *parser, const char *word);
void parser_expect_mark(struct parser *parser, char mark);
struct name *parser_expect_name(struct parser *parser); /* a NAME token, interned */
const char *parser_token_text(const struct parser *parser, char *buffer, size_t bytes);
void parser_enter_scope(struct parser *parser);
void parser_leave_scope(struct parser *parser);
void parser_skip_statement(struct parser *parser); /* to the ';' at this nesting */
void parser_skip_section(struct parser *parser);
void parser_read_file(struct parser *parser);
/* ".func (returns) name (parameters)" after .func or in a .callprototype, up to the name's and the
 * parameters' end; `binds` enters the parameters' names into the current scope. */
void parser_read_signature(struct parser *parser, struct ptx_function *function, bool binds);

/* declaration.c */
bool declaration_is_space(const struct parser *parser);
void declaration_read(struct parser *parser, enum ptx_linkage linkage);
void declaration_read_registers(struct parser *parser); /* after ".reg" */
struct ptx_param *declaration_read_params(struct parser *parser, struct ptx_function *function,
                                          bool binds, uint32_t *count, uint64_t *cursor);
uint32_t declaration_add_register(struct parser *parser, const char *name, uint8_t type);
void declaration_resolve_relocations(struct parser *parser);

/* body.c */
void ptx_body_read(struct parser *parser, struct ptx_function *function);

/* operand.c */
void ptx_operand_read(struct parser *parser, struct ptx_operand *operand, enum ptx_type type);
/* The register that a name means here, or PTX_NO_REGISTER. */
uint32_t ptx_operand_find_register(struct parser *parser, struct name *name);
struct binding *ptx_operand_find_binding(struct name *name);

/* expression.c */
struct constant {
    bool is_float, single, is_unsigned;
    bool has_bits; /* a float written as 0f... or 0d...: its bits are in `integer` */
    uint64_t integer;
    double number;
};
bool expression_starts(const struct parser *parser);
struct constant expression_read(struct parser *parser);
int64_t expression_read_integer(struct parser *parser);
/* The bits a constant has as an operand or array element of `type`. */
int64_t ptx_constant_bits(const struct constant *constant, enum ptx_type type);

#endif
