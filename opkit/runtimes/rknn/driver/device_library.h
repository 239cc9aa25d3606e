/* The device library of an operator, in a program that publishes it. */
#ifndef OPKIT_RKNN_DEVICE_LIBRARY_H
#define OPKIT_RKNN_DEVICE_LIBRARY_H

extern const char device_operator[]; /* the operator's name */
extern const char device_library[]; /* the bytes of the library, an ELF file */
extern const char device_library_end[];

#endif
