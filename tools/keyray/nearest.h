/* The options of nearest keys, which lookups and as-of joins share. */
#ifndef KEYRAY_NEAREST_H
#define KEYRAY_NEAREST_H

#include "options.h"

#include <keyray/keyray.h>

typedef struct nearest_options {
    uint32_t side; /* 0: none was asked for; else kr_nearest_side */
    uint32_t strict;
    const char *tolerance; /* or NULL */
} nearest_options;

/* The rows of a command's table that set a nearest_options at `field` of the command's options; the command
 * adds the row of its own that sets `side`. */
#define NEAREST_ROWS(field)                                                                  \
    {"strict",                                                                               \
     0,                                                                                      \
     0,                                                                                      \
     OPTION_FLAG,                                                                            \
     (field) + offsetof(nearest_options, strict),                                            \
     NULL,                                                                                   \
     "an equal value is no answer",                                                          \
     0,                                                                                      \
     0},                                                                                     \
    {                                                                                        \
        "tolerance", 0, 0, OPTION_TEXT, (field) + offsetof(nearest_options, tolerance), "N", \
            "nor is one farther away than N, in the column's unit [any]", 0, 0               \
    }

/* Refuses --strict and --tolerance without `option`, which sets the side. */
int nearest_check(const nearest_options *options, const char *option);

/* For keys of this type; `source` names their column in errors. */
int nearest_read(const nearest_options *options, const char *source, kr_type type, kr_nearest_options *made);

/* Names the options instead of the library's fields. */
void nearest_rename(kr_error *err);

#endif
