#include "csan/stack/symbolizer.h"
#include "csan/stack/code_place.h"
#include "csan/base/now.h"
#include "csan/options.h"
#include "csan/base/path_name.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define GREETING "csan-symbolize 1"

enum { ANSWER_MS = 10000, LOOK_MS = 50, LINE_MAX_BYTES = 64 << 10, INLINED_MAX = 256 };

enum helper_state { HELPER_NOT_STARTED, HELPER_RUNS, HELPER_GONE };

struct helper_client {
    struct symbolizer face;
    pthread_mutex_t lock;
    struct module_map *modules; /* of another process; NULL: what this one has loaded */
    char path[OPTION_TEXT_MAX]; /* of the helper; "": the one that belongs to this library */
    enum helper_state state;
    int descriptor;
    pid_t owner;  /* the process that started it: a forked child may not talk to it */
    dev_t device; /* of the socket: the program may close it, and open something else there */
    ino_t inode;
    char trouble[OPTION_TEXT_MAX + 256];
    bool trouble_noted;
    bool hurried;      /* atomic */
    size_t start, end; /* what was received and not read yet, in buffer */
    char buffer[LINE_MAX_BYTES];
};

/* ---- the module of an address */

struct module_place {
    uintptr_t address;
    char path[PATH_MAX]; /* "": none */
    uint64_t offset;
    bool other; /* the file at the path is not what was loaded */
};

static int module_match(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    struct module_place *place = user;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t offset = place->address - info->dlpi_addr;
        if (header->p_type != PT_LOAD || offset - header->p_vaddr >= header->p_memsz)
            continue;
        place->offset = offset;
        if (info->dlpi_name && info->dlpi_name[0])
            snprintf(place->path, sizeof(place->path), "%s", info->dlpi_name);
        else if (readlink("/proc/self/exe", place->path, sizeof(place->path) - 1) < 0)
            strcpy(place->path, "/proc/self/exe");
        return 1;
    }
    return 0;
}

static void module_recall(struct module_map *modules, struct module_place *place)
{
    struct module *module = module_map_find(modules, place->address);
    if (!module)
        return;
    snprintf(place->path, sizeof(place->path), "%s", module->path);
    place->offset = place->address - module->bias;
    place->other = !module_file_is_same(module);
}

static struct module_place module_of(struct helper_client *client, const void *return_address)
{
    /* The call is the instruction before: the return address may be another line, or function. */
    struct module_place place = {.address = (uintptr_t)return_address - 1};
    if (!client->modules)
        dl_iterate_phdr(module_match, &place);
    else
        module_recall(client->modules, &place);
    if (place.other && !client->trouble[0])
        snprintf(client->trouble, sizeof(client->trouble),
                 "'%.1024s' is another build than the one that was recorded: its stacks are not "
                 "resolved",
                 place.path);
    return place;
}

static bool is_own(const char *path)
{
    const char *name = path_name(path);
    return strncmp(name, "libcsan.so", 10) == 0 || strncmp(name, "libcsan_rt.so", 13) == 0 ||
           strncmp(name, "libcsan_threads.so", 18) == 0;
}

/* ---- life of the helper */

static void helper_lose(struct helper_client *client, const char *what, int error)
{
    char reason[128] = "";
    if (client->state == HELPER_RUNS)
        close(client->descriptor);
    client->state = HELPER_GONE;
    snprintf(client->trouble, sizeof(client->trouble),
             "stacks and names are not resolved: the helper '%s symbolize' %s%s%s; option "
             "external_symbolizer_path names another csan command, symbolize=0 does without",
             client->path, what, error ? ": " : "",
             error ? strerror_r(error, reason, sizeof(reason)) : "");
}

/* bin/csan beside the lib/ that this library is in. */
static void helper_path_default(char *path, size_t bytes)
{
    Dl_info self;
    const char *slash = NULL;
    if (dladdr((void *)helper_path_default, &self) && self.dli_fname)
        slash = strrchr(self.dli_fname, '/');
    int length = snprintf(path, bytes, "%.*s/../bin/csan",
                          slash ? (int)(slash - self.dli_fname) : 1, slash ? self.dli_fname : ".");
    if ((size_t)length >= bytes || access(path, X_OK) != 0)
        snprintf(path, bytes, "csan"); /* on PATH */
}

