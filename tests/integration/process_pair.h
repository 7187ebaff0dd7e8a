/* Two processes of one program, which send each other values through pipes. */
#ifndef TESTS_INTEGRATION_PROCESS_PAIR_H
#define TESTS_INTEGRATION_PROCESS_PAIR_H

#include <cstdlib>
#include <cstring>
#include <unistd.h>

static int from, to;     // this process's ends of the pipes
static const char *mode; // the program's argument

static bool is(const char *name)
{
    return strcmp(mode, name) == 0;
}

template <typename T> static void put(const T &value)
{
    if (write(to, &value, sizeof value) != sizeof value)
        exit(102);
}
template <typename T> static T get()
{
    T value;
    if (read(from, &value, sizeof value) != sizeof value)
        exit(103);
    return value;
}

#endif
