/* csan symbolize: the helper process that turns addresses into functions and lines, and mangled
 * names into what was written. Started by csan/symbolizer.c, whose header has the protocol.
 *
 * libdw and the C++ run-time are opened here by dlopen, so that the csan command starts where they
 * are missing; then every answer is "unknown". libdw is the system's or the one bundled in
 * ../lib/csan. Modules stay open until the end of input. */
#include "runtime/cli/command.h"

#include <dirent.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUNDLE_ROUNDS = 8, SECONDS_PER_REQUEST = 60 };

struct module {
    char *path;
    Dwfl *session; /* NULL: cannot be read */
    Dwfl_Module *module;
    struct module *next;
};

static struct {
    bool ready;
    __typeof__(&elf_version) elf_version;
    __typeof__(&dwarf_attr) attr;
    __typeof__(&dwarf_attr_integrate) attr_integrate;
    __typeof__(&dwarf_diecu) diecu;
    __typeof__(&dwarf_diename) diename;
    __typeof__(&dwarf_dieoffset) dieoffset;
    __typeof__(&dwarf_filesrc) filesrc;
    __typeof__(&dwarf_formstring) formstring;
    __typeof__(&dwarf_formudata) formudata;
    __typeof__(&dwarf_getscopes) getscopes;
    __typeof__(&dwarf_getscopes_die) getscopes_die;
    __typeof__(&dwarf_getsrcfiles) getsrcfiles;
    __typeof__(&dwarf_offdie) offdie;
    __typeof__(&dwarf_tag) tag;
    __typeof__(&dwfl_begin) begin;
    __typeof__(&dwfl_end) end;
    __typeof__(&dwfl_lineinfo) lineinfo;
    __typeof__(&dwfl_line_comp_dir) line_comp_dir;
    __typeof__(&dwfl_module_addrdie) addrdie;
    __typeof__(&dwfl_module_addrinfo) addrinfo;
    __typeof__(&dwfl_module_getdwarf) getdwarf;
    __typeof__(&dwfl_module_getsrc) getsrc;
    __typeof__(&dwfl_report_begin) report_begin;
    __typeof__(&dwfl_report_elf) report_elf;
    __typeof__(&dwfl_report_end) report_end;
    Dwfl_Callbacks callbacks;
} dw;

#define FUNCTION(field, name)                                                                      \
    {                                                                                              \
#name, offsetof(__typeof__(dw), field)                                                     \
    }
static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    FUNCTION(elf_version, elf_version),
    FUNCTION(attr, dwarf_attr),
    FUNCTION(attr_integrate, dwarf_attr_integrate),
    FUNCTION(diecu, dwarf_diecu),
    FUNCTION(diename, dwarf_diename),
    FUNCTION(dieoffset, dwarf_dieoffset),
    FUNCTION(filesrc, dwarf_filesrc),
    FUNCTION(formstring, dwarf_formstring),
    FUNCTION(formudata, dwarf_formudata),
    FUNCTION(getscopes, dwarf_getscopes),
    FUNCTION(getscopes_die, dwarf_getscopes_die),
    FUNCTION(getsrcfiles, dwarf_getsrcfiles),
    FUNCTION(offdie, dwarf_offdie),
    FUNCTION(tag, dwarf_tag),
    FUNCTION(begin, dwfl_begin),
    FUNCTION(end, dwfl_end),
    FUNCTION(lineinfo, dwfl_lineinfo),
    FUNCTION(line_comp_dir, dwfl_line_comp_dir),
    FUNCTION(addrdie, dwfl_module_addrdie),
    FUNCTION(addrinfo, dwfl_module_addrinfo),
    FUNCTION(getdwarf, dwfl_module_getdwarf),
    FUNCTION(getsrc, dwfl_module_getsrc),
    FUNCTION(report_begin, dwfl_report_begin),
    FUNCTION(report_elf, dwfl_report_elf),
    FUNCTION(report_end, dwfl_report_end),
    FUNCTION(callbacks.find_elf, dwfl_build_id_find_elf),
    FUNCTION(callbacks.find_debuginfo, dwfl_standard_find_debuginfo),
    FUNCTION(callbacks.section_address, dwfl_offline_section_address),
};
#undef FUNCTION

/* ---- libdw and the demangler */

/* The bundled libdw needs bundled libraries in turn, which the loader does not look for there: what
 * is opened by its path first is then found by its name. In what order is not known, so try all
 * until libdw can be opened. */
static void *open_bundled(void)
{
    char directory[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof(directory) - 1);
    directory[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(directory, '/');
    if (!slash || slash + sizeof("/../lib/csan") > directory + sizeof(directory))
        return NULL;
    strcpy(slash, "/../lib/csan");
    void *library = NULL;
    for (int round = 0; round < BUNDLE_ROUNDS && !library; round++) {
        DIR *files = opendir(directory);
        for (struct dirent *file; files && (file = readdir(files));) {
            bool library_file = strncmp(file->d_name, "lib", 3) == 0 && strstr(file->d_name, ".so");
            if (!library_file || strncmp(file->d_name, "libcu", 5) == 0)
                continue;
            snprintf(path, sizeof(path), "%s/%s", directory, file->d_name);
            void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (strcmp(file->d_name, "libdw.so.1") == 0)
                library = opened;
        }
        if (files)
            closedir(files);
    }
    return library;
}

static void open_libdw(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        library = open_bundled();
    if (!library)
        return;
    dw.ready = true;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *address = dlsym(library, functions[i].name);
        memcpy((char *)&dw + functions[i].offset, &address, sizeof(address));
        dw.ready &= address != NULL;
    }
    if (dw.ready)
        dw.ready = dw.elf_version(EV_CURRENT) != EV_NONE;
}

