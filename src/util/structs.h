/* The structs of the interface that may grow, read and written by the rules of keyray.h, "Structs". */
#ifndef KEYRAY_UTIL_STRUCTS_H
#define KEYRAY_UTIL_STRUCTS_H

#include "util/error.h"

/* Which struct it is. */
typedef struct kr_struct {
    const char *name;
    size_t nbytes;       /* in this version */
    size_t first_nbytes; /* in the first release: smaller ones were never valid */
} kr_struct;

extern const kr_struct kr_struct_device_options, kr_struct_device_info, kr_struct_kind_info,
    kr_struct_option_info, kr_struct_estimate, kr_struct_explanation, kr_struct_index_info, kr_struct_sink,
    kr_struct_join_options, kr_struct_join_info;

/* Input: *to becomes what the caller gave, as this version has it. */
kr_status kr_struct_read(const kr_struct *type, const void *from, void *to, kr_error *err);

/* Output, before any work: whether the caller set a size that can be. */
kr_status kr_struct_check(const kr_struct *type, const void *to, kr_error *err);
/* Output: of *from, as this version has it, what the caller's struct has room for. */
void kr_struct_write(const kr_struct *type, const void *from, void *to);

#endif
