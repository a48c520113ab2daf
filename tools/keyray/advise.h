/* What keyray advise found, and how it is shown. */
#ifndef KEYRAY_ADVISE_COMMAND_H
#define KEYRAY_ADVISE_COMMAND_H

#include "tools/terminal/output.h"

#include <keyray/keyray.h>

enum { ADVISE_MOST = 64 };

/* The advice, copied. */
typedef struct advise_found {
    kr_advice_info info;
    kr_advice_candidate at[ADVISE_MOST];
    uint32_t n; /* of them */
    int is_table;
    char subject[128]; /* "keys.npy", or "orders.csv:day and 2 more columns" */
} advise_found;

void advise_print(const advise_found *found, const output_options *printing);
/* The plot as SVG, as new memory of *nbytes; NULL: there is none, and that was said. */
char *advise_svg(const advise_found *found, size_t *nbytes);

#endif
