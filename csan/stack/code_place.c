/* See code_place.h. */
#include "csan/stack/code_place.h"
#include "csan/base/hash.h"
#include "csan/base/path_name.h"
#include "csan/stack/stack_source.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    struct module_map modules; /* of this process */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash_object(uint64_t hash, const struct module *module)
{
    if (module->build_id_bytes)
        return hash_bytes(hash, module->build_id, module->build_id_bytes);
    return hash_text(hash, path_name(module->path));
}

static uint64_t hash_frame(uint64_t hash, const struct module_map *modules, const void *frame)
{
    struct csan_source_line line = {0};
    if (stack_source_owns(frame)) {
        if (!stack_source_describe(frame, &line))
            return hash_text(hash, "");
        hash = hash_text(hash_text(hash, line.file), line.function);
        return hash_bytes(hash, &line.line, sizeof line.line);
    }
    /* As the symbolizer, which looks for the call: the instruction before. */
    const uint64_t address = (uintptr_t)frame - 1;
    const struct module *module = module_map_find(modules, address);
    if (!module)
        return hash_text(hash, "");
    const uint64_t offset = address - module->bias;
    return hash_bytes(hash_object(hash, module), &offset, sizeof offset);
}

static uint64_t hash_stack(const struct module_map *modules, const void *const *frames,
                           size_t count)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < count; i++)
        hash = hash_frame(hash, modules, frames[i]);
    return hash ? hash : 1;
}

uint64_t code_place(const struct module_map *modules, const void *const *frames, size_t count)
{
    if (count > CODE_PLACE_FRAMES)
        count = CODE_PLACE_FRAMES;
    if (!count)
        return 0;
    if (modules)
        return hash_stack(modules, frames, count);
    pthread_mutex_lock(&own.lock);
    module_map_update(&own.modules);
    const uint64_t place = hash_stack(&own.modules, frames, count);
    pthread_mutex_unlock(&own.lock);
    return place;
}
