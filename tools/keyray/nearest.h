/* The options of nearest keys, which lookups and as-of joins share. */
#ifndef KEYRAY_NEAREST_H
#define KEYRAY_NEAREST_H

#include "tools/terminal/options.h"

#include <keyray/keyray.h>

typedef struct nearest_options {
    uint32_t side; /* 0: none was asked for; else kr_nearest_side */
    uint32_t strict;
    const char *tolerance; /* or NULL */
} nearest_options;

/* The rows of a command's table that set a nearest_options at `field` of the command's options; the command
 * adds the row of its own that sets `side`. */
#define NEAREST_ROWS(field)                                                                                  \
    {"strict", 0, 0, OPTION_FLAG, (field) + offsetof(nearest_options, strict), NULL, "exclude equal values", \
     0,        0},                                                                                           \
    {                                                                                                        \
        "tolerance", 0, 0, OPTION_TEXT, (field) + offsetof(nearest_options, tolerance), "N",                 \
            "ignore matches farther than N: a number, or for dates and times a duration in "                 \
            "ns, us, ms, s, min, h or d, as in 5s or 1.5h; without a unit, N counts days "                   \
            "for dates, us for times of text files, and otherwise the unit of the file "                     \
            "[any distance]",                                                                                \
            0, 0                                                                                             \
    }

/* Refuses --strict and --tolerance without `option`, which sets the side. */
int nearest_check(const nearest_options *options, const char *option);

/* For keys of this type and unit; `source` names their column in errors. */
int nearest_read(const nearest_options *options, const char *source, kr_type type, kr_unit unit,
                 kr_nearest_options *made);

/* Names the options instead of the library's fields. */
void nearest_rename(kr_error *err);

#endif
