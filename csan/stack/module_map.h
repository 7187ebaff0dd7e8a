/* Which object (executable or library) of a process contains an address, with the identity of its
 * build. For this process it asks the loader; for a recorded one it reads the recording. The
 * symbolizer uses it. */
#ifndef CSAN_STACK_MODULE_MAP_H
#define CSAN_STACK_MODULE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_MAX = 32 };

struct module {
    uint64_t start, bytes; /* where it lies */
    uint64_t bias;         /* subtract this from an address to get the one in the object's file */
    char *path;
    uint8_t build_id[BUILD_ID_MAX];
    uint8_t build_id_bytes; /* 0: it has none */
    uint8_t file;           /* enum module_file */
};

/* Whether the file at its path is still the file that was loaded. */
enum module_file { MODULE_FILE_UNKNOWN, MODULE_FILE_SAME, MODULE_FILE_OTHER };

struct module_map {
    struct module *modules;
    size_t count, capacity;
    uint64_t changes; /* of the loader's, as of module_map_update */
};

/* Add one, with its own copy of the path. False when memory is short. */
bool module_map_add(struct module_map *map, const struct module *module);
void module_map_clear(struct module_map *map);

/* The newest one that lies at the address; NULL: none. */
struct module *module_map_find(const struct module_map *map, uint64_t address);

/* Adds what this process has loaded and the map lacks. Cheap if nothing was loaded since the last
 * call. Not for callers inside the loader. */
void module_map_update(struct module_map *map);

/* The build id of an ELF file; 0 bytes: it has none, or cannot be read. `build_id` has room for
 * BUILD_ID_MAX. */
size_t module_file_build_id(const char *path, uint8_t *build_id);

/* Compares build ids, at the first call. An object without one counts as the same. */
bool module_file_is_same(struct module *module);

#endif