/* Whether a variable stays out of the helper: what would check it, and what would make libdw ask
 * the network for debug information. */
static bool variable_is_ours(const char *variable)
{
    static const char *const names[] = {"LD_PRELOAD=", "LD_AUDIT=", "CSAN", "DEBUGINFOD_URLS="};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static char **helper_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **variables = calloc(count + 1, sizeof(*variables));
    for (size_t i = 0; variables && i < count; i++)
        if (!variable_is_ours(environ[i]))
            variables[kept++] = environ[i];
    return variables;
}

static int helper_spawn(const char *path, int socket, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *arguments[] = {(char *)path, "symbolize", NULL};
    char **variables = helper_environment();
    if (!variables)
        return ENOMEM;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int error = posix_spawnp(process, path, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(variables);
    return error;
}

/* A socket pair away from descriptors 0 to 2, which the program may have closed and thinks free. */
static int sockets_open(int sockets[2])
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return errno;
    for (int i = 0; i < 2; i++) {
        int low = sockets[i];
        if (low > STDERR_FILENO)
            continue;
        sockets[i] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        int error = errno;
        close(low);
        if (sockets[i] < 0) {
            close(sockets[!i]);
            return error;
        }
    }
    return 0;
}

static char *answer_line(struct helper_client *client);

static bool is_hurried(const struct helper_client *client)
{
    return __atomic_load_n(&client->hurried, __ATOMIC_RELAXED);
}

/* The process we spawned ends as soon as it has detached the helper proper; one that does not is
 * left behind. It is waited for by its number, so the program's own children are left alone. */
static void launcher_reap(const struct helper_client *client, pid_t process)
{
    const struct timespec millisecond = {0, 1000000};
    for (int i = 0; i < ANSWER_MS && !is_hurried(client) && waitpid(process, NULL, WNOHANG) == 0;
         i++)
        nanosleep(&millisecond, NULL);
}

static bool helper_greets(struct helper_client *client, pid_t process)
{
    char *line = answer_line(client);
    bool known = line && strcmp(line, GREETING) == 0;
    /* Only a number that is still our child's may be killed. */
    if (!known && waitpid(process, NULL, WNOHANG) == 0)
        kill(process, SIGKILL);
    launcher_reap(client, process);
    if (!known && client->state == HELPER_RUNS)
        helper_lose(client, "is no csan command of this version", 0);
    return known;
}

static bool helper_start(struct helper_client *client)
{
    int sockets[2];
    pid_t process;
    struct stat status;
    int error = sockets_open(sockets);
    if (error) {
        helper_lose(client, "cannot be talked to", error);
        return false;
    }
    error = helper_spawn(client->path, sockets[1], &process);
    close(sockets[1]);
    if (error) {
        close(sockets[0]);
        helper_lose(client, "cannot be started", error);
        return false;
    }
    fstat(sockets[0], &status);
    client->state = HELPER_RUNS;
    client->descriptor = sockets[0];
    client->owner = getpid();
    client->device = status.st_dev;
    client->inode = status.st_ino;
    return helper_greets(client, process);
}

/* Whether the helper can be asked; starts it the first time. */
static bool helper_ready(struct helper_client *client)
{
    struct stat status;
    if (client->state == HELPER_NOT_STARTED)
        return helper_start(client);
    if (client->state == HELPER_GONE || client->owner != getpid())
        return false;
    if (fstat(client->descriptor, &status) == 0 && status.st_dev == client->device &&
        status.st_ino == client->inode)
        return true;
    client->state = HELPER_GONE; /* not ours to close any more */
    helper_lose(client, "was cut off: the program closed its socket", 0);
    return false;
}

/* ---- talking */

