/*
 * The math of $name on the GPU, in OpenCL C 1.2: one work item for each element of $output.
 *
 * Tensors are dense arrays of float, in numpy's order. The arguments are the inputs and the outputs
 * in the order of op.yml, then what $launch adds, such as sizes.
 */
$declaration
{
    const int $i = (int)get_global_id(0);

    /* Write the real math here. Until then, each output is a copy of the first input. */
    if ($i < $count) {
$copies
    }
}
