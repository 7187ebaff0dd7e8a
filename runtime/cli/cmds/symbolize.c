/* csan symbolize: the helper process that turns addresses into functions and lines, and mangled
 * names into names as in the source. csan/stack/symbolizer.c starts it; its header has the
 * protocol.
 *
 * libdw is linked statically. The C++ runtime is opened by dlopen; without it names stay mangled.
 * Modules stay open until the end of input. */
#include "runtime/cli/command.h"
#include "runtime/cli/kernels/demangle.h"
#include "runtime/cli/device_line.h"
#include "runtime/cli/function_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_PER_REQUEST = 60, FUNCTIONS_MAX = 256 /* what csan/stack/symbolizer.c takes */ };

struct module {
    char *path;
    Dwfl *session; /* NULL: cannot be read */
    Dwfl_Module *module;
    struct function_index *functions;
    struct module *next;
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* ---- answers */

/* A tab or a line end inside a field would end it. */
static void print_field(const char *text)
{
    for (; text && *text; text++)
        putchar((unsigned char)*text < ' ' ? '?' : *text);
}

static void print_name(const char *name)
{
    char *plain = demangle(name);
    print_field(plain ? plain : name);
    free(plain);
}

struct place {
    const char *directory; /* NULL when file is absolute or nothing is known */
    const char *file;
    int line;
};

static void print_frame(const char *function, const struct place *place)
{
    print_name(function);
    putchar('\t');
    if (place->file && place->file[0] != '/' && place->directory) {
        print_field(place->directory);
        putchar('/');
    }
    print_field(place->file);
    printf("\t%d\n", place->line);
}

/* ---- modules */

static struct module *module_open(const char *path)
{
    struct stat status;
    struct module *module = calloc(1, sizeof(*module));
    if (!module || !(module->path = strdup(path))) {
        free(module);
        return NULL;
    }
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return module;
    module->session = dwfl_begin(&callbacks);
    if (!module->session)
        return module;
    dwfl_report_begin(module->session);
    /* Loaded at 0, addresses are those that the file itself uses. */
    module->module = dwfl_report_elf(module->session, path, path, -1, 0, true);
    dwfl_report_end(module->session, NULL, NULL);
    return module;
}

static struct module *module_find(struct module **modules, const char *path)
{
    for (struct module *module = *modules; module; module = module->next)
        if (strcmp(module->path, path) == 0)
            return module;
    struct module *module = module_open(path);
    if (module) {
        module->next = *modules;
        *modules = module;
    }
    return module;
}

static void modules_close(struct module *modules)
{
    while (modules) {
        struct module *next = modules->next;
        function_index_free(modules->functions);
        if (modules->session)
            dwfl_end(modules->session);
        free(modules->path);
        free(modules);
        modules = next;
    }
}

/* ---- one address */

static const char *function_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        linkage = dwarf_formstring(&attribute);
    return linkage ? linkage : dwarf_diename(die);
}

static struct place line_of(Dwfl_Module *module, Dwarf_Addr address)
{
    struct place place = {0};
    Dwfl_Line *line = dwfl_module_getsrc(module, address);
    if (line) {
        place.file = dwfl_lineinfo(line, NULL, &place.line, NULL, NULL, NULL);
        place.directory = dwfl_line_comp_dir(line);
    }
    return place;
}

/* Where an inlined function was called from. */
static struct place call_of(Dwarf_Die *inlined, Dwarf_Files *files, const char *directory)
{
    struct place place = {.directory = directory};
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (files && dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0)
        place.file = dwarf_filesrc(files, value, NULL, NULL);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        place.line = (int)value;
    return place;
}

/* Print a line for each function of the address; returns how many. */
static int print_functions(struct module *module, Dwarf_Addr address)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die functions[FUNCTIONS_MAX], *unit = dwfl_module_addrdie(module->module, address, &bias);
    Dwarf_Files *files = NULL;
    const int count = unit ? function_index_find(&module->functions, unit, address - bias,
                                                 functions, FUNCTIONS_MAX)
                           : 0;
    if (count == 0)
        return 0;
    struct place place = line_of(module->module, address);
    const char *directory = place.directory;
    dwarf_getsrcfiles(unit, &files, NULL);
    for (int i = 0; i < count; i++) {
        print_frame(function_name(&functions[i]), &place);
        if (i + 1 < count)
            place = call_of(&functions[i], files, directory);
    }
    return count;
}

static void print_symbol(Dwfl_Module *module, Dwarf_Addr address)
{
    GElf_Sym symbol;
    GElf_Off offset;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    struct place place = line_of(module, address);
    if (name || place.file)
        print_frame(name, &place);
}

/* ---- requests */

static void answer_frame(const char *request, struct module **modules)
{
    char *path;
    unsigned long long offset = strtoull(request, &path, 16);
    struct module *module = *path == ' ' ? module_find(modules, path + 1) : NULL;
    if (module && module->module && print_functions(module, offset) == 0)
        print_symbol(module->module, offset);
    putchar('\n');
}

static void answer_device(const char *request)
{
    char file[PATH_MAX], *path;
    int line;
    const unsigned long long address = strtoull(request, &path, 16);
    if (*path == ' ' && device_line(path + 1, address, file, sizeof file, &line))
        print_frame("", &(struct place){.file = file, .line = line});
    putchar('\n');
}

static void answer(const char *request, struct module **modules)
{
    if (strncmp(request, "frame ", 6) == 0) {
        answer_frame(request + 6, modules);
    } else if (strncmp(request, "device ", 7) == 0) {
        answer_device(request + 7);
    } else if (strncmp(request, "demangle ", 9) == 0) {
        print_name(request + 9);
        putchar('\n');
    } else {
        putchar('\n');
    }
}

/* Leave the program's children, its process group and its terminal: the program must neither wait
 * for us by accident nor take us along when it is interrupted and still has a report to print. */
static bool detach(void)
{
    pid_t child = fork();
    if (child > 0)
        _exit(0);
    if (child == 0)
        setsid();
    return child == 0;
}

static int usage(void)
{
    fputs(
        "csan symbolize: csan starts this itself, to resolve stacks; it reads requests on standard "
        "input\n",
        stderr);
    return 2;
}

int command_symbolize(int argc, char **argv)
{
    struct module *modules = NULL;
    char *line = NULL;
    size_t bytes = 0;
    (void)argv;
    if (argc > 1 || isatty(STDIN_FILENO))
        return usage();
    if (!detach())
        return 1;
    puts("csan-symbolize 1");
    fflush(stdout);
    for (ssize_t length; (length = getline(&line, &bytes, stdin)) > 0;) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        alarm(SECONDS_PER_REQUEST); /* damaged debug information must not keep us for ever */
        answer(line, &modules);
        fflush(stdout);
        alarm(0);
    }
    free(line);
    modules_close(modules);
    return 0;
}
