/*
 * Sends a kernel's calls for memory to the runtime that is linked with it, which guards it. Macros
 * would not do: C++ headers bring malloc into the namespace std, and undefine macros of its name.
 */
#pragma redefine_extname malloc guarded_malloc
#pragma redefine_extname calloc guarded_calloc
#pragma redefine_extname realloc guarded_realloc
#pragma redefine_extname free guarded_free
#pragma redefine_extname aligned_alloc guarded_aligned_alloc
#pragma redefine_extname posix_memalign guarded_posix_memalign
#pragma redefine_extname memalign guarded_aligned_alloc
