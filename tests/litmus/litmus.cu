// Runs every litmus rule on this machine's device, next to csan's verdict, and prints the table.
//
//   litmus [--only TEXT] [--trials N] [--hold MICROSECONDS] [--embedded] [--log FILE]
//          [--implicit-sync observed|promised|none]
//
// Rules run in children of this process, which are this program again: one without csan observes
// how often B overtakes A, one under csan prints csan's verdict. A child that dies, hangs or loses
// its device to a failing rule is replaced by one that goes on with the next rule. --embedded is
// for the embedded device, whose schedules are what lets B overtake: one trial under each. --only
// takes rules whose name holds the text; --log is where csan's reports go. --implicit-sync is
// csan's option: with promised no wait counts that the documentation leaves open, with none no
// copy's or set's.
//
// Exit code 1: csan calls ordered what was seen to overlap, or calls a race what the documentation
// promises to be ordered. 2: wrong usage. 3: there is no device.
#include "litmus.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

enum { TRIALS = 12, HOLD_US = 10000, RULE_SECONDS = 10 };
// Where nothing was seen to overtake, and nothing promises it, the call may just have taken longer
// than A: a few more trials with a longer A.
enum { LONGER = 8, LONGER_TRIALS = 3 };
// A child's exit code: the device takes no more work (an error that stays with its context).
enum { DEVICE_LOST = 4 };

static std::vector<const struct rule *> all_rules()
{
    const struct rules groups[] = {stream_rules(), event_rules(),   host_rules(),
                                   copy_rules(),   memory_rules(),  graph_rules(),
                                   launch_rules(), context_rules(), device_rules()};
    std::vector<const struct rule *> every;
    for (const struct rules &group : groups)
        for (size_t i = 0; i < group.count; i++)
            every.push_back(&group.first[i]);
    return every;
}

// ---- What rules are written with ----------------------------------------------------------------

void skip(struct trial &trial, const char *why)
{
    if (!trial.skipped)
        trial.skipped = why;
}

bool check(struct trial &trial, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return true;
    cudaGetLastError();
    if (error == cudaErrorNotSupported || error == cudaErrorCallRequiresNewerDriver) {
        skip(trial, "not supported here");
    } else if (!trial.failed) {
        trial.failed = call;
        trial.error = error;
    }
    return false;
}

bool check_driver(struct trial &trial, int result, const char *call)
{
    return check(trial, (cudaError_t)result, call); // the codes are the same
}

void *driver_function(struct trial &trial, const char *name, unsigned version)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found);
    cudaGetLastError();
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !function) {
        skip(trial, "not supported here");
        return nullptr;
    }
    return function;
}

void use_word(struct trial &trial, int *word)
{
    trial.word = word;
}

void use_seen(struct trial &trial, int *seen)
{
    trial.seen = seen;
    *seen = NOT_SEEN;
}

// ---- A child: trials ----------------------------------------------------------------------------

static bool set_up_there(struct trial &base)
{
    bool made =
        cudaSetDevice(1) == cudaSuccess &&
        cudaStreamCreateWithFlags(&base.there, cudaStreamNonBlocking) == cudaSuccess &&
        cudaStreamCreate(&base.there_blocking) == cudaSuccess &&
        cudaEventCreateWithFlags(&base.event_there, cudaEventDisableTiming) == cudaSuccess &&
        cudaMalloc((void **)&base.device_there, COPY_MAX) == cudaSuccess &&
        cudaMemset(base.device_there, 0, COPY_MAX) == cudaSuccess &&
        cudaDeviceSynchronize() == cudaSuccess;
    return cudaSetDevice(0) == cudaSuccess && made;
}

