/* Graphs and their nodes: verify, process, and the callbacks of kernels. */
#include <stdio.h>

#include "opkit/check/harness/memory/guarded_memory.h"
#include "opkit/check/harness/memory/libc_memory.h"

#include "hostrt.h"

/* ---- Callbacks ---- */

/* Outputs alone have a meta: those of inputs are NULL. */
static vx_status validate(vx_node node)
{
    const vx_uint32 count = node->parameter_count;
    vx_meta_format *metas = __libc_calloc(count, sizeof(vx_meta_format));
    vx_status status = metas != NULL ? VX_SUCCESS : VX_ERROR_NO_MEMORY;

    for (vx_uint32 i = 0; status == VX_SUCCESS && i < count; i++) {
        const vx_param_description_t *description = &node->kernel->parameters[i];
        if (description->direction == VX_INPUT) {
            continue;
        }
        metas[i] = hostrt_new(node->base.context, VX_TYPE_META_FORMAT, sizeof *metas[i], NULL);
        if (metas[i] != NULL) {
            metas[i]->described = description->data_type;
        } else {
            status = VX_ERROR_NO_MEMORY;
        }
    }
    if (status == VX_SUCCESS) {
        hostrt_phase = "the validator";
        status = node->kernel->validate(node, node->parameters, count, metas);
    }
    for (vx_uint32 i = 0; metas != NULL && i < count; i++) {
        vx_reference meta = (vx_reference)metas[i];
        hostrt_release_handle(&meta, VX_TYPE_META_FORMAT);
    }
    __libc_free(metas);
    return status;
}

/*
 * The driver frees LOCAL_DATA_PTR after the deinitializer, regardless of the allocator: memory that
 * the deinitializer itself freed and left there is freed twice.
 */
static void free_local_data(vx_node node)
{
    if (node->owns_local_data) {
        __libc_free(node->local_data);
    } else if (guarded_memory_is_freed(node->local_data)) {
        hostrt_log_crash("vxReleaseGraph", "it frees VX_NODE_LOCAL_DATA_PTR, which the "
                                           "deinitializer has freed; set it to NULL there");
    } else {
        hostrt_function = "the release of VX_NODE_LOCAL_DATA_PTR";
        guarded_free(node->local_data);
        hostrt_function = NULL;
    }
}

/* An initializer that runs again cannot set local data if it has set a size. */
static vx_status initialize(vx_node node)
{
    vx_status status = VX_SUCCESS;

    if (node->kernel->initialize != NULL) {
        hostrt_phase = "the initializer";
        node->local_data_settable = node->local_data_size == 0;
        status = node->kernel->initialize(node, node->parameters, node->parameter_count);
        node->local_data_settable = false;
    }
    if (status != VX_SUCCESS) {
        return status;
    }
    node->new_local_data = node->local_data_size > 0 && node->local_data == NULL;
    if (node->new_local_data) {
        node->local_data = __libc_calloc(1, node->local_data_size);
        node->owns_local_data = node->local_data != NULL;
        status = node->local_data != NULL ? VX_SUCCESS : VX_ERROR_NO_MEMORY;
    }
    return status;
}

/* Runs whether or not validator and initializer ran, as on the board. */
static vx_status deinitialize(vx_node node)
{
    if (node->kernel->deinitialize == NULL) {
        return VX_SUCCESS;
    }
    hostrt_phase = "the deinitializer";
    node->local_data_settable = !node->new_local_data;
    const vx_status status =
        node->kernel->deinitialize(node, node->parameters, node->parameter_count);
    node->local_data_settable = false;
    return status;
}

static const char LAUNCH[] = "the launch of the VX kernel";

/* The launch rules of VX kernels that do not depend on the chip. */
static vx_status check_launch(const vx_kernel_execution_parameters_t *launch)
{
    vx_uint32 given = 0;

    if (launch->workDim == 0 || launch->workDim > VX_MAX_WORK_ITEM_DIMENSIONS) {
        return hostrt_refuse(VX_FAILURE, LAUNCH, "workDim is %u (expected 1 to %u)",
                             (unsigned)launch->workDim, VX_MAX_WORK_ITEM_DIMENSIONS);
    }
    for (vx_uint32 i = 0; i < launch->workDim; i++) {
        given += launch->localWorkSize[i] != 0;
    }
    if (given != 0 && given != launch->workDim) {
        return hostrt_refuse(VX_FAILURE, LAUNCH, "localWorkSize is 0 in some of %u dimensions",
                             (unsigned)launch->workDim);
    }
    for (vx_uint32 i = 0; i < launch->workDim; i++) {
        const vx_size global = launch->globalWorkSize[i], local = launch->localWorkSize[i];
        if (global == 0) {
            return hostrt_refuse(VX_FAILURE, LAUNCH, "globalWorkSize[%u] is 0", (unsigned)i);
        }
        if (given != 0 && global % local != 0) {
            return hostrt_refuse(VX_FAILURE, LAUNCH,
                                 "globalWorkSize[%u] = %zu is not a multiple of localWorkSize[%u] "
                                 "= %zu",
                                 (unsigned)i, global, (unsigned)i, local);
        }
    }
    return VX_SUCCESS;
}

