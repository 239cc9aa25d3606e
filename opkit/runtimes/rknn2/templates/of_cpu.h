/* Returns the same operator for the CPU, after librknnrt has refused that of the GPU. */
$function;

