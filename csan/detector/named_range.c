/* See named_range.h. */
#include "csan/detector/named_range.h"
#include "csan/base/text.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct open_range {
    const void *domain;
    char name[RANGE_NAME_MAX]; /* "": it has none */
};

/* Allocated at a thread's first range. */
struct range_stack {
    uint32_t depth; /* ranges beyond RANGES_DEEP are counted only */
    bool stale;     /* `path` is of other ranges */
    struct range_path *path;
    struct open_range ranges[RANGES_DEEP];
};

bool named_range_any;

static __thread struct {
    struct range_stack *stack;
    struct range_actor actor;
} self __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- life */

static void stack_end(void *value)
{
    struct range_stack *stack = value;
    range_path_release(stack->path);
    free(stack);
    self.stack = NULL;
}

static void key_create(void)
{
    pthread_key_create(&key, stack_end);
}

static struct range_stack *stack_create(void)
{
    pthread_once(&once, key_create);
    struct range_stack *stack = calloc(1, sizeof *stack);
    if (stack && pthread_setspecific(key, stack) != 0) {
        free(stack);
        return NULL;
    }
    __atomic_store_n(&named_range_any, true, __ATOMIC_RELAXED);
    return self.stack = stack;
}

/* ---- push and pop */

/* A name is part of one line. */
static void name_copy(char *to, const char *name)
{
    size_t length = name ? strnlen(name, RANGE_NAME_MAX - 1) : 0;
    for (size_t i = 0; i < length; i++)
        to[i] = iscntrl((unsigned char)name[i]) ? ' ' : name[i];
    to[length] = '\0';
}

void named_range_push(const void *domain, const char *name)
{
    struct range_stack *stack = self.stack ? self.stack : stack_create();
    if (!stack)
        return;
    if (stack->depth < RANGES_DEEP) {
        struct open_range *range = &stack->ranges[stack->depth];
        range->domain = domain;
        name_copy(range->name, name);
        stack->stale = true;
    }
    stack->depth++;
}

/* The newest of the domain; stack->depth: none. */
static uint32_t newest_of(const struct range_stack *stack, const void *domain)
{
    for (uint32_t i = stack->depth; i-- > 0;)
        if (stack->ranges[i].domain == domain)
            return i;
    return stack->depth;
}

void named_range_pop(const void *domain)
{
    struct range_stack *stack = self.stack;
    if (!stack || !stack->depth)
        return;
    if (stack->depth > RANGES_DEEP) { /* of whatever domain it is */
        stack->depth--;
        return;
    }
    uint32_t at = newest_of(stack, domain);
    if (at == stack->depth)
        return;
    stack->depth--;
    memmove(&stack->ranges[at], &stack->ranges[at + 1],
            (stack->depth - at) * sizeof *stack->ranges);
    stack->stale = true;
}

/* ---- paths */

struct range_path *range_path_create(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    struct range_path *path = *text ? malloc(sizeof *path + bytes) : NULL;
    if (!path)
        return NULL;
    path->references = 1;
    memcpy(path->text, text, bytes);
    return path;
}

struct range_path *range_path_with_detail(const char *detail)
{
    const struct range_path *now = named_range_now();
    const size_t length = now ? strcspn(now->text, (char[]){RANGE_DETAIL_MARK, '\0'}) : 0;
    const size_t detail_bytes = strlen(detail) + 1;
    struct range_path *path = malloc(sizeof *path + length + 1 + detail_bytes);
    if (!path)
        return NULL;
    path->references = 1;
    if (length)
        memcpy(path->text, now->text, length);
    path->text[length] = RANGE_DETAIL_MARK;
    memcpy(path->text + length + 1, detail, detail_bytes);
    text_make_plain(path->text + length + 1);
    return path;
}

struct range_path *range_path_share(struct range_path *path)
{
    if (path)
        __atomic_fetch_add(&path->references, 1, __ATOMIC_RELAXED);
    return path;
}

void range_path_release(struct range_path *path)
{
    if (path && __atomic_sub_fetch(&path->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(path);
}

/* The innermost that have names, outermost first. */
static void ranges_add(struct text *text, const struct range_stack *stack)
{
    const struct open_range *shown[RANGES_SHOWN];
    uint32_t count = 0, at = stack->depth < RANGES_DEEP ? stack->depth : RANGES_DEEP;
    for (; at > 0 && count < RANGES_SHOWN; at--)
        if (stack->ranges[at - 1].name[0])
            shown[count++] = &stack->ranges[at - 1];
    if (at > 0)
        text_add(text, "... > ");
    while (count-- > 0)
        text_add(text, count ? "'%s' > " : "'%s'", shown[count]->name);
}

/* In a loop it often is what it was before. */
static struct range_path *path_renew(struct range_stack *stack)
{
    struct text text = {0};
    stack->stale = false;
    ranges_add(&text, stack);
    const char *now = text.data ? text.data : "";
    if (!stack->path || strcmp(stack->path->text, now) != 0) {
        range_path_release(stack->path);
        stack->path = range_path_create(now);
    }
    text_free(&text);
    return stack->path;
}

struct range_path *named_range_now(void)
{
    struct range_stack *stack = self.stack;
    if (self.actor.acts)
        return self.actor.path;
    if (!stack || !stack->depth)
        return NULL;
    return stack->stale ? path_renew(stack) : stack->path;
}

struct range_actor named_range_act(struct range_actor actor)
{
    const struct range_actor before = self.actor;
    self.actor = actor;
    if (actor.path)
        __atomic_store_n(&named_range_any, true, __ATOMIC_RELAXED);
    return before;
}
