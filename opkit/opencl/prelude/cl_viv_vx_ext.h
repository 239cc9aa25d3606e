/* Kernels include this; the compiler has everything from prelude.h already. */
