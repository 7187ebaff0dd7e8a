/* See compile.h. */
#include "runtime/device/compile/compile.h"
#include "csan/base/hash.h"
#include "csan/base/now.h"
#include "runtime/device/compile/code_cache.h"
#include "runtime/device/compile/host_compiler.h"
#include "runtime/device/compile/lower.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Time is counted in micro-operations that the interpreter runs, of which a millisecond has some
 * 100,000. A kernel is compiled once it has been interpreted for about as long as the compiler
 * takes. So whatever becomes of it, the machine has at most twice the work. */
enum {
    WARM = 1 << 16,            /* before the cache is looked into */
    COMPILER_STARTS = 1 << 21, /* the compiler takes this long for any program */
    COMPILER_EACH = 1 << 17,   /* and this for each micro-operation of it */
    LOOK_MS = 2,               /* between two looks whether it is done */
    PATIENCE_MS = 60000,
    PATIENCE_ALWAYS_MS = 20 * PATIENCE_MS /* tests run beside much else */
};

enum job_state { JOB_NEW, JOB_LOWERED, JOB_RUNS, JOB_DONE };

/* The compilation of one program; in program->compiling. */
struct job {
    enum job_state state;
    char name[40]; /* of its file */
    char work[72]; /* of those that this job makes */
    char *text;
    size_t bytes;
    uint8_t *starts;
    bool writes_first;
    int64_t started, looked; /* milliseconds */
    struct compiled form;
    void *handle;
};

static struct {
    pthread_mutex_t lock; /* all of this, and all jobs */
    enum compile_mode mode;
    bool looked_for;
    char directory[PATH_MAX];
    const char *compiler;
    uint64_t mark; /* of the compiler and processor */
    unsigned jobs; /* named so far */
    struct compile_report report;
} compiler = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the files ------------------------------------------------------------------------------ */

static bool has_tools(void)
{
    if (compiler.looked_for)
        return !compiler.report.trouble;
    compiler.looked_for = true;
    compiler.compiler = host_compiler_find(&compiler.mark);
    if (!compiler.compiler)
        compiler.report.trouble = "no C compiler on PATH";
    else if (!code_cache_open(compiler.directory, sizeof compiler.directory))
        compiler.report.trouble = "no cache directory that only this user can write";
    return !compiler.report.trouble;
}

/* Two hashes of 64 bits over the text, the compiler and the processor. */
static void name_job(struct job *job)
{
    snprintf(job->name, sizeof job->name, "%016llx%016llx",
             (unsigned long long)hash_mix_bytes(compiler.mark, job->text, job->bytes),
             (unsigned long long)hash_mix_bytes(~compiler.mark, job->text, job->bytes));
    /* Two images may have the same kernel. */
    snprintf(job->work, sizeof job->work, "%s.%d.%u", job->name, (int)getpid(), compiler.jobs++);
}

/* The code says its own name, so that no other file is taken for it. */
static bool append_name(struct job *job)
{
    char line[128];
    const int length =
        snprintf(line, sizeof line, "const char csan_kernel_name[] = \"%s\";\n", job->name);
    char *longer = realloc(job->text, job->bytes + (size_t)length + 1);
    if (!longer)
        return false;
    memcpy(longer + job->bytes, line, (size_t)length + 1);
    job->text = longer;
    job->bytes += (size_t)length;
    return true;
}

/* ---- the life of a job ---------------------------------------------------------------------- */

static void finish(struct job *job)
{
    free(job->text);
    job->text = NULL;
    job->state = JOB_DONE;
}

static bool load(struct program *program, struct job *job)
{
    compiled_run *run = code_cache_load(compiler.directory, job->name, &job->handle);
    if (!run)
        return false;
    job->form = (struct compiled){.run = run,
                                  .starts = job->starts,
                                  .code_count = program->code_count,
                                  .writes_first = job->writes_first};
    atomic_store_explicit(&program->compiled, &job->form, memory_order_release);
    finish(job);
    return true;
}

static void lower(struct program *program, struct job *job)
{
    struct plan *plan = plan_create(program);
    if (plan) {
        job->text = lower_text(plan, &job->bytes);
        job->starts = plan->starts;
        job->writes_first = plan_writes_first(plan);
        plan->starts = NULL;
        plan_destroy(plan);
    }
    if (!job->text) {
        compiler.report.refused++;
        finish(job);
        return;
    }
    name_job(job);
    if (!append_name(job)) {
        finish(job);
        return;
    }
    job->state = JOB_LOWERED;
    compiler.report.cached += load(program, job);
}

