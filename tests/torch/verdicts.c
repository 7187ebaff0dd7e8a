#include "verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static int complain(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    return -1;
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    void *content = NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    if (size > 0 && (content = malloc((size_t)size)) != NULL)
        *bytes = fread(content, 1, (size_t)size, file);
    fclose(file);
    return content;
}

struct verdicts *verdicts_load(const char *path)
{
    size_t packed_bytes = 0;
    void *packed = read_file(path, &packed_bytes);
    if (!packed) {
        complain(path, "cannot be read");
        return NULL;
    }
    unsigned long long bytes = ZSTD_getFrameContentSize(packed, packed_bytes);
    struct verdicts *verdicts = NULL;
    if (bytes < ZSTD_CONTENTSIZE_ERROR && bytes >= sizeof(*verdicts) &&
        (verdicts = malloc(bytes)) != NULL &&
        (ZSTD_decompress(verdicts, bytes, packed, packed_bytes) != bytes ||
         verdicts->count != bytes - sizeof(*verdicts))) {
        free(verdicts);
        verdicts = NULL;
    }
    free(packed);
    if (!verdicts)
        complain(path, "is damaged: make it anew with tests/torch/record_golden.py");
    return verdicts;
}

int verdicts_save(const char *path, const struct verdicts *verdicts)
{
    size_t bytes = sizeof(*verdicts) + verdicts->count, room = ZSTD_compressBound(bytes);
    void *packed = malloc(room);
    if (!packed)
        return complain(path, "no memory to pack it");
    size_t packed_bytes = ZSTD_compress(packed, room, verdicts, bytes, ZSTD_maxCLevel());
    FILE *file = fopen(path, "wb");
    int saved = file && !ZSTD_isError(packed_bytes) &&
                fwrite(packed, 1, packed_bytes, file) == packed_bytes;
    if (file)
        saved = fclose(file) == 0 && saved;
    free(packed);
    return saved ? 0 : complain(path, "cannot be written");
}
