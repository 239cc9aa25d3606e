/*
 * The device library of an operator, byte for byte as in its package, in a program that publishes
 * it as the boards' runtime does. DEVICE_LIBRARY is its path; OPERATOR_NAME is the operator's name.
 */
#include "device_library.h"

#define TEXT(word) TEXT_OF(word)
#define TEXT_OF(word) #word

const char device_operator[] = TEXT(OPERATOR_NAME);

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".global device_library\n"
        "device_library:\n"
        ".incbin \"" TEXT(DEVICE_LIBRARY) "\"\n"
                                          ".global device_library_end\n"
                                          "device_library_end:\n"
                                          ".byte 0\n"
                                          ".text\n");
