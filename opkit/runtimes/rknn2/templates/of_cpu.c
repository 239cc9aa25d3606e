
$function
{
    static rknn_custom_op custom_op;

    custom_op = *${lower}_custom_op();
    custom_op.compute = compute_callback;
    opkit_target_cpu(&custom_op);
    return &custom_op;
}
