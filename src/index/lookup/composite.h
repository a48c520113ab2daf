/* Lookups in an index over several columns: probes become keys, then it is a lookup like any other. */
#ifndef KEYRAY_INDEX_LOOKUP_COMPOSITE_H
#define KEYRAY_INDEX_LOOKUP_COMPOSITE_H

#include "index/kinds/composite.h"
#include "index/lookup/query.h"

/* Probes of the first n columns, in device memory. Equal in all of them; or with bounds, or a nearest key, in
 * the last of them. */
typedef struct kr_composite_probes {
    kr_column columns[KR_COMPOSITE_MOST];
    kr_column upper; /* of bounds: `columns` has the lower ones */
    uint32_t n;
    uint32_t has_upper;
    kr_nearby near; /* of values of the last one; how 0: no nearest key is asked for */
    uint32_t how;   /* of texts in the last one: kr_texts_bound; 0: as above. Not for kr_query_* */
} kr_composite_probes;

/* KR_ERR_UNSUPPORTED for neighbours whose distances the index cannot tell. */
kr_status kr_query_check_composite(const kr_index *index, const kr_composite_probes *probes, kr_error *err);

/* Makes the keys, in scratch memory: keys[1] are upper bounds, without data if there are none. */
void kr_query_make_composite(kr_work *work, const kr_index *index, const kr_composite_probes *probes,
                             kr_column keys[2], kr_query *query);

#endif
