/* Generated from op.yml and the math by opkit. Do not edit: the next build overwrites it. */
/* ${name} on the GPU, in OpenCL C 1.2: ${lower}_scalar.h, one work item for each element. */

struct ${lower}_params {
$members
};

$scalar

$place$declaration
{
    const int $i = (int)get_global_id(0);
    const struct ${lower}_params $params = {$values};

    if ($i < $count) {
$call
    }
}