static void start(struct job *job)
{
    job->state = JOB_RUNS;
    job->started = now_ms();
    code_cache_trim(compiler.directory);
    if (host_compiler_start(compiler.compiler, compiler.directory, job->work, job->name, job->text,
                            job->bytes))
        return;
    compiler.report.failed++;
    finish(job);
}

static void look(struct program *program, struct job *job)
{
    const int64_t now = now_ms();
    const int64_t patience = compiler.mode == COMPILE_ALWAYS ? PATIENCE_ALWAYS_MS : PATIENCE_MS;
    if (now - job->looked < LOOK_MS && compiler.mode != COMPILE_ALWAYS)
        return;
    job->looked = now;
    if (load(program, job)) {
        compiler.report.compiled++;
    } else if (now - job->started > patience ||
               code_cache_take(compiler.directory, job->work, "failed")) {
        compiler.report.failed++;
        finish(job);
    }
}

static uint64_t cost_of(const struct program *program)
{
    return COMPILER_STARTS + (uint64_t)COMPILER_EACH * program->code_count;
}

static void advance(struct program *program, uint64_t ran)
{
    struct job *job = program->compiling;
    if (!job && !(job = program->compiling = calloc(1, sizeof *job)))
        return;
    const bool always = compiler.mode == COMPILE_ALWAYS;
    if (job->state == JOB_NEW && (ran >= WARM || always)) {
        if (has_tools())
            lower(program, job);
        else
            finish(job);
    }
    if (job->state == JOB_LOWERED && (ran >= cost_of(program) || always))
        start(job);
    if (job->state == JOB_RUNS)
        look(program, job);
    const struct timespec millisecond = {0, 1000000};
    while (always && job->state == JOB_RUNS) {
        nanosleep(&millisecond, NULL);
        look(program, job);
    }
}

/* ---- what the engine calls ------------------------------------------------------------------ */

/* With the functions that it calls. */
static void consider_all(struct program *program, uint64_t ran, uint32_t depth)
{
    const struct job *job = program->compiling;
    if (job && job->state == JOB_DONE && depth)
        return;
    advance(program, ran);
    for (uint32_t k = 0; k < program->callee_count && depth < 8; k++) {
        struct program *callee = image_program(program->image, program->callees[k]);
        if (callee && callee != program && callee->supported)
            consider_all(callee, ran, depth + 1);
    }
}

static void consider(struct program *program, uint64_t ran)
{
    if (compiler.mode == COMPILE_ALWAYS)
        pthread_mutex_lock(&compiler.lock);
    else if (pthread_mutex_trylock(&compiler.lock) != 0)
        return;
    consider_all(program, ran, 0);
    pthread_mutex_unlock(&compiler.lock);
}

/* Nothing runs the program any more. A compiler that is still at work fills the cache. */
static void release(struct program *program)
{
    struct job *job = program->compiling;
    if (!job)
        return;
    if (job->handle)
        dlclose(job->handle);
    free(job->text);
    free(job->starts);
    free(job);
}

enum compile_mode compile_mode_of(const char *text, enum compile_mode usual)
{
    return !text                     ? usual
           : !strcmp(text, "0")      ? COMPILE_OFF
           : !strcmp(text, "1")      ? COMPILE_HOT
           : !strcmp(text, "always") ? COMPILE_ALWAYS
                                     : usual;
}

void compile_start(enum compile_mode mode)
{
    static const struct exec_compiler engine = {consider, release};
    compiler.mode = mode;
    compiler.report.on = mode != COMPILE_OFF;
    exec_set_compiler(mode == COMPILE_OFF ? NULL : &engine);
}

__attribute__((visibility("default"))) const char *device_compile_trouble(void)
{
    if (compiler.mode == COMPILE_OFF)
        return "CSAN_DEVICE_COMPILE is 0";
    pthread_mutex_lock(&compiler.lock);
    has_tools();
    const char *trouble = compiler.report.trouble;
    pthread_mutex_unlock(&compiler.lock);
    return trouble;
}

struct compile_report compile_report(void)
{
    pthread_mutex_lock(&compiler.lock);
    struct compile_report report = compiler.report;
    pthread_mutex_unlock(&compiler.lock);
    return report;
}
