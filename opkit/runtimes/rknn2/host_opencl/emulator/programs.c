/* Programs, kernels and their arguments. */
#include "emulator.h"

static void free_details_of(struct object *object)
{
    free(object->program.source);
}

opkit_cl_program clCreateProgramWithSource(opkit_cl_context context, uint32_t count,
                                           const char *const *texts, const size_t *lengths,
                                           int32_t *status)
{
    int32_t failure = injected_failure("clCreateProgramWithSource");
    struct object *owner = find_object(context, CONTEXT), *object;
    size_t size = 0;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (owner == NULL) {
        return failed(status, CL_INVALID_CONTEXT);
    }
    if (count == 0 || texts == NULL) {
        return failed(status, CL_INVALID_VALUE);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (texts[i] == NULL) {
            return failed(status, CL_INVALID_VALUE);
        }
        size += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
    }
    object = new_object(PROGRAM, owner);
    if (object == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    object->program.source = calloc(size + 1, 1);
    if (object->program.source == NULL) {
        release_object(object, CL_SUCCESS);
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    size = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        memcpy(object->program.source + size, texts[i], length);
        size += length;
    }
    succeeded(status);
    return handle_of(object);
}

/* The number of the first line in which two texts differ. */
static unsigned differing_line(const char *text, const char *other)
{
    unsigned line = 1;

    for (; *text != '\0' && *text == *other; text++, other++) {
        line += *text == '\n';
    }
    return line;
}

int32_t clBuildProgram(opkit_cl_program handle, uint32_t count, const opkit_cl_device *devices,
                       const char *options, void (*notify)(opkit_cl_program, void *), void *data)
{
    int32_t failure = injected_failure("clBuildProgram");
    struct object *object = find_object(handle, PROGRAM);
    const char *problem, *source, *compiled_with;
    struct program *program;

    if (object == NULL) {
        return CL_INVALID_PROGRAM;
    }
    if ((count == 0) != (devices == NULL) || (notify == NULL && data != NULL)) {
        return CL_INVALID_VALUE;
    }
    if (devices != NULL && (count != 1 || devices[0] != the_device())) {
        return CL_INVALID_DEVICE;
    }
    program = &object->program;
    if (failure != CL_SUCCESS) {
        snprintf(program->log, sizeof program->log, "error: the test lets the build fail");
        return failure;
    }
    problem = open_library();
    if (problem != NULL) {
        snprintf(program->log, sizeof program->log, "error: %s", problem);
        return CL_BUILD_PROGRAM_FAILURE;
    }
    source = library_symbol("__opkit_source", "");
    compiled_with = library_symbol("__opkit_options", "");
    if (strcmp(program->source, source) != 0) {
        snprintf(
            program->log, sizeof program->log,
            "error: the program is not the one that was compiled for the emulator: they differ "
            "from line %u on",
            differing_line(program->source, source));
        return CL_BUILD_PROGRAM_FAILURE;
    }
    options = options == NULL ? "" : options;
    if (strcmp(options, compiled_with) != 0) {
        snprintf(program->log, sizeof program->log,
                 "error: the build options are \"%s\", but the program was compiled for the "
                 "emulator with \"%s\"",
                 options, compiled_with);
        return CL_BUILD_PROGRAM_FAILURE;
    }
    program->is_built = true;
    program->log[0] = '\0';
    if (notify != NULL) {
        notify(handle, data);
    }
    return CL_SUCCESS;
}

int32_t clGetProgramBuildInfo(opkit_cl_program handle, opkit_cl_device device, uint32_t name,
                              size_t capacity, void *value, size_t *size)
{
    struct object *object = find_object(handle, PROGRAM);

    if (object == NULL) {
        return CL_INVALID_PROGRAM;
    }
    if (device != the_device()) {
        return CL_INVALID_DEVICE;
    }
    if (name != OPKIT_CL_PROGRAM_BUILD_LOG) {
        return CL_INVALID_VALUE;
    }
    return answer(object->program.log, strlen(object->program.log) + 1, capacity, value, size);
}

int32_t clReleaseProgram(opkit_cl_program program)
{
    return release_object(find_object(program, PROGRAM), CL_INVALID_PROGRAM);
}

opkit_cl_kernel clCreateKernel(opkit_cl_program handle, const char *name, int32_t *status)
{
    int32_t failure = injected_failure("clCreateKernel");
    struct object *program = find_object(handle, PROGRAM), *object;
    const void *entry, *parameters;
    struct kernel *kernel;

    if (failure != CL_SUCCESS) {
        return failed(status, failure);
    }
    if (program == NULL) {
        return failed(status, CL_INVALID_PROGRAM);
    }
    if (!program->program.is_built) {
        return failed(status, CL_INVALID_PROGRAM_EXECUTABLE);
    }
    if (name == NULL) {
        return failed(status, CL_INVALID_VALUE);
    }
    entry = library_symbol("__opkit_entry_", name);
    parameters = library_symbol("__opkit_parameters_", name);
    if (entry == NULL || parameters == NULL) {
        return failed(status, CL_INVALID_KERNEL_NAME);
    }
    object = new_object(KERNEL, program);
    if (object == NULL) {
        return failed(status, CL_OUT_OF_HOST_MEMORY);
    }
    kernel = &object->kernel;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    memcpy(&kernel->entry, &entry, sizeof kernel->entry);
    kernel->parameters = parameters;
    kernel->needs = library_symbol("__opkit_needs_", name);
    while (kernel->count < MAX_ARGUMENTS && kernel->parameters[kernel->count].name[0] != '\0') {
        kernel->count++;
    }
    succeeded(status);
    return handle_of(object);
}

int32_t clReleaseKernel(opkit_cl_kernel kernel)
{
    return release_object(find_object(kernel, KERNEL), CL_INVALID_KERNEL);
}

static int32_t set_value(struct argument *argument, size_t expected, size_t size, const void *value)
{
    if (size != expected || size > MAX_VALUE) {
        return CL_INVALID_ARG_SIZE;
    }
    if (value == NULL) {
        return CL_INVALID_ARG_VALUE;
    }
    memcpy(argument->value, value, size);
    return CL_SUCCESS;
}

static int32_t set_buffer(struct argument *argument, size_t size, const void *value)
{
    if (size != sizeof argument->handle) {
        return CL_INVALID_ARG_SIZE;
    }
    argument->handle = NULL;
    if (value != NULL) {
        memcpy(&argument->handle, value, size);
    }
    return argument->handle == NULL || find_buffer(argument->handle) != NULL
               ? CL_SUCCESS
               : CL_INVALID_MEM_OBJECT;
}

static int32_t set_local(struct argument *argument, size_t size, const void *value)
{
    if (value != NULL) {
        return CL_INVALID_ARG_VALUE;
    }
    argument->size = size;
    return size == 0 ? CL_INVALID_ARG_SIZE : CL_SUCCESS;
}

int32_t clSetKernelArg(opkit_cl_kernel handle, uint32_t index, size_t size, const void *value)
{
    int32_t status = injected_failure("clSetKernelArg");
    struct object *object = find_object(handle, KERNEL);
    const struct __opkit_parameter *parameter;
    struct argument *argument;

    if (status != CL_SUCCESS) {
        return status;
    }
    if (object == NULL) {
        return CL_INVALID_KERNEL;
    }
    if (index >= object->kernel.count) {
        return CL_INVALID_ARG_INDEX;
    }
    argument = &object->kernel.arguments[index];
    parameter = &object->kernel.parameters[index];
    if (parameter->kind == __OPKIT_VALUE_PARAMETER) {
        status = set_value(argument, parameter->size, size, value);
    } else if (parameter->kind == __OPKIT_LOCAL_PARAMETER) {
        status = set_local(argument, size, value);
    } else {
        status = set_buffer(argument, size, value);
    }
    argument->is_set |= status == CL_SUCCESS;
    return status;
}

__attribute__((constructor)) static void register_details(void)
{
    free_details[PROGRAM] = free_details_of;
}
