/* `csan kernels FILE`: what each kernel of a file touches, by its PTX, before anything runs.
 *
 *   kernel_file    the programs in the file: their PTX, linked as the hooks link it; cubins
 *   kernel_report  one kernel: parameters, directions, accesses in words, ranges of a launch
 *   kernel_text, kernel_json  print it
 *   kernel_learned  csan kernels --learned: what earlier runs learned of kernels
 *
 * Exit code: 0; 1 when the file cannot be read, is damaged, or has no such kernel; 2 for wrong
 * usage. */
#include "csan/base/hash.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/ptx/cubin.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/kernels/demangle.h"
#include "runtime/cli/kernels/kernel_learned.h"
#include "runtime/cli/kernels/kernel_report.h"
#include "runtime/ptx/units.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, MESSAGE = 512, NAMES_LISTED = 8 };

/* A kernel that was printed: the same template may be in many units. */
struct printed {
    UT_hash_handle hh;
    uint64_t code; /* of its instructions */
    char mangled[];
};

struct kernels {
    const char *path, *pattern, *launch_text;
    bool json, verbose, learned;
    struct kernel_launch launch;
    struct printed *printed;
    size_t found, shown, repeated, failed_launches;
    char **problems;
    size_t problem_count;
    char *names; /* of kernels the pattern left out, to be named when it left out all */
    size_t name_count;
    char launch_message[MESSAGE];
    const struct kernel_program *program; /* being visited */
    struct shown_pace pace;
};

static int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("csan kernels: ", stderr);
    /* clang-tidy, given several files at once, forgets va_start. */
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

static void usage(FILE *out)
{
    fputs(
        "usage: csan kernels [--kernel=GLOB] [--launch=LAUNCH] [--json] [-v] FILE\n"
        "       csan kernels --learned [--kernel=GLOB] [-v]\n\n"
        "Says what each GPU kernel of FILE reads, writes and updates atomically, and how exactly\n"
        "csan knows it. FILE: executable, shared library, object, static archive, fat binary,\n"
        "cubin or PTX text. Kernels without PTX are listed with their parameters.\n\n"
        "  --kernel=GLOB    only kernels of this name: scale, 'scale(float*, int)', _Z5scalePfi,\n"
        "                   'fill<*>'\n"
        "  --launch=LAUNCH  the byte ranges of one launch:\n"
        "                   grid=128,block=256,args=p0,p1+4096,1000\n"
        "                   grid=16,16,block=32,8,shared=4096,args=0x7f0000000000,2.5f,?\n"
        "                   An argument is an integer in any base, a float (2.5, 1f), a name for\n"
        "                   a pointer (p0, p0+128), hex:00ff... or {p0,4,1.5f} for a struct, or ?\n"
        "                   when it is not known. Without args nothing of them is known\n"
        "  --learned        what earlier runs learned of kernels (option access), from the files "
        "in\n"
        "                   ~/.cache/csan (or XDG_CACHE_HOME, or CSAN_CACHE)\n"
        "  --json           for scripts; runtime/cli/kernels/kernel_json.c has the format\n"
        "  -v, --verbose    mangled names, other architectures in the file, and more\n\n"
        "Offsets count bytes from arg0, arg1, ...: the kernel's arguments by position.\n"
        "`exact`: a launch decides it all. `bounded`: the memory is known, not which bytes of it,\n"
        "or not whether they are touched. `unknown`: not even which memory.\n",
        out);
}

/* ---- The command line ---- */

static void take_option(struct kernels *kernels, struct arguments *arguments)
{
    if (argument_is(arguments, "--json"))
        kernels->json = true;
    else if (argument_is(arguments, "--learned"))
        kernels->learned = true;
    else if (argument_is(arguments, "-v") || argument_is(arguments, "--verbose"))
        kernels->verbose = true;
    else if (!argument_has(arguments, "--kernel", NULL, &kernels->pattern) &&
             !argument_has(arguments, "--launch", NULL, &kernels->launch_text))
        argument_unknown(arguments);
}

/* Options may stand behind the file, too. 0: go on. -1: done (help). Else the exit code. */
static int parse(struct kernels *kernels, int argc, char **argv)
{
    char message[MESSAGE];
    struct arguments arguments = arguments_of("kernels", usage, argc, argv);
    while (!arguments.code && arguments.at < argc) {
        if (argument_option(&arguments))
            take_option(kernels, &arguments);
        else
            argument_file(&arguments, &kernels->path);
    }
    if (arguments.code)
        return arguments.code;
    if (kernels->learned && (kernels->path || kernels->json || kernels->launch_text))
        return fail(EXIT_USAGE, "--learned goes with --kernel and -v alone");
    if (!kernels->path && !kernels->learned) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (kernels->launch_text &&
        !launch_parse(&kernels->launch, kernels->launch_text, message, sizeof message))
        return fail(EXIT_USAGE, "--launch: %s", message);
    return 0;
}