/* The board keeps the address of a uniform's name and reads it when it launches. */
static void check_uniform_names(vx_node node)
{
    for (vx_size i = 0; i < node->uniform_count; i++) {
        const struct hostrt_uniform *uniform = &node->uniforms[i];
        if (uniform->set && strncmp(uniform->name, uniform->copy, sizeof uniform->copy - 1) != 0) {
            hostrt_log_printf(
                HOSTRT_EVENT,
                "the name of the uniform '%s' is gone; it must live as long as the node",
                uniform->copy);
        }
    }
}

static void check_border(vx_node node)
{
    const vx_enum mode = node->border.mode;
    if (mode < VX_BORDER_UNDEFINED || mode > VX_BORDER_REPLICATE) {
        hostrt_log_printf(
            HOSTRT_EVENT,
            "the node's border has the mode 0x%X, which is unknown; see enum vx_border_e",
            (unsigned)mode);
    }
}

/*
 * A CPU kernel that fails is silent on the board: the status is neither the graph's nor the node's,
 * and other nodes run on.
 */
static void run_function(vx_node node)
{
    hostrt_phase = "the kernel function";
    const vx_status status = node->kernel->function(node, node->parameters, node->parameter_count);
    if (node->graph->kernel_status == VX_SUCCESS) {
        node->graph->kernel_status = status;
    }
}

static vx_status process(vx_node node)
{
    if (node->kernel->function == NULL) {
        hostrt_phase = LAUNCH;
        check_uniform_names(node);
        check_border(node);
        return check_launch(&node->execution);
    }
    run_function(node);
    return VX_SUCCESS;
}

/* ---- Graphs ---- */

/* Destroys the nodes of a graph, even retained ones. Their deinitializers still see the graph. */
static void destroy_graph(vx_reference reference)
{
    vx_graph graph = (vx_graph)reference;
    graph->verified = false; /* deinitializers may set their node's attributes */
    for (vx_size i = 0; i < graph->node_count; i++) {
        vx_node node = graph->nodes[i];
        node->base.external_count = 0;
        hostrt_release(node);
    }
    __libc_free(graph->nodes);
}

vx_graph vxCreateGraph(vx_context context)
{
    return hostrt_is(context, VX_TYPE_CONTEXT)
               ? hostrt_new(context, VX_TYPE_GRAPH, sizeof(struct vx_graph_s), destroy_graph)
               : NULL;
}

vx_status vxReleaseGraph(vx_graph *graph)
{
    return hostrt_release_handle((vx_reference *)graph, VX_TYPE_GRAPH);
}

static vx_status check_parameters(vx_node node)
{
    for (vx_uint32 i = 0; i < node->parameter_count; i++) {
        if (node->parameters[i] == NULL &&
            node->kernel->parameters[i].state == VX_PARAMETER_STATE_REQUIRED) {
            return hostrt_refuse(VX_ERROR_NOT_SUFFICIENT, "vxVerifyGraph",
                                 "the required parameter %u is not set", (unsigned)i);
        }
    }
    return VX_SUCCESS;
}

/* Runs a step of the verification for all nodes, up to the first that fails. */
static vx_status for_each_node(vx_graph graph, vx_status (*step)(vx_node node))
{
    vx_status status = VX_SUCCESS;
    for (vx_size i = 0; status == VX_SUCCESS && i < graph->node_count; i++) {
        status = step(graph->nodes[i]);
    }
    return status;
}

/* Whether two parameters have elements in common; those of views lie in the whole tensor. */
static bool overlap(vx_reference a, vx_reference b)
{
    if (a == b || a == NULL || b == NULL) {
        return a != NULL && a == b;
    }
    return a->type == VX_TYPE_TENSOR && b->type == VX_TYPE_TENSOR &&
           hostrt_tensors_overlap((vx_tensor)a, (vx_tensor)b);
}

