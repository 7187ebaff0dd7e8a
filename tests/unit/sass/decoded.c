/* Prints for each kernel and function of cubins which bytes of constant bank 0 its code reads, as
 * runtime/sass/instruction.h has it, and what each instruction does, as
 * runtime/sass/step.h has it, and what memory it accesses, as runtime/sass/memory_access.h has it:
 * what scripts/compare-machine-code compares with nvdisasm.
 * Usage: decoded CUBIN... */
#include "runtime/ptx/cubin.h"
#include "runtime/sass/instruction.h"
#include "runtime/sass/memory_access.h"
#include "runtime/sass/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 17 };

static void print_step(const struct step *step, uint64_t at, struct constant constant)
{
    static const char *const kinds[] = {
        [STEP_WRITES] = "writes",     [STEP_WRITES_ANY] = "any",       [STEP_MOVES] = "moves",
        [STEP_ADDS] = "adds",         [STEP_CHOOSES] = "chooses",      [STEP_INDEXES] = "indexes",
        [STEP_COMPARES] = "compares", [STEP_SCALES] = "scales",        [STEP_BLOCK] = "block",
        [STEP_LOADS] = "loads",       [STEP_COPIES] = "copies",        [STEP_LESSER] = "lesser",
        [STEP_BRANCHES] = "branches", [STEP_JUMPS] = "jumps",          [STEP_CALLS] = "calls",
        [STEP_RETURNS] = "returns",   [STEP_SETS_BARRIER] = "meets",   [STEP_WAITS] = "waits",
        [STEP_ENDS] = "ends",         [STEP_CLEARS_BARRIER] = "clears"};
    printf("\t%llx %s %u %u %d %llx %u %u %u", (unsigned long long)at, kinds[step->kind], step->to,
           step->count, step->always, (unsigned long long)step->target, step->guard,
           step->predicates[0], step->predicates[1]);
    for (int i = 0; i < 3; i++)
        printf(" %c%x", "crb"[step->operands[i].kind], step -> operands[i].value);
    printf(" %x %u %d %u", step->every, step->comparison, step->is_signed, step->chooser);
    printf(" %x %u %d\n", constant.offset, constant.bytes, constant.is_signed);
}

static void print_predicate(struct memory_predicate predicate)
{
    printf(" %s%s%u", predicate.is_negated ? "!" : "", predicate.is_uniform ? "U" : "",
           predicate.number);
}

static void print_access(struct instruction instruction, uint64_t at, uint32_t architecture)
{
    static const char *const spaces[] = {
        [MEMORY_GENERIC] = "generic", [MEMORY_GLOBAL] = "global",     [MEMORY_SHARED] = "shared",
        [MEMORY_LOCAL] = "local",     [MEMORY_CONSTANT] = "constant", [MEMORY_TEXTURE] = "texture",
        [MEMORY_SURFACE] = "surface"};
    static const char *const actions[] = {[MEMORY_READS] = "reads",
                                          [MEMORY_WRITES] = "writes",
                                          [MEMORY_UPDATES] = "updates",
                                          [MEMORY_CACHES] = "caches"};
    const struct memory_access access = memory_access_of(instruction, architecture);
    if (!access.count)
        return;
    printf("\t\t%llx %d", (unsigned long long)at, access.is_bulk);
    print_predicate(access.guard);
    for (uint32_t i = 0; i < access.count; i++) {
        const struct memory_part *part = &access.parts[i];
        const struct memory_address *address = &part->address;
        printf(" %s %s %u %u", spaces[part->space], actions[part->action], part->bytes,
               part->lanes);
        print_predicate(part->predicate);
        printf(" %d %d %d %d %u %u %u %u %u %d", address->is_known, address->is_wide,
               address->is_base_wide, address->is_uniform_wide, address->base, address->uniform,
               address->scale, address->descriptor, address->bank, address->offset);
    }
    printf("\n");
}

static void print_code(void *user, const struct cubin_code *code)
{
    static bool read[BYTES];
    struct instruction instruction;
    bool any = false;
    memset(read, 0, sizeof read);
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= code->bytes; at += INSTRUCTION_BYTES) {
        memcpy(&instruction, code->instructions + at, sizeof instruction);
        const struct constant constant = instruction_constant(instruction);
        any |= constant.kind == CONSTANT_ANY || constant.kind == CONSTANT_INDEXED;
        for (uint32_t b = 0; constant.kind == CONSTANT_KNOWN && b < constant.bytes; b++)
            read[(constant.offset + b) % BYTES] = true;
    }
    printf("%s %u %u%s", code->name, code->params_at, code->param_bytes, any ? " any" : "");
    for (uint32_t byte = 0; byte < BYTES; byte++)
        if (read[byte])
            printf(" %x", byte);
    printf("\n");
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= code->bytes; at += INSTRUCTION_BYTES) {
        memcpy(&instruction, code->instructions + at, sizeof instruction);
        const struct step step = step_of(instruction, at, *(const uint32_t *)user);
        print_step(&step, at, instruction_constant(instruction));
        print_access(instruction, at, *(const uint32_t *)user);
    }
}

static int print_file(const char *path)
{
    char message[128] = "it cannot be read";
    FILE *opened = fopen(path, "rb");
    int count = -1;
    if (opened && fseek(opened, 0, SEEK_END) == 0) {
        long bytes = ftell(opened);
        void *data = bytes > 0 ? malloc((size_t)bytes) : NULL;
        rewind(opened);
        if (data && fread(data, 1, (size_t)bytes, opened) == (size_t)bytes) {
            uint32_t architecture = cubin_architecture(data, (size_t)bytes);
            count = cubin_codes(data, (size_t)bytes, print_code, &architecture, message,
                                sizeof message);
        }
        free(data);
    }
    if (opened)
        fclose(opened);
    if (count < 0)
        fprintf(stderr, "%s: %s\n", path, message);
    return count < 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= print_file(argv[i]);
    return failed;
}
