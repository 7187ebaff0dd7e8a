/* What `csan run` says of files that csan cannot be preloaded into: made here by patching the
 * header of a real program. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/csan-test-XXXXXX";
static char output[8192];
static uint8_t program[4 << 20];
static size_t program_bytes;

static int run(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof command, "cd %s && PATH=$PWD:$PATH " CSAN " run %s 2>&1", directory,
             arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void put(const char *name, const void *bytes, size_t size, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void says(const char *text)
{
    if (!strstr(output, text))
        fail_msg("'%s' is not in: %s", text, output);
}

/* A library built with a sanitizer cannot be preloaded into a program that was not. */
static void skip_when_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
}

static void not_found(void **state)
{
    (void)state;
    assert_int_equal(run("./nothing"), 127);
    says("./nothing");
    assert_int_equal(run("nothing_on_the_path"), 127);
    says("PATH");
}

static void not_executable(void **state)
{
    (void)state;
    put("plain", "text", 4, 0644);
    assert_int_equal(run("./plain"), 126);
    says("not executable");
    put("text", "text", 4, 0755);
    assert_int_equal(run("./text"), 126);
    says("neither a program");
    put("empty", "", 0, 0755);
    assert_int_equal(run("./empty"), 126);
    says("empty");
}

static void scripts(void **state)
{
    (void)state;
    skip_when_sanitized();
    const char good[] = "#!/bin/sh\nexit 7\n", bad[] = "#!/no/such/interpreter\n";
    put("good", good, sizeof good - 1, 0755);
    assert_int_equal(run("--device=gpu ./good"), 7);
    assert_int_equal(run("--device=gpu good"), 7);
    put("bad", bad, sizeof bad - 1, 0755);
    assert_int_equal(run("--device=gpu ./bad"), 126);
    says("/no/such/interpreter");
}

static void another_architecture(void **state)
{
    (void)state;
    Elf64_Ehdr *header = (Elf64_Ehdr *)program;
    const Elf64_Half own = header->e_machine;
    header->e_machine = own == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
    put("other", program, program_bytes, 0755);
    header->e_machine = own;
    assert_int_equal(run("./other"), 126);
    says(own == EM_AARCH64 ? "not a 64-bit ARM program" : "not a 64-bit x86 program");
}

static void static_program(void **state)
{
    (void)state;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)program;
    Elf64_Phdr *segments = (Elf64_Phdr *)(program + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP) {
            segments[i].p_type = PT_NULL;
            put("static", program, program_bytes, 0755);
            segments[i].p_type = PT_INTERP;
        }
    assert_int_equal(run("./static"), 126);
    says("statically linked");
}

static void truncated_program(void **state)
{
    (void)state;
    for (size_t bytes = 5; bytes < 4096; bytes += 97) {
        put("cut", program, bytes, 0755);
        assert_int_equal(run("--device=gpu ./cut"), 126);
        says("cut");
    }
}

static void object_file(void **state)
{
    (void)state;
    Elf64_Ehdr *header = (Elf64_Ehdr *)program;
    uint16_t type = header->e_type;
    header->e_type = ET_REL;
    put("object", program, program_bytes, 0755);
    header->e_type = type;
    assert_int_equal(run("./object"), 126);
    says("object file");
}

/* The name of section .bss becomes nvcc's: a program with the static CUDA runtime. */
static void static_cuda_runtime(void **state)
{
    (void)state;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)program;
    Elf64_Shdr *sections = (Elf64_Shdr *)(program + header->e_shoff);
    Elf64_Shdr *names = &sections[header->e_shstrndx];
    static const char segment[] = ".nvFatBinSegment";
    uint8_t *patched = malloc(program_bytes + 4096);
    assert_non_null(patched);
    memcpy(patched, program, program_bytes);
    /* Section names move to the end of the file, with one more. */
    memcpy(patched + program_bytes, program + names->sh_offset, names->sh_size);
    memcpy(patched + program_bytes + names->sh_size, segment, sizeof segment);
    Elf64_Shdr *moved = (Elf64_Shdr *)(patched + header->e_shoff);
    uint64_t size = names->sh_size;
    moved[header->e_shstrndx].sh_offset = program_bytes;
    moved[header->e_shstrndx].sh_size = size + sizeof segment;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (strcmp((char *)program + names->sh_offset + sections[i].sh_name, ".bss") == 0)
            moved[i].sh_name = (uint32_t)size;
    put("runtime", patched, program_bytes + size + sizeof segment, 0755);
    free(patched);
    assert_int_equal(run("--device=embedded ./runtime"), 126);
    says("-cudart shared");
}

static void usage(void **state)
{
    (void)state;
    assert_int_equal(run(""), 2);
    says("usage");
    assert_int_equal(run("--help"), 0);
    says("--device");
    assert_int_equal(run("--device=moon true"), 2);
    says("moon");
    assert_int_equal(run("--what true"), 2);
    says("--what");
}

static void environment(void **state)
{
    (void)state;
    skip_when_sanitized();
    assert_int_equal(run("--device=gpu --options=verbosity=0 -- sh -c "
                         "'echo $CSAN $CSAN_DEVICE $CSAN_OPTIONS $LD_PRELOAD; exit 3'"),
                     3);
    says("1 gpu verbosity=0:host=guard ");
    says("/lib/libcsan.so.0");
}

int main(void)
{
    FILE *self = fopen("/bin/true", "rb");
    if (!self)
        return 2;
    program_bytes = fread(program, 1, sizeof program, self);
    fclose(self);
    if (!program_bytes || !mkdtemp(directory))
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_found),      cmocka_unit_test(not_executable),
        cmocka_unit_test(scripts),        cmocka_unit_test(another_architecture),
        cmocka_unit_test(static_program), cmocka_unit_test(truncated_program),
        cmocka_unit_test(object_file),    cmocka_unit_test(static_cuda_runtime),
        cmocka_unit_test(usage),          cmocka_unit_test(environment),
    };
    int failed = cmocka_run_group_tests_name("hook_run", tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? failed : 2;
}
