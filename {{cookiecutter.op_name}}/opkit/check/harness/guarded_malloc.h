/*
 * Sends the calls of a C++ source for memory to the host runtime, which guards it. For C the names
 * are macros; C++ headers bring malloc into the namespace std, and undefine macros of its name.
 */
#pragma redefine_extname malloc hostrt_malloc
#pragma redefine_extname calloc hostrt_calloc
#pragma redefine_extname realloc hostrt_realloc
#pragma redefine_extname free hostrt_free
#pragma redefine_extname aligned_alloc hostrt_aligned_alloc
#pragma redefine_extname posix_memalign hostrt_posix_memalign
