/*
 * Dot products that many VX kernels use, for opkit_set_uniform (launch.h). In the .vx file:
 *
 *     _viv_uniform VXC_512Bits low_halves_to_floats;
 *
 *     VXC_DP4x4(low, halves, halves, VXC_MODIFIER(0, 3, 0, VXC_RM_TowardZero, 0),
 *               low_halves_to_floats);
 *
 * and in the .c file:
 *
 *     opkit_set_uniform(call, "low_halves_to_floats", opkit_low_halves_to_floats)
 *
 * A and B are the first and the second operand. Written by rknn_op/runtimes/rknn/dot_products.py.
 */
#ifndef OPKIT_DOT_PRODUCTS_H
#define OPKIT_DOT_PRODUCTS_H

#include <VX/vx.h>

/* For VXC_DP4x4: elements 0 to 3 of A: halves become floats. */
static const vx_uint32 opkit_low_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00010000, 0x00030002, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP4x4: elements 4 to 7 of A: halves become floats. */
static const vx_uint32 opkit_high_halves_to_floats[16] = {
    0x01010101, 0x00000000, 0x00050004, 0x00070006, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP2x8: the elements of A, then those of B, which are half4: one half8. */
static const vx_uint32 opkit_pack_halves[16] = {
    0x11111111, 0x11110000, 0x06040200, 0x06040200, 0x22222222, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00, 0x00003C00};

/* For VXC_DP4x4: elements 0 to 3 of A: bytes become floats. */
static const vx_uint32 opkit_low_bytes_to_floats[16] = {
    0x01010101, 0x00000000, 0x00010000, 0x00030002, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP4x4: elements 4 to 7 of A: bytes become floats. */
static const vx_uint32 opkit_high_bytes_to_floats[16] = {
    0x01010101, 0x00000000, 0x00050004, 0x00070006, 0x02020202, 0x00000000, 0x00000000, 0x00000100,
    0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000, 0x00003C00, 0x00000000};

/* For VXC_DP2x8: the elements of A, then those of B, which are int4: 8 bytes. */
static const vx_uint32 opkit_pack_ints_to_bytes[16] = {
    0x33333333, 0x11110000, 0x03020100, 0x03020100, 0x00000000, 0x00000000, 0x00000000, 0x00002400,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000};

/* For VXC_DP4x4: A * B of elements 0 to 3, as floats. */
static const vx_uint32 opkit_low_products_of_halves[16] = {
    0x01010101, 0x00000000, 0x00010000, 0x00030002, 0x01010101, 0x00010000, 0x00030002, 0x00000100,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000};

/* For VXC_DP4x4: A * B of elements 4 to 7, as floats. */
static const vx_uint32 opkit_high_products_of_halves[16] = {
    0x01010101, 0x00000000, 0x00050004, 0x00070006, 0x01010101, 0x00050004, 0x00070006, 0x00000100,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000};

/* For VXC_DP16x1: the sum of the 8 halves of A. */
static const vx_uint32 opkit_sum_of_halves[16] = {
    0x00005555, 0x00000000, 0x76543210, 0x00000000, 0x0000AAAA, 0x00000000, 0x00000000, 0x00000100,
    0x3C003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00, 0x00000000, 0x00000000, 0x00000000, 0x00000000};

/* For VXC_DP16x1: the sum of A * B of all 8 halves. */
static const vx_uint32 opkit_dot_product_of_halves[16] = {
    0x00005555, 0x00000000, 0x76543210, 0x00000000, 0x00005555, 0x76543210, 0x00000000, 0x00000100,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000};

/* For VXC_DP16x1: the sum of the 16 bytes of A. */
static const vx_uint32 opkit_sum_of_bytes[16] = {
    0x55555555, 0x00000000, 0x76543210, 0xFEDCBA98, 0xAAAAAAAA, 0x00000000, 0x00000000, 0x00000700,
    0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001, 0x00010001};

#endif
