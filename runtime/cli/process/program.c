/* Starts a program under csan, for every command that does so: see program.h. */
#include "runtime/cli/process/program.h"
#include "csan/options.h"
#include "csan/report/suppression.h"
#include "runtime/cli/findings/baseline_file.h"
#include "runtime/cli/process/file_from_here.h"
#include "runtime/cli/process/gpu.h"
#include "runtime/device/schedule/schedule.h"
#include "runtime/device/schedule/schedule_text.h"
#include "runtime/hook/run/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__aarch64__)
#define PROCESSOR "ARM"
#else
#define PROCESSOR "x86"
#endif

int program_fail(const struct program *program, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "csan %s: ", program->command);
    /* clang-tidy, given several files at once, forgets va_start. */
    vfprintf(stderr, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

/* ---- Options that the commands share ---- */

static const char *const device_names[] = {"auto", "gpu", "embedded"};

static bool device_named(const char *name, enum program_device *device)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, device_names[i]) == 0) {
            *device = (enum program_device)i;
            return true;
        }
    return false;
}

int program_device_of_environment(struct program *program)
{
    const char *device = getenv("CSAN_DEVICE");
    if (device && *device && !device_named(device, &program->device))
        return program_fail(program, EXIT_USAGE,
                            "CSAN_DEVICE is '%s'; it must be auto, gpu or embedded", device);
    return 0;
}

/* Options given here go after those of the environment, so that they win. */
void program_add_options(const char *text)
{
    const char *old = getenv("CSAN_OPTIONS");
    char *joined = NULL;
    if (old && *old && asprintf(&joined, "%s:%s", old, text) < 0)
        joined = NULL;
    setenv("CSAN_OPTIONS", joined ? joined : text, 1);
    free(joined);
}

int program_set_device(struct program *program, const char *name)
{
    if (device_named(name, &program->device))
        return 0;
    return program_fail(program, EXIT_USAGE, "there is no device '%s'; use auto, gpu or embedded",
                        name);
}

const char program_options_usage[] =
    "  --device=auto      a GPU where there is one, else the embedded device (the default)\n"
    "  --device=gpu       the NVIDIA driver of this machine\n"
    "  --device=embedded  csan's CUDA device in software: needs no GPU, and knows exactly\n"
    "                     which bytes each kernel touches\n"
    "  --schedule=...     the order in which the embedded device runs work that may run in any:\n"
    "                     " DEVICE_SCHEDULES "\n"
    "  --save-schedule=FILE  save what ran when, for --schedule=replay:FILE\n"
    "  --format=text      reports in words (the default)\n"
    "  --format=json      one document on standard error, or in the file that option log_path\n"
    "                     names; include/csan/csan-report.schema.json describes it\n"
    "  --format=sarif     likewise, in SARIF 2.1.0\n"
    "  --baseline=FILE    only what is new since this report in JSON or recording\n"
    "  --options=...      as CSAN_OPTIONS; help=1 lists them\n"
    "  --verbose          say which device and libraries are used\n\n"
    "The environment variables CSAN_DEVICE, CSAN_SCHEDULE, CSAN_SAVE_SCHEDULE and\n"
    "CSAN_OPTIONS do the same.\n";

static void set_format(struct arguments *arguments, const char *format)
{
    char option[32];
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 &&
        strcmp(format, "sarif") != 0) {
        arguments_fail(arguments, "there is no format '%s'; write text, json or sarif", format);
        return;
    }
    snprintf(option, sizeof option, "format=%s", format);
    program_add_options(option);
}

static void set_baseline(struct arguments *arguments, const char *path)
{
    char *option = baseline_file_option(path);
    if (option)
        program_add_options(option);
    else
        arguments_fail(arguments, "the baseline's name has a quote or a line's end in it");
    free(option);
}

/* Sets the variable to `before` and the file's absolute name. */
static bool set_file(const char *variable, const char *before, const char *name)
{
    char *file = file_from_here(name), *value = NULL;
    bool set =
        file && asprintf(&value, "%s%s", before, file) >= 0 && setenv(variable, value, 1) == 0;
    free(file);
    free(value);
    return set;
}

