/* Which loaded object (the program or a shared library) an address lies in. */
#ifndef CSAN_BASE_LOADED_OBJECT_H
#define CSAN_BASE_LOADED_OBJECT_H

#include <link.h>
#include <stdbool.h>

struct loaded_object {
    const struct link_map *map; /* the dynamic loader's; its l_name is "" for the program */
    /* All of a library's segments lie in [start, end). Of the program it may be the segment alone
     * that holds the address, where its segments have a gap between them. */
    const void *start, *end;
};

/* False: the address lies in no loaded object. With glibc 2.35 and later it takes no lock and is
 * safe in a signal handler; before, it takes the dynamic loader's, which a thread that is inside
 * the loader may hold (man 3 _dl_find_object, dl_iterate_phdr). Safe in any thread. */
bool loaded_object_at(const void *address, struct loaded_object *object);

/* The same without glibc 2.35's function, for its test. */
bool loaded_object_by_lock(const void *address, struct loaded_object *object);

#endif
