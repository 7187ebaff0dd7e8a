/* Runs the cases (cases.h): mpi_cases [NAME...]. The last line of rank 0 is "N passed, N failed".
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, size, partner;

static struct {
    const char *name;
    int failed; /* of the case, on this rank */
    int is_right;
} now;

void expect(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, now.name, what);
    now.failed = 1;
}

void rank_is_right(void)
{
    now.is_right = 1;
}

cudaStream_t new_stream(void)
{
    cudaStream_t stream = NULL;
    expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "no stream");
    return stream;
}

static float *filled(float *p, int n, float value)
{
    launch_fill(p, n, value, NULL);
    expect(cudaDeviceSynchronize() == cudaSuccess, "a kernel failed");
    return p;
}

float *device_floats(int n, float value)
{
    void *p = NULL;
    expect(cudaMalloc(&p, (size_t)n * sizeof(float)) == cudaSuccess, "no device memory");
    return filled(p, n, value);
}

float *pinned_floats(int n, float value)
{
    void *p = NULL;
    expect(cudaMallocHost(&p, (size_t)n * sizeof(float)) == cudaSuccess, "no pinned memory");
    return filled(p, n, value);
}

float *managed_floats(int n, float value)
{
    void *p = NULL;
    expect(cudaMallocManaged(&p, (size_t)n * sizeof(float), cudaMemAttachGlobal) == cudaSuccess,
           "no managed memory");
    return filled(p, n, value);
}

void expect_floats(const float *p, int n, float value)
{
    float *found = malloc((size_t)n * sizeof *found);
    int wrong = 0;
    cudaDeviceSynchronize();
    cudaMemcpy(found, p, (size_t)n * sizeof *found, cudaMemcpyDefault);
    for (int i = 0; i < n; i++)
        wrong += found[i] != value;
    if (wrong)
        fprintf(stderr, "rank %d: %s: %d of %d elements are not %g; the first is %g\n", rank,
                now.name, wrong, n, value, found[0]);
    now.failed |= wrong != 0;
    free(found);
}

/* ---- Verdicts ---- */

enum { RACES = 16 };

static int names_call(const struct csan_race_access *access, const struct mpi_case *tested)
{
    return access->name && strcmp(access->name, tested->call) == 0 && access->detail &&
           (!tested->detail || strstr(access->detail, tested->detail));
}

static void judge(const struct mpi_case *tested, int racy, uint64_t mark)
{
    struct csan_race races[RACES];
    const size_t count = csan_findings_since(mark, races, RACES);
    int named = 0;
    for (size_t i = 0; i < count && i < RACES; i++) {
        const int names =
            names_call(&races[i].current, tested) || names_call(&races[i].previous, tested);
        named += names;
        if (racy && !now.is_right && names)
            continue;
        fprintf(stderr, "rank %d: %s: a race of %s (%s) and %s (%s)\n", rank, tested->name,
                races[i].current.name, races[i].current.detail ? races[i].current.detail : "",
                races[i].previous.name, races[i].previous.detail ? races[i].previous.detail : "");
        now.failed = 1;
    }
    if (racy && !now.is_right)
        expect(named > 0, "no race was found");
    csan_races_clear();
}

/* Returns 1 if it failed on any rank. */
static int run(const struct mpi_case *tested, int racy)
{
    char name[128];
    int failed = 0;
    snprintf(name, sizeof name, "%s%s", tested->name, racy ? " (racy)" : "");
    now.name = name;
    now.failed = now.is_right = 0;
    const uint64_t mark = csan_race_mark();
    tested->run(racy);
    cudaDeviceSynchronize();
    judge(tested, racy, mark);
    MPI_Allreduce(&now.failed, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && failed)
        printf("FAILED %s\n", name);
    return failed;
}

/* Ranks share the GPUs. */
static void device_choose(void)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 1)
        cudaSetDevice(rank % devices);
    cudaFree(NULL);
}

/* A window of device memory needs the host's view of it, or an MPI that knows CUDA. */
static int windows_work(void)
{
    void *p = NULL;
    cudaMalloc(&p, 4096);
    const int work = csan_host_view(p) != NULL;
    cudaFree(p);
    return work;
}

static int wanted(const char *name, int count, char **names)
{
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return count < 2;
}

int main(int count, char **arguments)
{
    enum { ONE_SIDED = 2 }; /* the last ones */
    const struct mpi_case *const all[] = {point_cases,     request_cases, collective_cases,
                                          type_cases,      mode_cases,    started_cases,
                                          one_sided_cases, window_cases};
    int failed = 0, ran = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = rank ^ 1;
    device_choose();
    if (!csan_enabled()) {
        fprintf(stderr, "csan is not on\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const size_t files = sizeof all / sizeof *all - (windows_work() ? 0 : ONE_SIDED);
    if (rank == 0 && files < sizeof all / sizeof *all)
        printf("skipped: the one-sided cases need an MPI that knows CUDA\n");
    for (size_t file = 0; file < files; file++)
        for (const struct mpi_case *tested = all[file]; tested->name; tested++)
            for (int racy = 0; racy < 2 && wanted(tested->name, count, arguments); racy++, ran++)
                failed += run(tested, racy);
    if (rank == 0)
        printf("%d passed, %d failed\n", ran - failed, failed);
    fflush(stdout);
    MPI_Finalize();
    return failed ? 1 : 0;
}
