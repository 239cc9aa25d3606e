#ifndef ${guard}
#define ${guard}

${helpers}

${own}

#endif
