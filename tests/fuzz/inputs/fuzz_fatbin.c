/* libFuzzer: the fat binary reader on damaged containers, cubins and PTX files. Wrappers hold
 * addresses of the process and are made here, round the input. */
#include "runtime/ptx/fatbin.h"

#include <stdlib.h>
#include <string.h>

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *list;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void read_texts(const void *image, size_t limit)
{
    char message[256];
    struct fatbin_text *texts;
    size_t count, length = 0;
    fatbin_texts(image, limit, &texts, &count, message, sizeof message);
    for (size_t i = 0; i < count; i++)
        length += strlen(texts[i].text);
    if (length == SIZE_MAX)
        abort();
    fatbin_texts_release(texts, count);
}

/* An image in memory comes without its length: only one that does not claim more than there is may
 * be read so. */
static void read_in_memory(const uint8_t *data, size_t bytes)
{
    uint16_t header;
    uint64_t content;
    if (bytes < 16 || memcmp(data, "\x50\xed\x55\xba", 4) != 0)
        return;
    memcpy(&header, data + 6, sizeof header);
    memcpy(&content, data + 8, sizeof content);
    if (header > bytes || content > bytes - header)
        return;
    const void *const list[] = {data, data, NULL};
    struct wrapper first = {0x466243B1, 1, data, NULL}, second = {0x466243B1, 2, data, list};
    read_texts(data, 0);
    read_texts(&first, 0);
    read_texts(&second, sizeof second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    /* exactly as long as the input is, so that one byte too far is seen */
    uint8_t *image = malloc(bytes ? bytes : 1);
    if (!image || !bytes)
        return free(image), 0;
    memcpy(image, data, bytes);
    const uint32_t wrapper = 0x466243B1;
    if (bytes < 4 || memcmp(image, &wrapper, 4) != 0) {
        read_texts(image, bytes);
        read_in_memory(image, bytes);
    }
    free(image);
    return 0;
}