bool program_set_schedule(const char *text)
{
    static const char replay[] = "replay:";
    size_t words = strlen(replay);
    return strncmp(text, replay, words) == 0 ? set_file("CSAN_SCHEDULE", replay, text + words)
                                             : setenv("CSAN_SCHEDULE", text, 1) == 0;
}

bool program_take_option(struct program *program, struct arguments *arguments)
{
    const char *value;
    if (argument_is(arguments, "--verbose"))
        program->verbose = true;
    else if (argument_has(arguments, "--options", NULL, &value))
        program_add_options(value);
    else if (argument_has(arguments, "--baseline", NULL, &value))
        set_baseline(arguments, value);
    else if (argument_has(arguments, "--format", NULL, &value))
        set_format(arguments, value);
    else if (argument_has(arguments, "--device", NULL, &value))
        arguments->code = arguments->code ? arguments->code : program_set_device(program, value);
    else if (argument_has(arguments, "--schedule", NULL, &value))
        program->schedule = program_set_schedule(value);
    else if (argument_has(arguments, "--save-schedule", NULL, &value))
        program->schedule = set_file("CSAN_SAVE_SCHEDULE", "", value);
    else
        return false;
    return true;
}

int program_take_arguments(struct program *program, struct arguments *arguments)
{
    if (!arguments->code && arguments->at == arguments->count) {
        arguments->usage(stderr);
        return EXIT_USAGE;
    }
    program->arguments = arguments->items + arguments->at;
    return arguments->code;
}

int program_set_embedded(struct program *program)
{
    int code = program_device_of_environment(program);
    if (!code && program->device == PROGRAM_GPU)
        code = program_fail(program, EXIT_USAGE,
                            "CSAN_DEVICE is 'gpu', but this works on the embedded device only; "
                            "unset it");
    program->device = PROGRAM_EMBEDDED;
    return code;
}

int program_check_schedule(const struct program *program, const char *text)
{
    struct schedule_choice choice;
    if (!text || !*text)
        return 0;
    if (!schedule_parse(text, &choice))
        return program_fail(program, EXIT_USAGE,
                            "there is no schedule '%s'; use one of " DEVICE_SCHEDULES, text);
    if (choice.file && access(choice.file, R_OK) != 0)
        return program_fail(program, EXIT_USAGE, "cannot read the schedule '%s': %s", choice.file,
                            strerror(errno));
    return 0;
}

/* ---- The program ---- */

/* As the shell does: a name with a slash is a path, others are looked up in PATH. */
static int find_program(struct program *program)
{
    const char *name = program->arguments[0];
    struct stat status;
    const bool is_path = strchr(name, '/') != NULL;
    if (is_path && stat(name, &status) != 0)
        return program_fail(program, EXIT_NOT_FOUND, "cannot find the program '%s': %s", name,
                            strerror(errno));
    if (is_path && !S_ISREG(status.st_mode))
        return program_fail(program, EXIT_CANNOT_RUN, "'%s' is not a file that can be run", name);
    if (!exec_target_find(name, program->path))
        return program_fail(program, EXIT_NOT_FOUND, "cannot find the program '%s'%s", name,
                            is_path ? ": its path is too long" : " in PATH");
    if (access(program->path, X_OK) != 0)
        return program_fail(program, EXIT_CANNOT_RUN, "'%s' is not executable: %s", program->path,
                            strerror(errno));
    return 0;
}

/* A file as it lies on disk. */
struct image {
    const uint8_t *bytes;
    size_t size;
};

static const void *image_at(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->size && bytes <= image->size - offset ? image->bytes + offset : NULL;
}

