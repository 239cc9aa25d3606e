/*
 * Redirects a kernel's memory functions to the guarded ones of the linked runtime. Macros would not
 * work: C++ headers declare malloc in the namespace std, and undefine macros of its name.
 */
#pragma redefine_extname malloc guarded_malloc
#pragma redefine_extname calloc guarded_calloc
#pragma redefine_extname realloc guarded_realloc
#pragma redefine_extname free guarded_free
#pragma redefine_extname aligned_alloc guarded_aligned_alloc
#pragma redefine_extname posix_memalign guarded_posix_memalign
#pragma redefine_extname memalign guarded_aligned_alloc
#pragma redefine_extname strdup guarded_strdup
#pragma redefine_extname strndup guarded_strndup
#pragma redefine_extname getline guarded_getline
#pragma redefine_extname getdelim guarded_getdelim
#pragma redefine_extname vasprintf guarded_vasprintf
#pragma redefine_extname asprintf guarded_asprintf
