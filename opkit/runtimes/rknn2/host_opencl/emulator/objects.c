/*
 * Handles. They are numbers that are not used again, so that the use of a released object is seen.
 */
#include "emulator.h"

enum {
    MAX_OBJECTS = 4096
};
/* Handles lie where no memory is. */
#define FIRST_HANDLE ((uintptr_t)0xc1 << 56)

static struct object objects[MAX_OBJECTS];
static uintptr_t last_serial;

void (*free_details[OBJECT_KINDS])(struct object *object);

struct object *new_object(enum object_kind kind, struct object *owner)
{
    for (int i = 0; i < MAX_OBJECTS; i++) {
        struct object *object = &objects[++last_serial % MAX_OBJECTS];
        if (object->references == 0 && object->uses == 0) {
            memset(object, 0, sizeof *object);
            object->kind = kind;
            object->serial = last_serial;
            object->references = 1;
            object->owner = owner;
            if (owner != NULL) {
                retain_use(owner);
            }
            count_object(kind, 1);
            return object;
        }
    }
    return NULL;
}

void *handle_of(const struct object *object)
{
    return (void *)(FIRST_HANDLE + object->serial);
}

static struct object *find(const void *handle, unsigned kinds, const char *what)
{
    uintptr_t serial = (uintptr_t)handle - FIRST_HANDLE;
    struct object *object = &objects[serial % MAX_OBJECTS];

    if ((uintptr_t)handle < FIRST_HANDLE || serial == 0 || serial > last_serial) {
        return NULL;
    }
    if (object->serial != serial || object->references == 0) {
        log_line("misuse\ta released %s is used",
                 object->serial == serial ? object_names[object->kind] : what);
        return NULL;
    }
    return (kinds >> object->kind & 1) != 0 ? object : NULL;
}

struct object *find_object(const void *handle, enum object_kind kind)
{
    return find(handle, 1u << kind, object_names[kind]);
}

struct object *find_buffer(const void *handle)
{
    return find(handle, 1u << BUFFER | 1u << SUB_BUFFER | 1u << IMPORT, object_names[BUFFER]);
}

void retain_use(struct object *object)
{
    object->uses++;
}

static void free_unused(struct object *object)
{
    while (object != NULL && object->references == 0 && object->uses == 0) {
        struct object *owner = object->owner;
        if (free_details[object->kind] != NULL) {
            free_details[object->kind](object);
        }
        if (owner != NULL) {
            owner->uses--;
        }
        object = owner;
    }
}

void release_use(struct object *object)
{
    object->uses--;
    free_unused(object);
}

int32_t release_object(struct object *object, int32_t invalid)
{
    if (object == NULL) {
        return invalid;
    }
    object->references--;
    if (object->references == 0) {
        count_object(object->kind, -1);
        free_unused(object);
    }
    return CL_SUCCESS;
}
