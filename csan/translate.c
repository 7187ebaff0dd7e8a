/* First names, and what is benign. See translate.h. */
#include "translate.h"

#include <stdlib.h>

static uint64_t end_of_owner(void *user, uint64_t address)
{
    const struct front *front = user;
    struct range owner;
    return front_owner(front, address, &owner) ? owner.end : 0;
}

const struct csan_access *translate_slow(const struct translation *translation,
                                         const struct front *front,
                                         const struct csan_access *accesses, size_t *count,
                                         struct access_rooms *rooms)
{
    accesses = alias_translate(&translation->aliases, accesses, count, &rooms->aliased);
    return benign_cut(&translation->benign, accesses, count, end_of_owner, (void *)front,
                      &rooms->cut);
}

void access_rooms_free_slow(const struct access_rooms *rooms)
{
    free(rooms->aliased);
    free(rooms->cut);
}