/* Whether a node writes a parameter of another node, or of its own, with this direction. */
static bool writes(vx_node writer, vx_node other, vx_enum direction)
{
    for (vx_uint32 i = 0; i < writer->parameter_count; i++) {
        for (vx_uint32 k = 0; k < other->parameter_count; k++) {
            if (writer->kernel->parameters[i].direction == VX_OUTPUT &&
                other->kernel->parameters[k].direction == direction &&
                overlap(writer->parameters[i], other->parameters[k])) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a node waits for itself: repeatedly marks the nodes whose inputs no other node writes. */
static bool has_cycle(vx_graph graph)
{
    vx_size ready = 0, before;

    for (vx_size i = 0; i < graph->node_count; i++) {
        graph->nodes[i]->ready = false;
    }
    do {
        before = ready;
        for (vx_size i = 0; i < graph->node_count; i++) {
            vx_node node = graph->nodes[i];
            bool waits = node->ready;
            for (vx_size k = 0; !waits && k < graph->node_count; k++) {
                waits = !graph->nodes[k]->ready && writes(graph->nodes[k], node, VX_INPUT);
            }
            if (!waits) {
                node->ready = true;
                ready++;
            }
        }
    } while (ready > before);
    return ready < graph->node_count;
}

static vx_status check_links(vx_graph graph)
{
    for (vx_size i = 0; i < graph->node_count; i++) {
        for (vx_size k = 0; k < i; k++) {
            if (writes(graph->nodes[i], graph->nodes[k], VX_OUTPUT)) {
                return hostrt_refuse(VX_ERROR_MULTIPLE_WRITERS, "vxVerifyGraph",
                                     "two nodes write the same output");
            }
        }
    }
    if (has_cycle(graph)) {
        return hostrt_refuse(VX_ERROR_INVALID_GRAPH, "vxVerifyGraph",
                             "the nodes form a cycle: an input of a node is its own output, or "
                             "depends on it");
    }
    return VX_SUCCESS;
}

/* Does nothing for a verified graph. After a failure nothing is deinitialized. */
vx_status vxVerifyGraph(vx_graph graph)
{
    if (!hostrt_is(graph, VX_TYPE_GRAPH)) {
        hostrt_log_crash(__func__, "the graph is not valid");
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (graph->verified) {
        return VX_SUCCESS;
    }
    if (graph->node_count == 0) {
        return VX_ERROR_INVALID_GRAPH;
    }
    vx_status status = for_each_node(graph, check_parameters);
    if (status == VX_SUCCESS && graph->reverify) {
        graph->reverify = false;
        status = for_each_node(graph, deinitialize);
    }
    if (status == VX_SUCCESS) {
        status = for_each_node(graph, validate);
    }
    if (status == VX_SUCCESS) {
        status = check_links(graph);
    }
    if (status == VX_SUCCESS) {
        status = for_each_node(graph, initialize);
    }
    graph->verified = status == VX_SUCCESS;
    return status;
}

vx_status vxProcessGraph(vx_graph graph)
{
    if (!hostrt_is(graph, VX_TYPE_GRAPH)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    graph->kernel_status = VX_SUCCESS;
    vx_status status = graph->verified ? VX_SUCCESS : vxVerifyGraph(graph);
    for (vx_size i = 0; status == VX_SUCCESS && i < graph->node_count; i++) {
        status = process(graph->nodes[i]);
        graph->nodes[i]->last_status = status;
    }
    return status;
}

/* ---- Nodes ---- */

static void destroy_node(vx_reference reference)
{
    vx_node node = (vx_node)reference;
    const vx_status status = deinitialize(node);
    if (status != VX_SUCCESS) {
        hostrt_log_printf(HOSTRT_EVENT,
                          "the deinitializer returns %d; the board does not look at it",
                          (int)status);
    }
    free_local_data(node);
    for (vx_uint32 i = 0; i < node->parameter_count; i++) {
        if (node->parameters[i] != NULL) {
            hostrt_release(node->parameters[i]);
        }
    }
    for (vx_size i = 0; i < node->uniform_count; i++) {
        __libc_free(node->uniforms[i].value);
    }
    __libc_free(node->uniforms);
    __libc_free(node->parameters);
    hostrt_release(node->kernel);
}

vx_node vxCreateGenericNode(vx_graph graph, vx_kernel kernel)
{
    if (!hostrt_is(graph, VX_TYPE_GRAPH)) {
        return NULL;
    }
    if (!hostrt_is(kernel, VX_TYPE_KERNEL) || !kernel->finalized) {
        return (vx_node)hostrt_new_error(graph->base.context, VX_ERROR_INVALID_REFERENCE);
    }
    vx_reference *parameters = __libc_calloc(kernel->parameter_count, sizeof(vx_reference));
    vx_node *nodes = __libc_realloc(graph->nodes, (graph->node_count + 1) * sizeof(vx_node));
    if (nodes != NULL) {
        graph->nodes = nodes;
    }
    vx_node node = NULL;
    if (parameters != NULL && nodes != NULL) {
        node = hostrt_new(graph->base.context, VX_TYPE_NODE, sizeof *node, destroy_node);
    }
    if (node == NULL) {
        __libc_free(parameters);
        return NULL;
    }
    node->graph = graph;
    node->kernel = kernel;
    node->parameters = parameters;
    node->parameter_count = kernel->parameter_count;
    node->border.mode = VX_BORDER_UNDEFINED;
    hostrt_retain(kernel);
    hostrt_retain(node); /* by the graph */
    nodes[graph->node_count++] = node;
    graph->reverify = graph->verified;
    graph->verified = false;
    return node;
}

vx_status vxReleaseNode(vx_node *node)
{
    return hostrt_release_handle((vx_reference *)node, VX_TYPE_NODE);
}

static bool type_matches(vx_reference value, vx_enum declared)
{
    return declared == VX_TYPE_REFERENCE || value->type == declared ||
           (value->type == VX_TYPE_SCALAR && ((vx_scalar)value)->data_type == declared);
}

vx_status vxSetParameterByIndex(vx_node node, vx_uint32 index, vx_reference value)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (index >= node->parameter_count) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    const vx_param_description_t *description = &node->kernel->parameters[index];
    if (value == NULL && description->state == VX_PARAMETER_STATE_REQUIRED) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (value != NULL) {
        if (!hostrt_is(value, VX_TYPE_REFERENCE) || value->type == VX_TYPE_CONTEXT) {
            return hostrt_refuse(VX_ERROR_INVALID_VALUE, __func__,
                                 "parameter %u is not an object of a graph", (unsigned)index);
        }
        if (value->type == VX_TYPE_ERROR || !type_matches(value, description->data_type)) {
            return hostrt_refuse(VX_ERROR_INVALID_TYPE, __func__,
                                 "parameter %u is %s (expected %s)", (unsigned)index,
                                 hostrt_type_name(value->type == VX_TYPE_SCALAR
                                                      ? ((vx_scalar)value)->data_type
                                                      : value->type),
                                 hostrt_type_name(description->data_type));
        }
        hostrt_retain(value);
    }
    if (node->parameters[index] != NULL) {
        hostrt_release(node->parameters[index]);
    }
    node->parameters[index] = value;
    if (node->graph->verified) {
        node->graph->reverify = true;
        node->graph->verified = false;
    }
    return VX_SUCCESS;
}

static const struct hostrt_attribute ATTRIBUTES[] = {
    {VX_NODE_STATUS, offsetof(struct vx_node_s, last_status), sizeof(vx_status), HOSTRT_READ},
    {VX_NODE_PERFORMANCE, offsetof(struct vx_node_s, performance), 64, HOSTRT_READ},
    {VX_NODE_BORDER, offsetof(struct vx_node_s, border), sizeof(vx_border_t), HOSTRT_READ_WRITE},
    {VX_NODE_LOCAL_DATA_SIZE, offsetof(struct vx_node_s, local_data_size), sizeof(vx_size),
     HOSTRT_IN_CALLBACK},
    {VX_NODE_LOCAL_DATA_PTR, offsetof(struct vx_node_s, local_data), sizeof(void *),
     HOSTRT_IN_CALLBACK},
    {VX_NODE_PARAMETERS, offsetof(struct vx_node_s, parameter_count), sizeof(vx_uint32),
     HOSTRT_READ},
    {VX_NODE_IS_REPLICATED, offsetof(struct vx_node_s, is_replicated), sizeof(vx_bool),
     HOSTRT_READ},
    {VX_NODE_ATTRIBUTE_KERNEL_EXECUTION_PARAMETERS, offsetof(struct vx_node_s, execution),
     sizeof(vx_kernel_execution_parameters_t), HOSTRT_WRITE},
};

vx_status vxQueryNode(vx_node node, vx_enum attribute, void *value, vx_size size)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (attribute == VX_NODE_REPLICATE_FLAGS) { /* which a node that is not replicated lacks */
        if (size == node->parameter_count * sizeof(vx_bool)) {
            hostrt_log_crash(__func__, "the node has no VX_NODE_REPLICATE_FLAGS");
        }
        return VX_SUCCESS;
    }
    return hostrt_query(__func__, ATTRIBUTES, dimof(ATTRIBUTES), node, attribute, value, size,
                        VX_ERROR_NOT_SUPPORTED);
}

vx_status vxSetNodeAttribute(vx_node node, vx_enum attribute, const void *value, vx_size size)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (node->graph->verified) {
        return hostrt_refuse(VX_ERROR_NOT_SUPPORTED, __func__,
                             "the graph is verified: set attributes in the initializer");
    }
    const struct hostrt_attribute *found =
        hostrt_find_attribute(ATTRIBUTES, dimof(ATTRIBUTES), attribute);
    if (found != NULL && found->access == HOSTRT_IN_CALLBACK && !node->local_data_settable) {
        return hostrt_refuse(VX_ERROR_NOT_SUPPORTED, __func__,
                             "local data can be set by an initializer before it has a size, and by "
                             "a deinitializer if the driver has not allocated it");
    }
    if (found == NULL || found->access == HOSTRT_READ) {
        return hostrt_refuse(VX_ERROR_NOT_SUPPORTED, __func__, "attribute 0x%X cannot be set",
                             (unsigned)attribute);
    }
    if (!hostrt_fits(__func__, found, value, size)) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    memcpy((vx_uint8 *)node + found->offset, value, size);
    if (attribute == VX_NODE_LOCAL_DATA_PTR) {
        node->owns_local_data = false;
    }
    return VX_SUCCESS;
}

vx_status hostrt_launch(vx_node node, vx_kernel_execution_parameters_t *launch)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    *launch = node->execution;
    return VX_SUCCESS;
}

/* ---- Uniforms of VX kernels ---- */

static struct hostrt_uniform *new_uniform(vx_node node, const vx_char *name)
{
    struct hostrt_uniform *uniforms =
        __libc_realloc(node->uniforms, (node->uniform_count + 1) * sizeof *uniforms);
    if (uniforms == NULL) {
        return NULL;
    }
    node->uniforms = uniforms;
    struct hostrt_uniform *uniform = &uniforms[node->uniform_count++];
    memset(uniform, 0, sizeof *uniform);
    snprintf(uniform->copy, sizeof uniform->copy, "%s", name);
    return uniform;
}

static struct hostrt_uniform *find_uniform(vx_node node, const vx_char *name)
{
    for (vx_size i = 0; i < node->uniform_count; i++) {
        if (strncmp(node->uniforms[i].copy, name, sizeof node->uniforms[i].copy - 1) == 0) {
            return &node->uniforms[i];
        }
    }
    return NULL;
}

vx_status hostrt_declare_uniform(vx_node node, const vx_char *name, vx_size size)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    struct hostrt_uniform *uniform = new_uniform(node, name);
    if (uniform == NULL) {
        return VX_ERROR_NO_MEMORY;
    }
    uniform->size = size;
    node->uniforms_declared = true;
    return VX_SUCCESS;
}

