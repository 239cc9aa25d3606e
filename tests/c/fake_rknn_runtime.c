/*
 * A librknn_runtime.so for tests: takes a .rknn file apart, and copies its only input to its only
 * output. Like the vendor's it prints to stdout when it is loaded, and at its end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opkit/runtimes/rknn/driver/rknn_runtime.h"

enum {
    MODEL_INVALID = -6,
    SECTIONS = 4
};

const char version[] = "librknn_runtime version 0.1.2 (tests)";
static void *kept; /* the input */
static uint32_t kept_size;

__attribute__((constructor)) static void load(void)
{
    puts(version);
}

__attribute__((destructor)) static void unload(void)
{
    puts("the end");
}

int rknn_init(rknn_context *context, void *model, uint32_t size, uint32_t flags)
{
    static const char HEADER[16] = "RKNN\0\0\0\0\2";
    const char *section[SECTIONS];
    uint64_t length = 0;
    uint64_t offset = sizeof HEADER;

    if (flags != 0 || size < offset || memcmp(model, HEADER, sizeof HEADER) != 0) {
        return MODEL_INVALID;
    }
    for (int i = 0; i < SECTIONS; i++) {
        memcpy(&length, (char *)model + offset, sizeof length);
        section[i] = (char *)model + offset + sizeof length;
        offset += sizeof length + length;
        if (offset > size) {
            return MODEL_INVALID;
        }
    }
    *context = 1;
    const int is_valid = offset == size && section[1][0] == '{' && section[2][0] == '[' &&
                         memcmp(section[3],
                                "\x7f"
                                "ELF",
                                4) == 0;
    return is_valid ? 0 : MODEL_INVALID;
}

int rknn_inputs_set(rknn_context context, uint32_t count, rknn_input inputs[])
{
    if (context != 1 || count != 1 || !inputs->pass_through) {
        return -1;
    }
    kept_size = inputs->size;
    kept = malloc(kept_size);
    memcpy(kept, inputs->buf, kept_size);
    return 0;
}

int rknn_run(rknn_context context, void *extension)
{
    return context == 1 && extension == NULL ? 0 : -1;
}

int rknn_outputs_get(rknn_context context, uint32_t count, rknn_output outputs[], void *extension)
{
    (void)extension;
    if (context != 1 || count != 1 || !outputs->is_prealloc || outputs->size != kept_size) {
        return -1;
    }
    memcpy(outputs->buf, kept, kept_size);
    return 0;
}

int rknn_outputs_release(rknn_context context, uint32_t count, rknn_output outputs[])
{
    (void)count;
    (void)outputs;
    return context == 1 ? 0 : -1;
}

int rknn_destroy(rknn_context context)
{
    free(kept);
    kept = NULL;
    return context == 1 ? 0 : -1;
}
