/* See layout_check.h. */
#include "runtime/python/layout_check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where process_vm_readv is not there (under qemu-user) or not allowed (in some containers): write
 * refuses to read invalid memory, too. */
static bool read_by_pipe(const void *from, const void **value)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    const bool good = write(ends[1], from, sizeof *value) == sizeof *value &&
                      read(ends[0], value, sizeof *value) == sizeof *value;
    close(ends[0]);
    close(ends[1]);
    return good;
}

/* Reads the pointer at an address that may be invalid. False: there is no memory. */
static bool read_safely(const void *object, uint16_t offset, const void **value)
{
    const void *from = (const char *)(uintptr_t)object + offset;
    struct iovec local = {value, sizeof *value};
    struct iovec remote = {(void *)(uintptr_t)from, sizeof *value};
    const int error = errno;
    bool good = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof *value;
    if (!good && (errno == ENOSYS || errno == EPERM))
        good = read_by_pipe(from, value);
    errno = error;
    return good;
}

static bool has_type(const struct python_interpreter *python, const void *object, const void *type)
{
    const void *found;
    return read_safely(object, python->layout.objects.type, &found) && found == type;
}

static bool member_has_type(const struct python_interpreter *python, const void *object,
                            uint16_t offset, const void *type)
{
    const void *member;
    return read_safely(object, offset, &member) && has_type(python, member, type);
}

static bool code_matches(const struct python_interpreter *python, const void *code)
{
    const struct python_layout *layout = &python->layout;
    return has_type(python, code, python->code_type) &&
           member_has_type(python, code, layout->code_file, python->string_type) &&
           member_has_type(python, code, layout->code_name, python->string_type) &&
           member_has_type(python, code, layout->code_lines, python->bytes_type);
}

/* One of the thread's inner frames must have a code object that matches the layout. 0: there is no
 * frame. The frame itself is in readable memory. */
static int frames_match(const struct python_interpreter *python, const void *frame)
{
    enum { LOOK_AT = 8 };
    const struct python_layout *layout = &python->layout;
    const void *code;
    int result = 0;
    for (int i = 0; frame && i < LOOK_AT; i++) {
        if (!read_safely(frame, layout->frame_code, &code))
            return -1;
        if (python_runs_code(layout, frame) && code_matches(python, python_code_of(code)))
            return 1;
        if (python_runs_code(layout, frame))
            result = -1;
        if (!read_safely(frame, layout->frame_previous, &frame))
            return -1;
    }
    return result;
}

/* The frame at the address that the thread's state has; false: there is no memory. */
static bool frame_find(const struct python_layout *layout, const void *thread, const void **frame)
{
    enum { STATE_BYTES = 4096 }; /* more than a thread's state has */
    *frame = python_pointer_at(thread, layout->thread_frame);
    if (!*frame || !layout->indirect)
        return true;
    if ((uintptr_t)*frame - (uintptr_t)thread < STATE_BYTES) { /* its own, where nothing runs */
        *frame = python_pointer_at(*frame, layout->indirect_frame);
        return true;
    }
    return read_safely(*frame, layout->indirect_frame, frame);
}

int python_layout_is_known(const struct python_interpreter *python, const void *thread)
{
    const void *frame, *probe = NULL;
    bool found = frame_find(&python->layout, thread, &frame);
    if (found && !frame)
        return 0;
    if (!read_safely(&probe, 0, &probe)) /* not allowed here */
        return 1;
    return found ? frames_match(python, frame) : -1;
}