/* The section of that name, or NULL. */
static const Elf64_Shdr *find_section(const struct image *image, const char *name)
{
    const Elf64_Ehdr *header = image_at(image, 0, sizeof *header);
    const Elf64_Shdr *sections =
        header && header->e_shentsize == sizeof *sections
            ? image_at(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections)
            : NULL;
    if (!sections || header->e_shstrndx >= header->e_shnum)
        return NULL;
    const Elf64_Shdr *names = &sections[header->e_shstrndx];
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const char *text =
            sections[i].sh_name < names->sh_size
                ? image_at(image, names->sh_offset + sections[i].sh_name, strlen(name) + 1)
                : NULL;
        if (text && memcmp(text, name, strlen(name) + 1) == 0)
            return &sections[i];
    }
    return NULL;
}

/* Whether the program is linked with a library whose name begins so. */
static bool needs_library(const struct image *image, const char *name)
{
    const Elf64_Shdr *dynamic = find_section(image, ".dynamic");
    const Elf64_Shdr *strings = find_section(image, ".dynstr");
    const Elf64_Dyn *entries =
        dynamic ? image_at(image, dynamic->sh_offset, dynamic->sh_size) : NULL;
    if (!entries || !strings)
        return false;
    for (size_t i = 0; i < dynamic->sh_size / sizeof *entries; i++) {
        if (entries[i].d_tag != DT_NEEDED)
            continue;
        const char *text =
            image_at(image, strings->sh_offset + entries[i].d_un.d_val, strlen(name));
        if (text && memcmp(text, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

/* nvcc links the CUDA runtime statically by default. That runtime talks to NVIDIA's driver by an
 * interface that is not documented, which the embedded device does not have. */
static int check_runtime(const struct program *program, const struct image *image)
{
    if (program->device != PROGRAM_EMBEDDED || needs_library(image, "libcudart.so.12") ||
        needs_library(image, "libcudart.so.13") || needs_library(image, "libcsan_rt.so"))
        return 0;
    if (needs_library(image, "libcudart.so"))
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' was built with another version of CUDA than 12 or 13, and the "
                            "embedded device has "
                            "the CUDA runtime of those two only; build it with one of them",
                            program->path);
    if (!find_section(image, ".nvFatBinSegment"))
        return 0;
    return program_fail(
        program, EXIT_CANNOT_RUN,
        "'%s' has the CUDA runtime linked into it, which works with NVIDIA's driver only; "
        "to run it on the embedded device link it with -lcsan, or with -cudart shared",
        program->path);
}

static int map_image(const struct program *program, const char *path, struct image *image)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int code = 0;
    if (file < 0 || fstat(file, &status) != 0)
        code =
            program_fail(program, EXIT_CANNOT_RUN, "cannot read '%s': %s", path, strerror(errno));
    else if (status.st_size == 0)
        code = program_fail(program, EXIT_CANNOT_RUN, "'%s' is empty, not a program", path);
    else {
        image->size = (size_t)status.st_size;
        image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image->bytes == MAP_FAILED)
            code = program_fail(program, EXIT_CANNOT_RUN, "cannot read '%s': %s", path,
                                strerror(errno));
    }
    if (file >= 0)
        close(file);
    return code;
}

/* Preloading is done by the dynamic loader: the program must ask for one. */
static int check_elf(const struct program *program, const char *path, const struct image *image)
{
    const Elf64_Ehdr *header = image_at(image, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' is neither a program (ELF) nor a script (#!)", path);
    if (!exec_target_is_native(header))
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' is not a 64-bit " PROCESSOR " program; this csan works on those "
                            "only",
                            path);
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' is an object file or core dump, not a program", path);
    const Elf64_Phdr *segments =
        header->e_phentsize == sizeof *segments
            ? image_at(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments)
            : NULL;
    bool dynamic = false, whole = segments != NULL;
    for (unsigned i = 0; segments && i < header->e_phnum; i++) {
        dynamic |= segments[i].p_type == PT_INTERP;
        whole &= segments[i].p_type != PT_LOAD ||
                 image_at(image, segments[i].p_offset, segments[i].p_filesz) != NULL;
    }
    if (!whole)
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' is cut off: its header names more than the file holds", path);
    if (!dynamic)
        return program_fail(
            program, EXIT_CANNOT_RUN,
            "'%s' is statically linked, so nothing can be preloaded into it; link it with "
            "-lcsan instead, and run it with CSAN=1",
            path);
    return 0;
}

/* The dynamic loader ignores LD_PRELOAD paths for programs that gain rights. */
static int check_rights(const struct program *program, const char *path)
{
    if (!exec_target_gains_rights(path))
        return 0;
    return program_fail(program, EXIT_CANNOT_RUN,
                        "'%s' runs with another user's or group's rights (set-user-id) or has "
                        "capabilities of its own, so the system does not let csan be preloaded; "
                        "run a copy without them",
                        path);
}

/* What a script names after "#!" is what csan gets preloaded into. */
static int check_script(const struct program *program, const char *path, const struct image *script)
{
    char interpreter[PATH_MAX];
    struct image image = {0};
    if (!exec_target_interpreter(script->bytes, script->size, interpreter))
        return program_fail(program, EXIT_CANNOT_RUN,
                            "'%s' is a script without an interpreter in its first line", path);
    int code = map_image(program, interpreter, &image);
    if (!code && exec_target_is_script(image.bytes, image.size))
        return 0; /* an interpreter that is a script: the kernel will sort it out */
    if (!code)
        code = check_rights(program, interpreter);
    return code ? code : check_elf(program, interpreter, &image);
}

static int check_program(const struct program *program)
{
    struct image image = {0};
    int code;
    if (access(program->path, R_OK) != 0 && errno == EACCES)
        return check_rights(program, program->path); /* may be run and not read: let it */
    if ((code = map_image(program, program->path, &image)) != 0)
        return code;
    if (exec_target_is_script(image.bytes, image.size))
        return check_script(program, program->path, &image);
    code = check_rights(program, program->path);
    if (!code)
        code = check_elf(program, program->path, &image);
    return code ? code : check_runtime(program, &image);
}

/* ---- The environment ---- */

/* bin/csan finds lib/ beside bin/. */
int program_find_libraries(struct program *program)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return program_fail(program, EXIT_CANNOT_RUN, "cannot find out where csan is installed: %s",
                            strerror(errno));
    self[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    if (snprintf(program->lib, sizeof program->lib, "%s/lib", self) >= (int)sizeof program->lib)
        return program_fail(program, EXIT_CANNOT_RUN, "csan's own path is too long");
    if (strpbrk(program->lib, " :"))
        return program_fail(
            program, EXIT_CANNOT_RUN,
            "csan is installed in '%s', but the dynamic loader cannot preload from a path "
            "with a blank or a colon; move it",
            program->lib);
    return 0;
}

static bool library_present(const struct program *program, const char *name, char *path,
                            size_t bytes)
{
    return snprintf(path, bytes, "%s/%s", program->lib, name) < (int)bytes &&
           access(path, R_OK) == 0;
}

static int library(const struct program *program, const char *name, char *path, size_t bytes)
{
    if (!library_present(program, name, path, bytes))
        return program_fail(program, EXIT_CANNOT_RUN,
                            "csan is not installed completely: cannot read '%s/%s'", program->lib,
                            name);
    return 0;
}

/* `value` goes before what the variable holds. */
static int prepend(const struct program *program, const char *variable, const char *value)
{
    const char *old = getenv(variable);
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", value, old && *old ? ":" : "", old ? old : "") < 0)
        return program_fail(program, EXIT_CANNOT_RUN, "out of memory");
    setenv(variable, joined, 1);
    free(joined);
    return 0;
}

/* The embedded driver's folder and, in front of it, the one of csan's own cuBLAS and others. With
 * CSAN_MACHINE_CODE=skip the program keeps NVIDIA's, whose kernels do nothing then. */
static int prepend_libraries(const struct program *program, const char *device)
{
    const char *machine_code = getenv("CSAN_MACHINE_CODE");
    char libraries[PATH_MAX];
    const int code = prepend(program, "LD_LIBRARY_PATH", device);
    if (code || (machine_code && strcmp(machine_code, "skip") == 0) ||
        !library_present(program, "csan/embedded/libraries", libraries, sizeof libraries))
        return code;
    return prepend(program, "LD_LIBRARY_PATH", libraries);
}

static int prepare(const struct program *program)
{
    char hooks[PATH_MAX], trampolines[PATH_MAX], device[PATH_MAX], preload[4 * PATH_MAX];
    char python[PATH_MAX], threads[PATH_MAX], mpi[PATH_MAX];
    bool embedded = program->device == PROGRAM_EMBEDDED;
    int code = library(program, "libcsan.so.0", hooks, sizeof hooks);
    if (!code && embedded)
        code = library(program, "libcsan_rt.so.0", trampolines, sizeof trampolines);
    if (!code && embedded)
        code = library(program, "csan/embedded", device, sizeof device);
    if (!code && program->threads)
        code = library(program, "libcsan_threads.so.0", threads, sizeof threads);
    if (code)
        return code;
    const bool has_mpi =
        program->options.mpi && library_present(program, "libcsan_mpi.so.0", mpi, sizeof mpi);
    snprintf(preload, sizeof preload, "%s%s%s%s%s%s%s", hooks, embedded ? ":" : "",
             embedded ? trampolines : "", program->threads ? ":" : "",
             program->threads ? threads : "", has_mpi ? ":" : "", has_mpi ? mpi : "");
    code = prepend(program, "LD_PRELOAD", preload);
    if (!code && embedded)
        code = prepend_libraries(program, device);
    if (!code && library_present(program, "csan/python", python, sizeof python))
        code =
            prepend(program, "PYTHONPATH", python); /* sitecustomize.py there starts csan_torch */
    if (!code) /* AddressSanitizer would not start behind csan; only its programs read this */
        code = prepend(program, "ASAN_OPTIONS", "verify_asan_link_order=0");
    setenv("CSAN", "1", 1);
    setenv("CSAN_DEVICE", embedded ? "embedded" : "gpu", 1);
    if (program->verbose)
        fprintf(stderr, "csan %s: %s on %s, LD_PRELOAD=%s\n", program->command, program->path,
                embedded ? "the embedded device" : "the GPU", getenv("LD_PRELOAD"));
    return code;
}

/* In the program a wrong option costs only itself; who starts it can still put it right. */
static int check_options(struct program *program)
{
    char message[PATH_MAX + 256];
    struct options *options = &program->options;
    const char *text = getenv("CSAN_OPTIONS");
    options_default(options);
    if (options_parse(options, text ? text : "", message, sizeof message) != 0 ||
        !suppressions_check(options->suppressions, message, sizeof message))
        return program_fail(program, EXIT_USAGE, "%s", message);
    program->threads = strcmp(options->host_order, "threads") == 0;
    if (strcmp(options->host, "auto") == 0)
        program_add_options("host=guard");
    if (!baseline_file_hand_over(program->command, options->baseline))
        program_add_options("baseline="); /* the program need not say it again */
    return 0;
}

int program_prepare(struct program *program)
{
    int code = check_options(program);
    if (code)
        return code;
    if (program->device == PROGRAM_AUTO)
        program->device = gpu_usable(program) ? PROGRAM_GPU : PROGRAM_EMBEDDED;
    if (program->device == PROGRAM_GPU && program->schedule)
        return program_fail(program, EXIT_USAGE,
                            "a GPU chooses its own schedule; add --device=embedded");
    if ((code = find_program(program)) != 0 || (code = check_program(program)) != 0 ||
        (code = program_find_libraries(program)) != 0)
        return code;
    return prepare(program);
}

int program_become(const struct program *program)
{
    execv(program->path, program->arguments);
    return program_fail(program, EXIT_CANNOT_RUN, "cannot run '%s': %s", program->path,
                        strerror(errno));
}