static bool request_send(struct helper_client *client, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(client->descriptor, text, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0) {
            helper_lose(client, "has ended", 0);
            return false;
        }
        text += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

/* Receive something more; false, and the helper is given up, when there is nothing to come. */
static bool answer_receive(struct helper_client *client, int64_t deadline)
{
    int64_t left = deadline - now_ms();
    struct pollfd readable = {.fd = client->descriptor, .events = POLLIN};
    int ready = poll(&readable, 1, left > LOOK_MS ? LOOK_MS : left > 0 ? (int)left : 0);
    if (ready < 0 && errno == EINTR)
        return true;
    if (ready == 0 && is_hurried(client)) {
        helper_lose(client, "was too slow at the end of the program", 0);
        return false;
    }
    if (ready == 0 && left > LOOK_MS)
        return true;
    if (ready == 0) {
        helper_lose(client, "did not answer in 10 seconds", 0);
        return false;
    }
    ssize_t bytes = recv(client->descriptor, client->buffer + client->end,
                         sizeof(client->buffer) - client->end, MSG_DONTWAIT);
    if (bytes < 0 && errno == EINTR)
        return true;
    if (bytes <= 0) {
        helper_lose(client, "has ended", 0);
        return false;
    }
    client->end += (size_t)bytes;
    return true;
}

/* The next line, without its end; valid until the next call. NULL: the helper is gone. */
static char *answer_line(struct helper_client *client)
{
    int64_t deadline = now_ms() + ANSWER_MS;
    if (client->start == client->end)
        client->start = client->end = 0;
    for (;;) {
        char *line = client->buffer + client->start;
        char *newline = memchr(line, '\n', client->end - client->start);
        if (newline) {
            *newline = '\0';
            client->start = (size_t)(newline + 1 - client->buffer);
            return line;
        }
        if (client->start > 0) {
            memmove(client->buffer, line, client->end - client->start);
            client->end -= client->start;
            client->start = 0;
        }
        if (client->end == sizeof(client->buffer)) {
            helper_lose(client, "gives no sensible answers", 0);
            return NULL;
        }
        if (!answer_receive(client, deadline))
            return NULL;
    }
}

/* Cut "FUNCTION \t FILE \t LINE" into the frame; empty fields stay NULL. */
static void frame_read(struct symbol_frame *frame, char *line)
{
    char *file = strchr(line, '\t'), *number = file ? strchr(file + 1, '\t') : NULL;
    if (!number)
        return;
    *file++ = *number++ = '\0';
    frame->function = line[0] ? line : NULL;
    frame->file = file[0] ? file : NULL;
    frame->line = (uint32_t)strtoul(number, NULL, 10);
}

/* Ask for one address and visit what is there; false when nothing was visited. */
static bool frame_ask(struct helper_client *client, size_t index, const struct symbol_frame *bare,
                      symbolizer_visit *visit, void *user)
{
    char request[PATH_MAX + 64];
    if (strchr(bare->module, '\n') || !helper_ready(client))
        return false;
    int length = snprintf(request, sizeof(request), "frame %llx %s\n",
                          (unsigned long long)bare->offset, bare->module);
    if (!request_send(client, request, (size_t)length))
        return false;
    bool visited = false;
    for (int i = 0; i < INLINED_MAX; i++) {
        char *line = answer_line(client);
        if (!line || !line[0])
            return visited;
        struct symbol_frame frame = *bare;
        frame_read(&frame, line);
        visit(user, index, &frame);
        visited = true;
    }
    helper_lose(client, "gives no sensible answers", 0);
    return visited;
}

/* ---- the face */

/* A thread of the program that is cancelled here would leave the lock taken. */
static int client_enter(struct helper_client *client)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&client->lock);
    return before;
}

static void client_leave(struct helper_client *client, int before)
{
    pthread_mutex_unlock(&client->lock);
    pthread_setcancelstate(before, NULL);
}

