/*
 * Col2Im on the GPU, in OpenCL C 1.2: one work item for each pixel of output, which adds the
 * elements of all blocks that lie on it, in the order of a block's elements.
 *
 * Images have 4 dimensions; those of fewer dimensions have a size of 1 in the first ones.
 *
 * The arguments are input and output, then what col2im_gpu.h adds.
 */

/* One dimension of the image, as in col2im_gpu.h. */
struct dimension {
    int image; /* the size of the image */
    int block; /* elements of a block */
    int dilation;
    int stride;
    int pad; /* before the image */
    int blocks;
};

/*
 * Returns the block whose element lies on a pixel, along one dimension; -1: none.
 *
 *   element    of the block: its first one is 0
 */
int find_block(__global const struct dimension *dimension, int pixel, int element)
{
    const int place = pixel + dimension->pad - element * dimension->dilation;
    const int block = place / dimension->stride;

    if (place < 0 || block * dimension->stride != place || block >= dimension->blocks) {
        return -1;
    }
    return block;
}

__kernel void col2im_kernel(
    __global const float *input,
    __global float *output,
    __global const struct dimension *dimensions,
    const int channels, /* of all images */
    const int elements, /* of a block */
    const int blocks,
    const int pixels)
{
    __global const struct dimension *a = dimensions, *b = a + 1, *c = a + 2, *d = a + 3;
    const int pixel = (int)get_global_id(0);
    const int channel = (int)get_global_id(1);

    if (pixel >= pixels || channel >= channels) {
        return;
    }
    /* The place of the pixel along each dimension. */
    const int in_d = pixel % d->image;
    const int in_c = pixel / d->image % c->image;
    const int in_b = pixel / d->image / c->image % b->image;
    const int in_a = pixel / d->image / c->image / b->image;
    float sum = 0.0f;

    input += channel * elements * blocks;
    for (int i = 0; i < a->block; i++) {
        const int block_a = find_block(a, in_a, i);

        for (int j = 0; block_a >= 0 && j < b->block; j++) {
            const int block_b = find_block(b, in_b, j);

            for (int k = 0; block_b >= 0 && k < c->block; k++) {
                const int block_c = find_block(c, in_c, k);
                const int row = (block_a * b->blocks + block_b) * c->blocks + block_c;
                const int first = ((i * b->block + j) * c->block + k) * d->block;

                for (int l = 0; block_c >= 0 && l < d->block; l++) {
                    const int block_d = find_block(d, in_d, l);

                    if (block_d >= 0) {
                        sum += input[(first + l) * blocks + row * d->blocks + block_d];
                    }
                }
            }
        }
    }
    output[channel * pixels + pixel] = sum;
}