static bool set_up_here(struct trial &base)
{
    base.pageable = (char *)calloc(1, COPY_MAX);
    base.pageable_too = (char *)calloc(1, COPY_MAX);
    return base.pageable && base.pageable_too &&
           cudaStreamCreateWithFlags(&base.a, cudaStreamNonBlocking) == cudaSuccess &&
           cudaStreamCreateWithFlags(&base.b, cudaStreamNonBlocking) == cudaSuccess &&
           cudaStreamCreate(&base.blocking) == cudaSuccess &&
           cudaStreamCreate(&base.blocking_too) == cudaSuccess &&
           cudaEventCreateWithFlags(&base.event, cudaEventDisableTiming) == cudaSuccess &&
           cudaEventCreateWithFlags(&base.event_too, cudaEventDisableTiming) == cudaSuccess &&
           cudaMalloc((void **)&base.word, 256) == cudaSuccess &&
           cudaMalloc((void **)&base.seen, 256) == cudaSuccess &&
           cudaMalloc((void **)&base.device, COPY_MAX) == cudaSuccess &&
           cudaMalloc((void **)&base.device_too, COPY_MAX) == cudaSuccess &&
           cudaMemset(base.device, 0, COPY_MAX) == cudaSuccess &&
           cudaMemset(base.device_too, 0, COPY_MAX) == cudaSuccess &&
           cudaMallocHost((void **)&base.pinned, 256) == cudaSuccess &&
           cudaMallocHost((void **)&base.pinned_seen, 256) == cudaSuccess &&
           cudaMallocHost((void **)&base.page_lock, COPY_MAX) == cudaSuccess &&
           cudaMallocHost((void **)&base.page_lock_too, COPY_MAX) == cudaSuccess &&
           cudaMallocManaged((void **)&base.managed, 1 << 16) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
}