static void client_frames(struct symbolizer *face, const void *const *frames, size_t count,
                          symbolizer_visit *visit, void *user)
{
    struct helper_client *client = (struct helper_client *)face;
    int before = client_enter(client);
    for (size_t i = 0; i < count; i++) {
        struct module_place place = module_of(client, frames[i]);
        struct symbol_frame bare = {.module = place.path[0] ? place.path : NULL,
                                    .offset = place.path[0] ? place.offset : place.address,
                                    .own = is_own(place.path)};
        if (!bare.module || bare.own || place.other || !frame_ask(client, i, &bare, visit, user))
            visit(user, i, &bare);
    }
    client_leave(client, before);
}

static void client_demangle(struct symbolizer *face, const char *name, char *text, size_t bytes)
{
    struct helper_client *client = (struct helper_client *)face;
    snprintf(text, bytes, "%s", name);
    size_t length = strlen(name);
    if (strncmp(name, "_Z", 2) != 0 || strchr(name, '\n') || length > LINE_MAX_BYTES / 2)
        return;
    int before = client_enter(client);
    if (helper_ready(client) && request_send(client, "demangle ", 9) &&
        request_send(client, name, length) && request_send(client, "\n", 1)) {
        const char *line = answer_line(client);
        if (line && line[0])
            snprintf(text, bytes, "%s", line);
    }
    client_leave(client, before);
}

static const char *client_trouble(struct symbolizer *face)
{
    struct helper_client *client = (struct helper_client *)face;
    int before = client_enter(client);
    bool news = client->trouble[0] && !client->trouble_noted;
    client->trouble_noted |= news;
    client_leave(client, before);
    return news ? client->trouble : NULL;
}

static void client_hurry(struct symbolizer *face)
{
    struct helper_client *client = (struct helper_client *)face;
    __atomic_store_n(&client->hurried, true, __ATOMIC_RELAXED);
}

static uint64_t client_place(struct symbolizer *face, const void *const *frames, size_t count)
{
    struct helper_client *client = (struct helper_client *)face;
    int before = client_enter(client); /* the map may grow */
    const uint64_t place = code_place(client->modules, frames, count);
    client_leave(client, before);
    return place;
}

/* The one line there is; `frame` points into the buffer. */
static bool device_ask(struct helper_client *client, const char *request, size_t bytes,
                       struct symbol_frame *frame)
{
    char *line =
        helper_ready(client) && request_send(client, request, bytes) ? answer_line(client) : NULL;
    if (!line || !line[0])
        return false;
    frame_read(frame, line);
    return frame->file != NULL;
}

static bool client_device_line(struct symbolizer *face, const char *path, uint64_t address,
                               char *file, size_t bytes, uint32_t *line)
{
    struct helper_client *client = (struct helper_client *)face;
    struct symbol_frame frame = {.function = NULL};
    char request[PATH_MAX + 64];
    const int length =
        snprintf(request, sizeof request, "device %llx %s\n", (unsigned long long)address, path);
    const int before = client_enter(client);
    const bool found = device_ask(client, request, (size_t)length, &frame);
    if (found) {
        snprintf(file, bytes, "%s", frame.file);
        *line = frame.line;
        answer_line(client); /* the empty one */
    }
    client_leave(client, before);
    return found;
}

static void client_destroy(struct symbolizer *face)
{
    struct helper_client *client = (struct helper_client *)face;
    if (client->state == HELPER_RUNS)
        close(client->descriptor);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

struct symbolizer *symbolizer_create(const struct options *options)
{
    return symbolizer_create_for(options, NULL);
}

struct symbolizer *symbolizer_create_for(const struct options *options, struct module_map *modules)
{
    struct helper_client *client = calloc(1, sizeof(*client));
    if (!client)
        return NULL;
    client->modules = modules;
    client->face =
        (struct symbolizer){client_frames, client_demangle, client_trouble,    client_destroy,
                            client_place,  client_hurry,    client_device_line};
    client->state = options->symbolize ? HELPER_NOT_STARTED : HELPER_GONE;
    snprintf(client->path, sizeof(client->path), "%s", options->external_symbolizer_path);
    /* Now, not at a report: another thread may hold the loader's lock then, and wait for csan. */
    if (!client->path[0] && options->symbolize)
        helper_path_default(client->path, sizeof(client->path));
    pthread_mutex_init(&client->lock, NULL);
    return &client->face;
}
