#ifndef ${guard}
#define ${guard}

${helpers}

#endif