vx_status vxSetNodeUniform(vx_node node, const vx_char *name, vx_size count, void *value)
{
    if (!hostrt_is(node, VX_TYPE_NODE)) {
        hostrt_log_crash(__func__, "the node is not valid");
        return VX_ERROR_INVALID_REFERENCE;
    }
    if (node->kernel->function != NULL) {
        hostrt_log_crash(__func__, "the node's kernel is a CPU kernel, which has no uniforms");
        return VX_ERROR_NOT_SUPPORTED;
    }
    if (name == NULL || value == NULL || count == 0) {
        return hostrt_refuse(VX_ERROR_INVALID_PARAMETERS, __func__,
                             "name or value is NULL, or count is 0");
    }
    struct hostrt_uniform *uniform = find_uniform(node, name);
    if (uniform == NULL) {
        if (node->uniforms_declared) {
            return hostrt_refuse(VX_FAILURE, __func__, "the .vx file has no _viv_uniform '%s'",
                                 name);
        }
        uniform = new_uniform(node, name);
        if (uniform == NULL) {
            return VX_ERROR_NO_MEMORY;
        }
    }
    uniform->set = true;
    uniform->name = name;
    uniform->count = count;
    if (uniform->size > 0) {
        if (uniform->value == NULL) {
            uniform->value = __libc_malloc(uniform->size);
        }
        if (uniform->value == NULL) {
            return VX_ERROR_NO_MEMORY;
        }
        hostrt_function = "vxSetNodeUniform";
        memcpy(uniform->value, value, uniform->size);
        hostrt_function = NULL;
    }
    return VX_SUCCESS;
}