typedef char *demangle_function(const char *name, char *output, size_t *bytes, int *status);

static demangle_function *open_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    return library ? (demangle_function *)dlsym(library, "__cxa_demangle") : NULL;
}

/* ---- answers */

/* A tab or a line end inside a field would end it. */
static void print_field(const char *text)
{
    for (; text && *text; text++)
        putchar((unsigned char)*text < ' ' ? '?' : *text);
}

static void print_name(const char *name, demangle_function *demangle)
{
    int status = -1;
    char *plain = NULL;
    if (name && demangle && strncmp(name, "_Z", 2) == 0)
        plain = demangle(name, NULL, NULL, &status);
    print_field(plain && status == 0 ? plain : name);
    free(plain);
}

struct place {
    const char *directory; /* NULL when file is absolute or nothing is known */
    const char *file;
    int line;
};

static void print_frame(const char *function, const struct place *place,
                        demangle_function *demangle)
{
    print_name(function, demangle);
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
    if (!dw.ready || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return module;
    module->session = dw.begin(&dw.callbacks);
    if (!module->session)
        return module;
    dw.report_begin(module->session);
    /* Loaded at 0, addresses are those that the file itself uses. */
    module->module = dw.report_elf(module->session, path, path, -1, 0, true);
    dw.report_end(module->session, NULL, NULL);
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
        if (modules->session)
            dw.end(modules->session);
        free(modules->path);
        free(modules);
        modules = next;
    }
}

/* ---- one address */

static bool is_function(Dwarf_Die *die)
{
    int tag = dw.tag(die);
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram ||
           tag == DW_TAG_entry_point;
}

static const char *function_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dw.attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dw.attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
        linkage = dw.formstring(&attribute);
    return linkage ? linkage : dw.diename(die);
}

static struct place line_of(Dwfl_Module *module, Dwarf_Addr address)
{
    struct place place = {0};
    Dwfl_Line *line = dw.getsrc(module, address);
    if (line) {
        place.file = dw.lineinfo(line, NULL, &place.line, NULL, NULL, NULL);
        place.directory = dw.line_comp_dir(line);
    }
    return place;
}

/* Where an inlined function was called from. */
static struct place call_of(Dwarf_Die *inlined, Dwarf_Files *files, const char *directory)
{
    struct place place = {.directory = directory};
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (files && dw.formudata(dw.attr(inlined, DW_AT_call_file, &attribute), &value) == 0)
        place.file = dw.filesrc(files, value, NULL, NULL);
    if (dw.formudata(dw.attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        place.line = (int)value;
    return place;
}

/* The debug entries that hold the address, innermost first. dwarf_getscopes follows an inlined
 * function to where it was written; the entries around its call are those of dwarf_getscopes_die
 * (libdw.h says so of both). */
static int scopes_of(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Addr bias;
    Dwarf_Die innermost;
    int count = dw.getscopes(unit, address, scopes);
    if (count <= 0)
        return 0;
    Dwarf *debug = dw.getdwarf(module, &bias);
    Dwarf_Die *found = dw.offdie(debug, dw.dieoffset(&(*scopes)[0]), &innermost);
    free(*scopes);
    return found ? dw.getscopes_die(&innermost, scopes) : 0;
}

/* Print a line for each function of the address; returns how many. */
static int print_scopes(Dwfl_Module *module, Dwarf_Addr address, demangle_function *demangle)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *scopes = NULL, *unit = dw.addrdie(module, address, &bias);
    Dwarf_Files *files = NULL;
    int printed = 0;
    int count = unit ? scopes_of(module, unit, address - bias, &scopes) : 0;
    if (count <= 0)
        return 0;
    struct place place = line_of(module, address);
    const char *directory = place.directory;
    dw.getsrcfiles(unit, &files, NULL);
    for (int i = 0; i < count; i++) {
        if (!is_function(&scopes[i]))
            continue;
        print_frame(function_name(&scopes[i]), &place, demangle);
        printed++;
        if (dw.tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            break;
        place = call_of(&scopes[i], files, directory);
    }
    free(scopes);
    return printed;
}

static void print_symbol(Dwfl_Module *module, Dwarf_Addr address, demangle_function *demangle)
{
    GElf_Sym symbol;
    GElf_Off offset;
    const char *name = dw.addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    struct place place = line_of(module, address);
    if (name || place.file)
        print_frame(name, &place, demangle);
}

/* ---- requests */

static void answer_frame(const char *request, struct module **modules, demangle_function *demangle)
{
    char *path;
    unsigned long long offset = strtoull(request, &path, 16);
    struct module *module = *path == ' ' ? module_find(modules, path + 1) : NULL;
    if (module && module->module && print_scopes(module->module, offset, demangle) == 0)
        print_symbol(module->module, offset, demangle);
    putchar('\n');
}

static void answer(const char *request, struct module **modules, demangle_function *demangle)
{
    if (strncmp(request, "frame ", 6) == 0) {
        answer_frame(request + 6, modules, demangle);
    } else if (strncmp(request, "demangle ", 9) == 0) {
        print_name(request + 9, demangle);
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
    open_libdw();
    demangle_function *demangle = open_demangler();
    for (ssize_t length; (length = getline(&line, &bytes, stdin)) > 0;) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        alarm(SECONDS_PER_REQUEST); /* damaged debug information must not keep us for ever */
        answer(line, &modules, demangle);
        fflush(stdout);
        alarm(0);
    }
    free(line);
    modules_close(modules);
    return 0;
}
