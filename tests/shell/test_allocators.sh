# Programs with an allocator whose locks are pthread's, under host_order=threads, which looks at
# those: csan allocates, too.

ended() { [ "$status" = "$1" ]; }

csan=$root/bin/csan
allocator() # MUTEX LIBRARY
{
    cat >allocator.c <<END
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
void *__libc_malloc(size_t bytes);
void *__libc_realloc(void *former, size_t bytes);
static pthread_mutex_t arena = $1;
void *malloc(size_t bytes)
{
    pthread_mutex_lock(&arena);
    void *place = __libc_malloc(bytes);
    pthread_mutex_unlock(&arena);
    return place;
}
void *realloc(void *former, size_t bytes)
{
    pthread_mutex_lock(&arena);
    void *place = __libc_realloc(former, bytes);
    pthread_mutex_unlock(&arena);
    return place;
}
END
    gcc -shared -fPIC -O1 allocator.c -o "$2"
}
with() # LIBRARY COMMAND...
{
    LD_PRELOAD=$PWD/$1 run timeout 60 "$csan" "${@:2}"
}

# As it is known by name, its locks are neither an order nor anything to ask about.
allocator PTHREAD_MUTEX_INITIALIZER libjemalloc.so.2
with libjemalloc.so.2 run --options=host_order=threads:symbolize=0 "$plain/threads_join_orders"
check "an allocator that locks hangs nothing" ended 0
with libjemalloc.so.2 run --options=host_order=threads:symbolize=0 "$plain/threads_unseen_flag"
check "an allocator that locks orders nothing" ended 66

# The program's own is known by malloc.
allocator PTHREAD_MUTEX_INITIALIZER libown.so
with libown.so record --options=host_order=threads -o own.csan "$plain/threads_many_mutexes"
check "a program with an allocator of its own is recorded" ended 0
run "$csan" dump own.csan
check "the thread that writes the recording is none of the program's" \
    [ "$(grep -c 'lane-host.*"host thread' out)" = 3 ]
