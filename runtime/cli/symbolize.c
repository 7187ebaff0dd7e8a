/* csan symbolize: the helper process that turns addresses into functions and lines.
 *
 * Reads questions on standard input and answers on standard output until its input ends; the
 * protocol is in csan/symbolizer.h. libdw does the work and is linked statically, so that the
 * command runs where elfutils is not installed. */
#include "command.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names */

typedef char *demangle_function(const char *name, char *buffer, size_t *length, int *status);

/* The C++ library's own demangler: every machine that runs CUDA programs has it. */
static demangle_function *find_demangler(void)
{
    static demangle_function *demangle;
    static bool searched;
    if (!searched) {
        searched = true;
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            library = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library)
            demangle = (demangle_function *)dlsym(library, "__cxa_demangle");
    }
    return demangle;
}

/* A malloc'd copy, demangled where possible. */
static char *demangled(const char *name)
{
    demangle_function *demangle = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    return text && status == 0 ? text : strdup(name);
}

/* ---- modules */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct module {
    char *path;
    Dwfl *session; /* one a module: each keeps the addresses of its file */
    Dwfl_Module *module;
    struct module *next;
};

static struct module *modules;

static struct module *open_module(const char *path)
{
    for (struct module *known = modules; known; known = known->next)
        if (strcmp(known->path, path) == 0)
            return known;
    struct module *opened = calloc(1, sizeof(*opened));
    if (!opened)
        return NULL;
    opened->path = strdup(path);
    opened->session = dwfl_begin(&callbacks);
    if (opened->session) {
        dwfl_report_begin(opened->session);
        opened->module = dwfl_report_offline(opened->session, path, path, -1);
        dwfl_report_end(opened->session, NULL, NULL);
    }
    opened->next = modules;
    modules = opened;
    return opened;
}

/* ---- one address */

static void answer(const char *function, const char *file, int line)
{
    char *name = function ? demangled(function) : NULL;
    printf("%s\t%s\t%d\n", name ? name : "", file ? file : "", line);
    free(name);
}

static const char *linkage_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    for (int i = 0; i < 2; i++)
        if (dwarf_attr_integrate(die, names[i], &attribute))
            return dwarf_formstring(&attribute);
    return dwarf_diename(die);
}

/* Where an inlined body was called from. */
static void call_place(Dwarf_Die *unit, Dwarf_Die *inlined, const char **file, int *line)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    Dwarf_Files *files;
    size_t count;
    *file = NULL;
    *line = 0;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        *line = (int)value;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 &&
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0)
        *file = dwarf_filesrc(files, value, NULL, NULL);
}

/* From the innermost inlined body out to the function; true when any was found. */
static bool answer_scopes(Dwfl_Module *module, Dwarf_Addr address, const char *file, int line)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
    if (!unit)
        return false;
    int count = dwarf_getscopes(unit, address - bias, &scopes);
    bool any = false;
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        answer(linkage_name(&scopes[i]), file, line);
        any = true;
        if (tag == DW_TAG_subprogram)
            break;
        call_place(unit, &scopes[i], &file, &line);
    }
    free(scopes);
    return any;
}

static void resolve(const char *path, unsigned long offset)
{
    struct module *opened = open_module(path);
    if (!opened || !opened->module)
        return;
    Dwarf_Addr low;
    dwfl_module_info(opened->module, NULL, &low, NULL, NULL, NULL, NULL, NULL);
    GElf_Addr bias = 0;
    dwfl_module_getelf(opened->module, &bias);
    Dwarf_Addr address = offset + bias;
    int line = 0;
    Dwfl_Line *place = dwfl_module_getsrc(opened->module, address);
    const char *file = place ? dwfl_lineinfo(place, NULL, &line, NULL, NULL, NULL) : NULL;
    if (!answer_scopes(opened->module, address, file, line)) {
        const char *symbol = dwfl_module_addrname(opened->module, address);
        if (symbol || file)
            answer(symbol, file, line);
    }
}

/* ---- questions */

static void answer_question(char *question)
{
    if (strncmp(question, "demangle ", 9) == 0) {
        char *name = demangled(question + 9);
        printf("%s\n", name ? name : "");
        free(name);
    } else if (strncmp(question, "frame ", 6) == 0) {
        char *path;
        unsigned long offset = strtoul(question + 6, &path, 16);
        if (*path == ' ')
            resolve(path + 1, offset);
        printf("\n");
    }
    fflush(stdout);
}

int command_symbolize(int argc, char **argv)
{
    (void)argc, (void)argv;
    /* the program that asks must not find a child it did not make */
    pid_t detached = fork();
    if (detached > 0)
        _exit(0);
    printf("csan-symbolize 1\n");
    fflush(stdout);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        answer_question(line);
    }
    free(line);
    for (struct module *module = modules, *next; module; module = next) {
        next = module->next;
        if (module->session)
            dwfl_end(module->session);
        free(module->path);
        free(module);
    }
    return 0;
}
