// verdict: none
// options: host=guard
// Paths, structures and results of system calls lie in the page that a copy may still write, beside
// its bytes: no call fails that works without csan, and none is made twice that has an effect.
#include "host_memory.h"
#include <cerrno>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

struct beside {
    int result[64];
    char path[64], text[512];
    struct stat status;
    pollfd file;
    epoll_event event, got;
    timespec time, left;
    timeval now;
    utsname name;
    rusage usage;
    sockaddr_in address;
    socklen_t bytes;
    int value, ends[2];
};

static cudaStream_t stream;
static int *device;
static beside *page;

// The page is closed again.
static void copy()
{
    CHECK(
        cudaMemcpyAsync(page->result, device, sizeof page->result, cudaMemcpyDeviceToHost, stream));
}

#define CHECK_CALL(what)                                                                           \
    do {                                                                                           \
        copy();                                                                                    \
        if (!(what)) {                                                                             \
            perror(#what);                                                                         \
            exit(102);                                                                             \
        }                                                                                          \
    } while (0)

static void files()
{
    strcpy(page->path, "/proc/self");
    CHECK_CALL(close(open(page->path, O_RDONLY)) == 0);
    CHECK_CALL(stat(page->path, &page->status) == 0 && S_ISDIR(page->status.st_mode));
    CHECK_CALL(fstat(0, &page->status) == 0);
    CHECK_CALL(access(page->path, R_OK) == 0);
    CHECK_CALL(getcwd(page->text, sizeof page->text));
    CHECK_CALL(readlink("/proc/self/exe", page->text, sizeof page->text) > 0);
    DIR *folder = nullptr;
    CHECK_CALL((folder = opendir(page->path)) && closedir(folder) == 0);
    strcpy(page->path, "/proc/self/stat");
    FILE *file = nullptr;
    CHECK_CALL((file = fopen(page->path, "r")) && fclose(file) == 0);
    CHECK_CALL(pipe(page->ends) == 0);
    close(page->ends[0]), close(page->ends[1]);
    CHECK_CALL(open((const char *)8, O_RDONLY) == -1 && errno == EFAULT);
}

static void waits()
{
    const int epoll = epoll_create1(0), raised = eventfd(1, 0);
    page->file = {raised, POLLIN, 0};
    CHECK_CALL(poll(&page->file, 1, 0) == 1 && page->file.revents == POLLIN);
    page->event.events = EPOLLIN;
    CHECK_CALL(epoll_ctl(epoll, EPOLL_CTL_ADD, raised, &page->event) == 0);
    CHECK_CALL(epoll_wait(epoll, &page->got, 1, 0) == 1 && page->got.events == EPOLLIN);
    page->time = {0, 1000};
    CHECK_CALL(nanosleep(&page->time, &page->left) == 0);
    CHECK_CALL(clock_nanosleep(CLOCK_MONOTONIC, 0, &page->time, nullptr) == 0);
    CHECK_CALL(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &page->time) == 0);
    CHECK_CALL(gettimeofday(&page->now, nullptr) == 0);
    CHECK_CALL(uname(&page->name) == 0 && getrusage(RUSAGE_SELF, &page->usage) == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(3);
    CHECK_CALL(waitpid(child, &page->value, 0) == child && WEXITSTATUS(page->value) == 3);
}

static void sockets()
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    page->bytes = sizeof page->address;
    page->address.sin_family = AF_INET;
    page->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_CALL(bind(listener, (sockaddr *)&page->address, sizeof page->address) == 0);
    CHECK_CALL(listen(listener, 1) == 0);
    CHECK_CALL(getsockname(listener, (sockaddr *)&page->address, &page->bytes) == 0);
    CHECK_CALL(connect(client, (sockaddr *)&page->address, sizeof page->address) == 0);
    int server = -1;
    CHECK_CALL((server = accept(listener, (sockaddr *)&page->address, &page->bytes)) >= 0);
    page->bytes = sizeof page->value;
    CHECK_CALL(getsockopt(server, SOL_SOCKET, SO_TYPE, &page->value, &page->bytes) == 0 &&
               page->value == SOCK_STREAM);
    const int packets = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
    char word[4];
    sockaddr_in here = {};
    socklen_t bytes = sizeof here;
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_CALL(bind(packets, (sockaddr *)&here, sizeof here) == 0 &&
               getsockname(packets, (sockaddr *)&here, &bytes) == 0 &&
               sendto(sender, "abc", 4, 0, (sockaddr *)&here, bytes) == 4);
    page->bytes = sizeof page->address;
    CHECK_CALL(recvfrom(packets, word, 4, 0, (sockaddr *)&page->address, &page->bytes) == 4);
    memcpy(&page->address, &here, sizeof here);
    page->bytes = sizeof page->address;
    CHECK_CALL(sendto(sender, word, 4, 0, (sockaddr *)&page->address, bytes) == 4);
    CHECK_CALL(syscall(SYS_recvfrom, packets, word, 4, 0, &page->address, &page->bytes) == 4);
}

int main()
{
    device = device_array<int>(HOST_N);
    page = (beside *)pinned_memory();
    stream = nonblocking_stream();
    files();
    waits();
    sockets();
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