static bool synchronize_all(const struct trial &base)
{
    bool done = cudaDeviceSynchronize() == cudaSuccess;
    for (int device = 1; device < base.device_count && device < 2; device++)
        done &= cudaSetDevice(device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess &&
                cudaSetDevice(0) == cudaSuccess;
    return done;
}

// One trial. *overtaken: B found what was there before A.
static struct trial run_once(const struct rule *rule, const struct trial &base, int number,
                             bool *overtaken)
{
    const int fresh = NOT_SEEN;
    int found = 0;
    struct trial trial = base;
    trial.number = number;
    *trial.pinned = 0;
    if (rule->devices > trial.device_count) {
        skip(trial, "needs two devices");
        return trial;
    }
    if (!check(trial, cudaMemset(trial.word, 0, sizeof(int)), "cudaMemset") ||
        !check(trial, cudaMemcpy(trial.seen, &fresh, sizeof fresh, cudaMemcpyHostToDevice),
               "cudaMemcpy") ||
        !synchronize_all(base))
        return trial;
    int *word = trial.word;
    rule->run(trial);
    if (!synchronize_all(base))
        check(trial, cudaErrorUnknown, "the end of all work");
    if (trial.failed || trial.skipped)
        return trial;
    if (trial.from_host)
        found = trial.host_seen;
    else
        check(trial,
              cudaMemcpy(&found, trial.additions ? word : trial.seen, sizeof found,
                         cudaMemcpyDefault),
              "cudaMemcpy");
    *overtaken = found != (trial.additions ? trial.additions : 1);
    if (found == fresh)
        check(trial, cudaErrorUnknown, "B");
    return trial;
}

struct outcome {
    int overtaken, trials;
    std::string verdict; // of csan: ordered, race, possible race
    bool noted;          // csan's report says that the hardware may order it
    std::string trouble; // why there is none: skipped or failed
    bool skipped;
};

static bool note_trouble(const struct trial &trial, struct outcome *outcome)
{
    if (trial.skipped) {
        outcome->trouble = trial.skipped;
        outcome->skipped = true;
    } else if (trial.failed) {
        outcome->trouble = std::string(trial.failed) + ": " + cudaGetErrorName(trial.error);
    }
    return trial.skipped || trial.failed;
}

static struct outcome observe(const struct rule *rule, struct trial base, int trials, bool embedded)
{
    struct outcome outcome = {};
    unsigned hold = base.hold_us;
    int wanted = rule->trials && rule->trials < trials ? rule->trials : trials;
    int longer = embedded || rule->trials || rule->promise == PROMISED ? 0 : LONGER_TRIALS;
    if (!embedded && !rule->trials) {
        bool ignored;
        base.hold_us = hold / 10;
        run_once(rule, base, 0, &ignored); // loads what is loaded lazily
    }
    for (int i = 0; i < wanted + longer; i++) {
        bool overtaken = false;
        if (i == wanted && outcome.overtaken)
            break;
        base.hold_us = i < wanted ? hold : hold * LONGER;
        struct trial trial = run_once(rule, base, i, &overtaken);
        if (note_trouble(trial, &outcome))
            break;
        outcome.trials++;
        outcome.overtaken += overtaken;
    }
    return outcome;
}

static int look_for_note(void *user, const struct csan_race *, const char *report)
{
    struct outcome *outcome = *(struct outcome **)user;
    if (outcome && report && strstr(report, "but nothing promises it"))
        outcome->noted = true;
    return 1; // go on: csan asks since halt_on_error is set
}

static struct outcome judge(const struct rule *rule, const struct trial &base)
{
    static struct outcome *current;
    struct outcome outcome = {};
    struct csan_race races[16];
    bool overtaken = false;
    csan_on_race(look_for_note, &current);
    current = &outcome;
    uint64_t mark = csan_race_mark();
    struct trial trial = run_once(rule, base, 0, &overtaken);
    size_t count = csan_races_since(mark, races, 16);
    current = nullptr;
    outcome.verdict = count ? "possible race" : "ordered";
    for (size_t i = 0; i < count && i < 16; i++)
        if (!races[i].possible)
            outcome.verdict = "race";
    note_trouble(trial, &outcome);
    return outcome;
}

// "index|overtaken|trials|verdict|noted|skipped|trouble"
static void print_line(size_t index, const struct outcome &outcome)
{
    printf("%zu|%d|%d|%s|%d|%d|%s\n", index, outcome.overtaken, outcome.trials,
           outcome.verdict.c_str(), outcome.noted, outcome.skipped, outcome.trouble.c_str());
    fflush(stdout);
}

struct request {
    const char *only;
    int trials;
    unsigned hold_us;
    bool embedded;
    const char *log; // NULL: nowhere
    const char *implicit_sync;
};

static bool is_wanted(const struct rule *rule, const struct request &request)
{
    return !request.only || strstr(rule->name, request.only);
}

static int child(const char *work, size_t from, const struct request &request)
{
    std::vector<const struct rule *> every = all_rules();
    struct trial base = {};
    bool judges = strcmp(work, "judge") == 0;
    base.hold_us = request.hold_us;
    cudaDeviceProp properties;
    if (cudaGetDeviceCount(&base.device_count) != cudaSuccess || !base.device_count ||
        cudaGetDeviceProperties(&properties, 0) != cudaSuccess || !set_up_here(base) ||
        (base.device_count > 1 && !set_up_there(base))) {
        fprintf(stderr, "litmus: no device to run on: %s\n",
                cudaGetErrorString(cudaGetLastError()));
        return 3;
    }
    if (judges && !csan_enabled()) {
        fprintf(stderr, "litmus: csan is not in this process\n");
        return 3;
    }
    if (judges && !freopen("/dev/null", "w", stderr)) // csan's reports, but for --log
        return 3;
    printf("%d x %s\n", base.device_count, properties.name);
    for (size_t i = from; i < every.size(); i++) {
        if (!is_wanted(every[i], request))
            continue;
        alarm(RULE_SECONDS);
        print_line(i, judges ? judge(every[i], base)
                             : observe(every[i], base, request.trials, request.embedded));
        if (!synchronize_all(base))
            _exit(DEVICE_LOST);
    }
    _exit(0); // what is left in use need not be taken down in order
}

// ---- The parent: children, and the table --------------------------------------------------------

struct row {
    struct outcome seen, judged;
};

static FILE *start(const char *work, size_t from, const struct request &request,
                   const char *schedule, pid_t *pid)
{
    int ends[2];
    if (pipe(ends))
        return nullptr;
    *pid = fork();
    if (*pid == 0) {
        char place[32], trials[32], hold[32], options[PATH_MAX + 128];
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        snprintf(place, sizeof place, "%zu", from);
        snprintf(trials, sizeof trials, "%d", request.trials);
        snprintf(hold, sizeof hold, "%u", request.hold_us);
        snprintf(options, sizeof options,
                 "dedup=0:exitcode=0:symbolize=0:halt_on_error=1:fail_on=possible:"
                 "implicit_sync=%s%s%s",
                 request.implicit_sync, request.log ? ":log_path=" : "",
                 request.log ? request.log : "");
        setenv("CSAN", strcmp(work, "judge") == 0 ? "1" : "0", 1);
        setenv("CSAN_OPTIONS", options, 1);
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
        if (schedule)
            setenv("CSAN_SCHEDULE", schedule, 1);
        std::vector<const char *> arguments = {"litmus",
                                               "--child",
                                               work,
                                               place,
                                               "--trials",
                                               trials,
                                               "--hold",
                                               hold,
                                               "--implicit-sync",
                                               request.implicit_sync};
        if (request.only)
            arguments.insert(arguments.end(), {"--only", request.only});
        if (request.embedded)
            arguments.push_back("--embedded");
        arguments.push_back(nullptr);
        execv("/proc/self/exe", (char **)arguments.data());
        _exit(3);
    }
    close(ends[1]);
    return *pid < 0 ? nullptr : fdopen(ends[0], "r");
}

static std::vector<std::string> fields(const char *line)
{
    std::vector<std::string> found(1);
    for (; *line && *line != '\n'; line++) {
        if (*line == '|')
            found.emplace_back();
        else
            found.back() += *line;
    }
    return found;
}

static void take(const char *line, bool judges, std::vector<struct row> *rows, size_t *next)
{
    std::vector<std::string> parts = fields(line);
    if (parts.size() != 7)
        return;
    size_t index = strtoul(parts[0].c_str(), nullptr, 10);
    if (index >= rows->size())
        return;
    struct outcome &outcome = judges ? (*rows)[index].judged : (*rows)[index].seen;
    outcome.overtaken += atoi(parts[1].c_str());
    outcome.trials += atoi(parts[2].c_str());
    outcome.verdict = parts[3];
    outcome.noted = parts[4] == "1";
    outcome.skipped = parts[5] == "1";
    outcome.trouble = parts[6];
    *next = index + 1;
}

// All wanted rules, whatever children that takes. False: there is no device.
static bool run_all(const char *work, const char *schedule, const struct request &request,
                    std::vector<struct row> *rows, std::string *device)
{
    std::vector<const struct rule *> every = all_rules();
    bool judges = strcmp(work, "judge") == 0;
    size_t next = 0;
    for (;;) {
        pid_t pid;
        int status = 0;
        char line[4096];
        FILE *from = start(work, next, request, schedule, &pid);
        if (!from)
            return false;
        while (fgets(line, sizeof line, from))
            if (strchr(line, '|'))
                take(line, judges, rows, &next);
            else
                *device = std::string(line, strcspn(line, "\n"));
        fclose(from);
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return true;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            return false;
        if (WIFEXITED(status) && WEXITSTATUS(status) == DEVICE_LOST)
            continue;
        while (next < every.size() && !is_wanted(every[next], request))
            next++;
        if (next == every.size())
            return true;
        struct outcome &outcome = judges ? (*rows)[next].judged : (*rows)[next].seen;
        char text[64];
        snprintf(text, sizeof text, WIFSIGNALED(status) ? "ended by signal %d" : "ended with %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        outcome.trouble = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : text;
        next++;
    }
}

enum result {
    OK,
    BROKEN,
    UNPROMISED,
    NOTED,
    STRICTER,
    FALSE_ALARM,
    WRONG,
    FAILED,
    SKIPPED,
    RESULTS
};
static const char *const result_names[RESULTS] = {
    "ok",       "ok, promise broken", "ok, unpromised", "stricter, noted",
    "stricter", "FALSE ALARM",        "WRONG",          "FAILED",
    "skipped"};

static bool is_of_copies(const struct rule *rule)
{
    return strstr(rule->source, "API synchronization behavior") ||
           strstr(rule->source, "cudaMemcpyPeer");
}

// Does the option leave out what orders A and B?
static bool is_left_out(const struct rule *rule, const std::string &implicit_sync)
{
    if (rule->promise == PROMISED)
        return implicit_sync == "none" && is_of_copies(rule);
    return implicit_sync != "observed" && strstr(rule->source, "(may synchronize)");
}

static enum result conclude(const struct rule *rule, const struct row &row,
                            const char *implicit_sync)
{
    if (row.seen.skipped || row.judged.skipped)
        return SKIPPED;
    if (!row.seen.trouble.empty() || !row.judged.trouble.empty())
        return FAILED;
    bool ordered = row.judged.verdict == "ordered";
    if (ordered && row.seen.overtaken)
        return WRONG;
    if (is_left_out(rule, implicit_sync))
        return ordered ? WRONG : OK;
    if (ordered)
        return rule->promise == PROMISED ? OK : UNPROMISED;
    if (rule->promise == PROMISED)
        return row.seen.overtaken ? BROKEN : FALSE_ALARM;
    if (row.seen.overtaken)
        return OK;
    return row.judged.noted ? NOTED : STRICTER;
}

static void print_row(const struct rule *rule, const struct row &row, enum result result)
{
    char seen[128], csan[64], last[192];
    const std::string &trouble = !row.seen.trouble.empty() ? row.seen.trouble : row.judged.trouble;
    snprintf(seen, sizeof seen, "overlapped %d of %d", row.seen.overtaken, row.seen.trials);
    snprintf(csan, sizeof csan, "%s%s", row.judged.verdict.c_str(),
             row.judged.noted ? ", noted" : "");
    std::string reason = result == STRICTER && rule->no_note ? rule->no_note : trouble;
    snprintf(last, sizeof last, "%s%s%s", result_names[result], reason.empty() ? "" : ": ",
             reason.c_str());
    bool none = result == SKIPPED || result == FAILED;
    printf("| %-62s | %s: %-60s | %-19s | %-15s | %s |\n", rule->name,
           rule->promise == PROMISED ? "ordered" : "nothing", rule->source, none ? "-" : seen,
           none ? "-" : csan, last);
}

static int print_table(const std::vector<struct row> &rows, const struct request &request,
                       const std::string &device)
{
    std::vector<const struct rule *> every = all_rules();
    int counts[RESULTS] = {}, total = 0;
    printf("Devices: %s. A rule is \"A; call; B\": A lasts long and ends with a store, B looks at "
           "it.\n\n"
           "- overlapped: B found what was there before A, in so many of that many trials.\n"
           "- race, ordered: what csan says. It never says ordered where B was seen to overlap "
           "(WRONG),\n"
           "  nor race where order is promised and kept (FALSE ALARM).\n"
           "- ok, promise broken: order is promised, and was not kept; csan says race.\n"
           "- ok, unpromised: csan relies on what the hardware was seen to order.\n"
           "- stricter: csan says race, and it was not seen to go wrong; noted: its report says "
           "so.\n\n",
           device.c_str());
    printf("| %-62s | %-69s | %-19s | %-15s | verdict |\n|---|---|---|---|---|\n", "rule",
           "documentation promises", "observed", "csan");
    for (size_t i = 0; i < every.size(); i++) {
        if (!is_wanted(every[i], request))
            continue;
        enum result result = conclude(every[i], rows[i], request.implicit_sync);
        print_row(every[i], rows[i], result);
        counts[result]++;
        total++;
    }
    printf("\nlitmus: %d rules on %s:", total, device.c_str());
    const char *between = " ";
    for (int i = 0; i < RESULTS; i++)
        if (counts[i]) {
            printf("%s%d %s", between, counts[i], result_names[i]);
            between = "; ";
        }
    printf("\n");
    return counts[WRONG] || counts[FALSE_ALARM] || counts[FAILED] || !total;
}

static int usage()
{
    fprintf(stderr, "usage: litmus [--only TEXT] [--trials N] [--hold MICROSECONDS] [--embedded] "
                    "[--log FILE] [--implicit-sync observed|promised|none]\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct request request = {nullptr, TRIALS, HOLD_US, false, nullptr, "observed"};
    const char *work = nullptr;
    size_t from = 0;
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i];
        bool more = i + 1 < argc;
        if (name == "--embedded")
            request.embedded = true;
        else if (name == "--only" && more)
            request.only = argv[++i];
        else if (name == "--trials" && more)
            request.trials = atoi(argv[++i]);
        else if (name == "--hold" && more)
            request.hold_us = (unsigned)atoi(argv[++i]);
        else if (name == "--log" && more)
            request.log = argv[++i];
        else if (name == "--implicit-sync" && more)
            request.implicit_sync = argv[++i];
        else if (name == "--child" && i + 2 < argc) {
            work = argv[++i];
            from = strtoul(argv[++i], nullptr, 10);
        } else
            return usage();
    }
    if (request.trials < 1 || request.hold_us > 100000)
        return usage();
    if (work)
        return child(work, from, request);

    std::vector<struct row> rows(all_rules().size());
    std::string device;
    std::vector<const char *> schedules = {nullptr};
    if (request.embedded)
        schedules = {"eager", "lazy", "reverse", "random:1", "random:2", "random:3"};
    for (const char *schedule : schedules)
        if (!run_all("observe", schedule, request, &rows, &device))
            return 3;
    if (!run_all("judge", request.embedded ? "lazy" : nullptr, request, &rows, &device))
        return 3;
    return print_table(rows, request, device);
}
