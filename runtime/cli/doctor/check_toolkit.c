/* NVIDIA's toolkit, its tools interface, and PyTorch. See check.h. */
#include "runtime/cli/doctor/check.h"
#include "csan/base/environment.h"
#include "runtime/tracer/library_place.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, OLDEST_TORCH = 203 };

/* ---- The toolkit ---- */

/* CUDA_VERSION of a toolkit's cuda.h: 12080 is 12.8; 0: it has none. */
static int version_of(const char *home)
{
    char path[PATH_MAX], line[256];
    int version = 0;
    snprintf(path, sizeof path, "%s/include/cuda.h", home);
    FILE *file = fopen(path, "re");
    while (file && !version && fgets(line, sizeof line, file))
        if (sscanf(line, "#define CUDA_VERSION %d", &version) != 1)
            version = 0;
    if (file)
        fclose(file);
    return version;
}

/* The folder of the toolkit whose nvcc is on PATH. */
static bool home_of_nvcc(char *home, size_t bytes)
{
    char *command[] = {"sh", "-c", "command -v nvcc", NULL};
    char path[PATH_MAX], real[PATH_MAX];
    if (!check_command(command, path, sizeof path, SECONDS) || !realpath(path, real))
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (slash)
            *slash = '\0';
    }
    snprintf(home, bytes, "%s", real);
    return true;
}

/* The first toolkit that has headers. */
static int find_toolkit(char *home, size_t bytes)
{
    const char *const usual[] = {environment_get_text("CUDA_HOME"),
                                 environment_get_text("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};
    int version = 0;
    for (size_t i = 0; !version && i < sizeof usual / sizeof *usual; i++)
        if (usual[i] && (version = version_of(usual[i])) != 0)
            snprintf(home, bytes, "%s", usual[i]);
    if (!version && home_of_nvcc(home, bytes))
        version = version_of(home);
    return version;
}

void check_toolkit(struct check *check, const struct doctor *doctor)
{
    char home[PATH_MAX] = "";
    const int version = find_toolkit(home, sizeof home);
    (void)doctor;
    if (!version) {
        check_found(check, "no CUDA Toolkit in CUDA_HOME, CUDA_PATH, /usr/local/cuda or on PATH");
        check_lacks(check, CHECK_ABSENT, "CUDA programs are not compiled here",
                    "install one of CUDA 12 or 13, and set CUDA_HOME, if you compile here");
        return;
    }
    check_found(check, "CUDA %d.%d in %.400s", version / 1000, version % 1000 / 10, home);
    if (version / 1000 < 12 || version / 1000 > 13)
        check_lacks(check, CHECK_BROKEN, "programs of this CUDA are not checked when linked",
                    "use a toolkit of CUDA 12 or 13");
}

/* ---- The tools interface ---- */

struct tools_answer {
    bool found, whole;
    char path[256];
};

static void ask_tools(void *to, const struct doctor *doctor)
{
    struct tools_answer *answer = to;
    struct link_map *map = NULL;
    void *library = sanitizer_library_open();
    (void)doctor;
    answer->found = library != NULL;
    answer->whole = library && dlsym(library, "sanitizerPatchModule") &&
                    dlsym(library, "sanitizerSetLaunchCallbackData");
    if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
        snprintf(answer->path, sizeof answer->path, "%s", map->l_name);
}

/* The tracer may have been left out of the build. */
static bool has_tracer(const struct doctor *doctor)
{
    char command[PATH_MAX + 64], line[8];
    char *arguments[] = {"sh", "-c", command, NULL};
    snprintf(command, sizeof command, "grep -qa sanitizerPatchModule '%s/libcsan.so.0' && echo 1",
             doctor->lib);
    return check_command(arguments, line, sizeof line, SECONDS);
}

void check_tools(struct check *check, const struct doctor *doctor)
{
    static const char without[] =
        "on a GPU, kernels without PTX whose accesses csan cannot derive are not traced";
    const char *tool = environment_get_text("CUDA_INJECTION64_PATH");
    struct tools_answer answer = {0};
    if (!has_tracer(doctor)) {
        check_found(check, "csan was built without its tracer");
        check_lacks(check, CHECK_ABSENT, without,
                    "build it where the headers of NVIDIA's Sanitizer API are");
    } else if (tool) {
        check_found(check, "CUDA_INJECTION64_PATH names another tool: %.300s", tool);
        check_lacks(check, CHECK_ABSENT, without, "unset CUDA_INJECTION64_PATH to trace");
    } else if (!check_ask(ask_tools, doctor, &answer, sizeof answer, SECONDS) || !answer.found) {
        check_found(check, "no %s", SANITIZER_LIBRARY);
        check_lacks(
            check, CHECK_ABSENT, without,
            "on a machine with a GPU: set CUDA_HOME to a toolkit that has compute-sanitizer, "
            "or pip install nvidia-cuda-sanitizer-api and set LD_LIBRARY_PATH");
    } else if (!answer.whole) {
        check_found(check, "%s lacks functions that csan calls", answer.path);
        check_lacks(check, CHECK_BROKEN, without, "take it from a toolkit of CUDA 12 or 13");
    } else {
        check_found(check, "%s", answer.path);
    }
}

/* ---- PyTorch ---- */

/* "2.11.0 1 /usr/bin/c++": version, whether Python's headers are there, and the compiler or "-".
 * PyTorch itself is not imported, which would take seconds. */
static char python_program[] =
    "import os, shutil, sysconfig\n"
    "from importlib.metadata import version\n"
    "headers = os.path.exists(os.path.join(sysconfig.get_paths()['include'], 'Python.h'))\n"
    "compiler = os.environ.get('CXX') or shutil.which('c++') or shutil.which('g++') or '-'\n"
    "print(version('torch'), int(headers), compiler)\n";

void check_pytorch(struct check *check, const struct doctor *doctor)
{
    static const char slower[] = "PyTorch's operators are followed by a slower way";
    char python[PATH_MAX], line[512], compiler[256] = "";
    char *command[] = {python, "-c", python_program, NULL};
    int major = 0, minor = 0, headers = 0;
    snprintf(python, sizeof python, "%s", doctor->python);
    if (!check_command(command, line, sizeof line, SECONDS) ||
        sscanf(line, "%d.%d%*s %d %255s", &major, &minor, &headers, compiler) != 4) {
        check_found(check, "%s has no PyTorch", python);
        check_lacks(check, CHECK_ABSENT, "programs with PyTorch do not run by this interpreter",
                    "csan doctor --python=FILE asks another interpreter");
    } else if (major * 100 + minor < OLDEST_TORCH) {
        check_found(check, "PyTorch %d.%d", major, minor);
        check_lacks(check, CHECK_BROKEN, "its operators are not followed",
                    "use PyTorch 2.3 or newer");
    } else {
        check_found(check, "PyTorch %d.%d, %s, compiler %s", major, minor,
                    headers ? "Python's headers are there" : "no Python.h", compiler);
        if (!headers)
            check_lacks(check, CHECK_ABSENT, slower, "install Python's headers (python3-dev)");
        else if (strcmp(compiler, "-") == 0)
            check_lacks(check, CHECK_ABSENT, slower, "install g++, or set CXX");
    }
}