vx_bool hostrt_uniform(vx_node node, vx_size index, const vx_char **name, vx_size *count,
                       const void **value, vx_size *size)
{
    if (!hostrt_is(node, VX_TYPE_NODE) || index >= node->uniform_count) {
        return vx_false_e;
    }
    const struct hostrt_uniform *uniform = &node->uniforms[index];
    *name = uniform->copy;
    *count = uniform->set ? uniform->count : 0;
    *value = uniform->set ? uniform->value : NULL;
    *size = uniform->size;
    return vx_true_e;
}

/* There is no program binary in which to select a function. */
vx_status vxSelectKernelSubname(vx_node node, const vx_char *name)
{
    if (!hostrt_is(node, VX_TYPE_NODE) || name == NULL) {
        hostrt_log_crash(__func__, "the node is not valid, or the name is NULL");
        return VX_ERROR_INVALID_PARAMETERS;
    }
    return VX_SUCCESS;
}

/* ---- Meta formats, which validators set: accepted, and not compared with the outputs ---- */

/* An attribute that a meta has, and the sizes that the driver takes. */
struct meta_attribute {
    vx_enum type; /* of the output */
    vx_enum attribute;
    vx_size min; /* bytes */
    vx_size max;
};

static const struct meta_attribute *find_meta_attribute(vx_enum type, vx_enum attribute)
{
    static const struct meta_attribute ATTRIBUTES[] = {
        {VX_TYPE_TENSOR, VX_TENSOR_NUMBER_OF_DIMS, sizeof(vx_uint32), sizeof(vx_uint32)},
        {VX_TYPE_TENSOR, VX_TENSOR_DIMS, 0, HOSTRT_MAX_RANK * sizeof(vx_size)},
        {VX_TYPE_TENSOR, VX_TENSOR_DATA_TYPE, sizeof(vx_enum), sizeof(vx_enum)},
        {VX_TYPE_TENSOR, VX_TENSOR_FIXED_POINT_POSITION, sizeof(vx_int8), sizeof(vx_int8)},
        {VX_TYPE_SCALAR, VX_SCALAR_TYPE, sizeof(vx_enum), sizeof(vx_enum)},
        {VX_TYPE_ARRAY, VX_ARRAY_ITEMTYPE, sizeof(vx_enum), sizeof(vx_enum)},
        {VX_TYPE_ARRAY, VX_ARRAY_CAPACITY, sizeof(vx_size), sizeof(vx_size)},
    };
    for (size_t i = 0; i < dimof(ATTRIBUTES); i++) {
        if (ATTRIBUTES[i].type == type && ATTRIBUTES[i].attribute == attribute) {
            return &ATTRIBUTES[i];
        }
    }
    return NULL;
}

vx_status vxSetMetaFormatAttribute(vx_meta_format meta, vx_enum attribute, const void *value,
                                   vx_size size)
{
    if (!hostrt_is(meta, VX_TYPE_META_FORMAT)) {
        return VX_ERROR_INVALID_REFERENCE;
    }
    const struct meta_attribute *found = find_meta_attribute(meta->described, attribute);
    if (found == NULL) {
        return VX_ERROR_INVALID_TYPE;
    }
    if (size < found->min || size > found->max) {
        return VX_ERROR_INVALID_PARAMETERS;
    }
    if (value == NULL) {
        hostrt_log_crash(__func__, "value is NULL");
        return VX_ERROR_INVALID_PARAMETERS;
    }
    return VX_SUCCESS;
}

vx_status vxSetMetaFormatFromReference(vx_meta_format meta, vx_reference reference)
{
    return hostrt_is(meta, VX_TYPE_META_FORMAT) && hostrt_is(reference, VX_TYPE_REFERENCE)
               ? VX_SUCCESS
               : VX_ERROR_INVALID_REFERENCE;
}
