/* The structs of the interface that may grow, read and written by the rules of keyray.h, "Structs". */
#ifndef KEYRAY_BASE_UTIL_STRUCTS_H
#define KEYRAY_BASE_UTIL_STRUCTS_H

#include "base/util/error.h"

/* A struct that may grow. */
typedef struct kr_struct {
    const char *name;
    size_t nbytes;       /* in this version */
    size_t first_nbytes; /* in the first release: smaller ones were never valid */
} kr_struct;

extern const kr_struct kr_struct_device_options, kr_struct_device_info, kr_struct_kind_info,
    kr_struct_option_info, kr_struct_estimate, kr_struct_explanation, kr_struct_index_info, kr_struct_sink,
    kr_struct_nearest_options, kr_struct_column_probes, kr_struct_join_options, kr_struct_join_info,
    kr_struct_table_options, kr_struct_table_info, kr_struct_scan_sink, kr_struct_scan_options,
    kr_struct_file_options, kr_struct_save_options, kr_struct_saved_options, kr_struct_saved_info,
    kr_struct_texts_info, kr_struct_advise_options, kr_struct_advice_info, kr_struct_advice_candidate;

/* Input: copies the caller's struct to *to, in this version's form. */
kr_status kr_struct_read(const kr_struct *type, const void *from, void *to, kr_error *err);

/* Output, before any work: checks the size that the caller set. */
kr_status kr_struct_check(const kr_struct *type, const void *to, kr_error *err);
/* Output: copies the fields of *from that the caller's struct has room for; fills the rest with 0. */
void kr_struct_write(const kr_struct *type, const void *from, void *to);

#endif
