/* A number that an open file carries from process to process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/descriptor_note.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBER UINT64_C(0x123456789abcdef)

/* All open files of this device have one inode, as those of a GPU's driver have. */
static int opened(void)
{
    const int descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(descriptor >= 0);
    return descriptor;
}

static void the_number_is_the_open_files_own(void **state)
{
    (void)state;
    const int one = opened(), other = opened(), same = dup(one), plain = opened();
    uint64_t number = 1;
    assert_false(descriptor_note_get(one, &number));
    assert_true(descriptor_note_set(one, NUMBER));
    assert_true(descriptor_note_set(other, NUMBER + 1));
    assert_true(descriptor_note_get(one, &number));
    assert_int_equal(number, NUMBER);
    assert_true(descriptor_note_get(same, &number));
    assert_int_equal(number, NUMBER);
    assert_true(descriptor_note_get(other, &number));
    assert_int_equal(number, NUMBER + 1);
    assert_false(descriptor_note_get(plain, &number));
    close(one);
    assert_true(descriptor_note_get(same, &number)); /* until the last one is closed */
    close(same);
    close(other);
    close(plain);
}

static void files_of_one_memory_have_one_number(void **state)
{
    (void)state;
    const int one = opened(), other = opened();
    uint64_t first, second;
    assert_true(descriptor_note_set(one, NUMBER));
    assert_true(descriptor_note_set(other, NUMBER));
    assert_true(descriptor_note_get(one, &first));
    assert_true(descriptor_note_get(other, &second));
    assert_int_equal(first, second);
    close(one);
    close(other);
}

static void high_bits_are_cleared(void **state)
{
    (void)state;
    const int one = opened();
    uint64_t number;
    assert_true(descriptor_note_set(one, UINT64_MAX));
    assert_true(descriptor_note_get(one, &number));
    assert_true(number == (UINT64_C(1) << DESCRIPTOR_NOTE_BITS) - 1);
    close(one);
}

static void a_file_that_cannot_be_read_carries_none(void **state)
{
    (void)state;
    uint64_t number;
    const int one = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_false(descriptor_note_set(one, NUMBER));
    assert_false(descriptor_note_get(one, &number));
    assert_false(descriptor_note_get(-1, &number));
    close(one);
}

/* Locks of the program are none, on the same file or as a process. */
static void other_locks_are_no_numbers(void **state)
{
    (void)state;
    const int one = opened();
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 1};
    uint64_t number;
    assert_int_equal(fcntl(one, F_OFD_SETLK, &lock), 0);
    assert_false(descriptor_note_get(one, &number));
    lock.l_start = 100;
    lock.l_len = 0;
    lock.l_type = F_RDLCK;
    assert_int_equal(fcntl(one, F_SETLK, &lock), 0);
    assert_false(descriptor_note_get(one, &number));
    assert_true(descriptor_note_set(one, NUMBER));
    assert_true(descriptor_note_get(one, &number));
    assert_int_equal(number, NUMBER);
    close(one);
}

static void descriptor_move(int socket, int *descriptor, bool sends)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    char byte = 'd';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!sends) {
        assert_int_equal(recvmsg(socket, &message, 0), 1);
        memcpy(descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof *descriptor);
        return;
    }
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof *descriptor);
    memcpy(CMSG_DATA(head), descriptor, sizeof *descriptor);
    assert_int_equal(sendmsg(socket, &message, 0), 1);
}

static void another_process_finds_it(void **state)
{
    (void)state;
    int pair[2], status;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const pid_t child = fork();
    if (!child) { /* the number is set behind the fork */
        int descriptor;
        uint64_t number;
        descriptor_move(pair[1], &descriptor, false);
        _exit(!descriptor_note_get(descriptor, &number) || number != NUMBER);
    }
    int one = opened();
    assert_true(descriptor_note_set(one, NUMBER));
    descriptor_move(pair[0], &one, true);
    close(one);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_is_the_open_files_own),
        cmocka_unit_test(files_of_one_memory_have_one_number),
        cmocka_unit_test(high_bits_are_cleared),
        cmocka_unit_test(a_file_that_cannot_be_read_carries_none),
        cmocka_unit_test(other_locks_are_no_numbers),
        cmocka_unit_test(another_process_finds_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