/* ---- Which kernels ---- */

static void take_note_of_problem(void *user, const char *message)
{
    struct kernels *kernels = user;
    char **grown =
        realloc(kernels->problems, (kernels->problem_count + 1) * sizeof *kernels->problems);
    char *copy = grown ? strdup(message) : NULL;
    if (grown)
        kernels->problems = grown;
    if (copy)
        grown[kernels->problem_count++] = copy;
    fail(0, "%s: %s", kernels->path, message);
}

static void take_note_of_name(struct kernels *kernels, const char *name)
{
    char *more = NULL;
    if (++kernels->name_count > NAMES_LISTED)
        return;
    if (asprintf(&more, "%s%s%s", kernels->names ? kernels->names : "", kernels->names ? ", " : "",
                 name) < 0)
        return;
    free(kernels->names);
    kernels->names = more;
}

/* By any of its names. */
static bool is_wanted(struct kernels *kernels, const char *mangled, const char *name)
{
    if (!kernels->pattern)
        return true;
    char *bare = report_bare_name(name);
    bool wanted =
        fnmatch(kernels->pattern, name, 0) == 0 || fnmatch(kernels->pattern, mangled, 0) == 0 ||
        (bare && fnmatch(kernels->pattern, bare, 0) == 0) || strcmp(kernels->pattern, name) == 0;
    if (!wanted)
        take_note_of_name(kernels, bare ? bare : name);
    free(bare);
    return wanted;
}

static uint64_t hash_operand(uint64_t hash, const struct ptx_operand *operand)
{
    hash = hash_bytes(hash, &operand->kind, sizeof operand->kind);
    hash = hash_bytes(hash, &operand->reg, sizeof operand->reg);
    hash = hash_bytes(hash, &operand->target, sizeof operand->target);
    hash = hash_bytes(hash, &operand->imm, sizeof operand->imm);
    if (operand->variable)
        hash = hash_bytes(hash, operand->variable->name, strlen(operand->variable->name));
    return hash;
}

/* What kernels of one name differ in: static ones of different units. */
static uint64_t code_of(const struct ptx_function *function)
{
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        hash = hash_bytes(hash, instruction->mnemonic, strlen(instruction->mnemonic));
        hash = hash_bytes(hash, &instruction->guard, sizeof instruction->guard);
        hash = hash_bytes(hash, &instruction->guard_negated, sizeof instruction->guard_negated);
        for (uint32_t k = 0; k < instruction->operand_count; k++)
            hash = hash_operand(hash, &instruction->operands[k]);
    }
    return hash;
}

/* True when the same kernel was printed before. */
static bool is_repeated(struct kernels *kernels, const char *mangled, uint64_t code)
{
    size_t length = strlen(mangled);
    struct printed *printed = calloc(1, sizeof *printed + length + 1), *found = NULL;
    if (!printed)
        return false;
    printed->code = code;
    memcpy(printed->mangled, mangled, length);
    /* the code and the name behind it are the key */
    HASH_FIND(hh, kernels->printed, &printed->code, sizeof code + length, found);
    if (found) {
        free(printed);
        kernels->repeated++;
        return true;
    }
    HASH_ADD(hh, kernels->printed, code, sizeof code + length, printed);
    return false;
}

/* ---- Programs ---- */

static void show(struct kernels *kernels, struct kernel_report *report)
{
    shown_done(&kernels->pace);
    if (kernels->json)
        kernel_json(stdout, report, kernels->shown == 0);
    else
        kernel_text(stdout, report, kernels->verbose);
    kernels->shown++;
}

/* The launch's arguments may not be this kernel's. */
static const struct kernel_launch *
bind_launch(struct kernels *kernels, const struct ptx_function *function, const char *name)
{
    char message[MESSAGE];
    if (!kernels->launch_text)
        return NULL;
    if (launch_bind(&kernels->launch, function, message, sizeof message))
        return &kernels->launch;
    if (kernels->failed_launches++ == 0)
        snprintf(kernels->launch_message, sizeof kernels->launch_message,
                 "--launch for %.120s: %.340s", name, message);
    return NULL;
}

static void visit_function(struct kernels *kernels, const struct ptx_function *function)
{
    struct kernel_report report = {.program = kernels->program, .arch = function->module->target};
    char *plain = demangle(function->name);
    const char *name = plain ? plain : function->name;
    kernels->found++;
    if (shown_is_due(&kernels->pace))
        shown_progress("csan kernels: kernel %zu, %s", kernels->found, name);
    if (is_wanted(kernels, function->name, name) &&
        !is_repeated(kernels, function->name, code_of(function))) {
        if (report_of_function(&report, function, bind_launch(kernels, function, name)))
            show(kernels, &report);
        else
            take_note_of_problem(kernels, "memory is short");
        report_release(&report);
    }
    free(plain);
}

static void visit_cubin_kernel(void *user, const struct cubin_kernel *kernel)
{
    struct kernels *kernels = user;
    struct kernel_report report = {.program = kernels->program,
                                   .arch = kernels->program->codes[0].entry.arch};
    char *plain = demangle(kernel->name);
    kernels->found++;
    if (is_wanted(kernels, kernel->name, plain ? plain : kernel->name) &&
        !is_repeated(kernels, kernel->name, 0)) {
        if (kernels->launch_text && kernels->failed_launches++ == 0)
            snprintf(kernels->launch_message, sizeof kernels->launch_message,
                     "--launch for %.120s: it has no PTX, so what it touches is not known",
                     plain ? plain : kernel->name);
        if (report_of_cubin(&report, kernel))
            show(kernels, &report);
        else
            take_note_of_problem(kernels, "memory is short");
        report_release(&report);
    }
    free(plain);
}

static void unit_failed(void *user, const struct fatbin_text *text, const struct ptx_error *error)
{
    char message[MESSAGE];
    if (text)
        snprintf(message, sizeof message, "PTX sm_%u: %s", text->arch, error->message);
    else
        snprintf(message, sizeof message, "cannot link the units of PTX: %s", error->message);
    take_note_of_problem(user, message);
}

/* The newest machine code. */
static void visit_code(struct kernels *kernels, const struct kernel_program *program)
{
    char message[MESSAGE];
    size_t bytes = 0;
    uint32_t arch = program->codes[0].entry.arch;
    for (size_t i = 0; i < program->code_count && program->codes[i].entry.arch == arch; i++) {
        void *code = fatbin_unpack(&program->codes[i].entry, &bytes, message, sizeof message);
        if (!code ||
            cubin_kernels(code, bytes, visit_cubin_kernel, kernels, message, sizeof message) < 0)
            take_note_of_problem(kernels, message);
        free(code);
    }
}

static void visit_program(void *user, const struct kernel_program *program)
{
    struct kernels *kernels = user;
    kernels->program = program;
    struct ptx_module *module =
        program->text_count ? units_link(program->texts, program->text_count, unit_failed, kernels)
                            : NULL;
    size_t before = kernels->found;
    for (uint32_t i = 0; module && i < module->function_count; i++)
        if (module->functions[i]->is_entry && !module->functions[i]->is_prototype)
            visit_function(kernels, module->functions[i]);
    if (module)
        ptx_module_release(module);
    if (kernels->found == before && program->code_count)
        visit_code(kernels, program);
}

/* ---- All ---- */

static int conclude(struct kernels *kernels)
{
    if (kernels->found == 0 && kernels->problem_count == 0)
        return fail(EXIT_FAILED, "%s has no GPU kernels%s", kernels->path,
                    kernels->pattern ? ", whatever their name" : "");
    if (kernels->shown == 0 && kernels->found)
        return fail(EXIT_FAILED, "no kernel of %s is called '%s'; it has %s%s", kernels->path,
                    kernels->pattern, kernels->names ? kernels->names : "others",
                    kernels->name_count > NAMES_LISTED ? ", ..." : "");
    if (kernels->failed_launches) {
        fail(0, "%s", kernels->launch_message);
        if (kernels->shown > 1)
            fail(0, "pick one of the %zu kernels with --kernel=NAME", kernels->shown);
        return EXIT_USAGE;
    }
    if (kernels->repeated && kernels->verbose && !kernels->json)
        printf("%zu kernels that are the same in several units are shown once\n",
               kernels->repeated);
    return kernels->problem_count ? EXIT_FAILED : 0;
}

static int run(struct kernels *kernels)
{
    struct kernel_file_callbacks callbacks = {visit_program, take_note_of_problem, kernels};
    char message[MESSAGE] = "";
    if (kernels->json)
        kernel_json_start(stdout, kernels->path);
    int programs = kernel_file_read(kernels->path, &callbacks, message, sizeof message);
    shown_done(&kernels->pace);
    if (programs < 0)
        take_note_of_problem(kernels, message);
    if (kernels->json)
        kernel_json_end(stdout, kernels->problems, kernels->problem_count);
    int code = conclude(kernels);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(EXIT_FAILED, "cannot write the answer: %s", strerror(errno));
    return code;
}

static void release(struct kernels *kernels)
{
    struct printed *printed, *next;
    HASH_ITER(hh, kernels->printed, printed, next)
    {
        HASH_DEL(kernels->printed, printed);
        free(printed);
    }
    for (size_t i = 0; i < kernels->problem_count; i++)
        free(kernels->problems[i]);
    free(kernels->problems);
    free(kernels->names);
    launch_release(&kernels->launch);
}

int command_kernels(int argc, char **argv)
{
    struct kernels kernels = {.path = NULL};
    int code = parse(&kernels, argc, argv);
    if (code == 0)
        code = kernels.learned ? kernels_learned(kernels.pattern, kernels.verbose) : run(&kernels);
    release(&kernels);
    return code < 0 ? 0 : code;
}
