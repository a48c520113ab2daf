/* A kind: the name that a spec begins with, its options, and what it can do. Kinds of indexes have a family
 * (index/kinds/family.h), kinds of scans one of their own (table/family.h). */
#ifndef KEYRAY_INDEX_KINDS_KIND_H
#define KEYRAY_INDEX_KINDS_KIND_H

#include "index/kinds/spec.h"

struct kr_family;
struct kr_scan_family;

typedef struct kr_kind {
    const char *name;
    const char *summary;   /* one line */
    const char *source;    /* paper and section */
    uint32_t capabilities; /* KR_CAN_* */
    uint32_t n_options;
    const kr_option *options; /* its own: see kr_spec_option_at */
    /* Optional: refuses combinations of options, and sets options that were not given to values that fit the
     * others. Its result, printed with every option, must be accepted by a new parse. */
    kr_status (*settle)(kr_spec *spec, kr_error *err);
    const struct kr_family *family;    /* NULL: makes no index */
    const struct kr_scan_family *scan; /* of kinds of scans (table/family.h), else NULL */
    /* If the kind has KR_CAN_UPDATE only under an option: the spec with that option, for error texts. */
    const char *updates_with;
} kr_kind;

/* Kinds in the order of kinds.def; NULL past the last. */
const kr_kind *kr_kind_at(uint32_t ordinal);
/* Names of kinds that this build leaves out (CMake's KEYRAY_KINDS); NULL past the last. */
const char *kr_kind_left_out_at(uint32_t ordinal);
/* Writes the names of the kinds of this build, as KEYRAY_KINDS takes them: "array;pivot". */
void kr_kind_list(char *text, size_t text_nbytes);

/* KR_ERR_UNSUPPORTED if the kind lacks the capability (one KR_CAN_*); the text names kinds that have it. */
kr_status kr_kind_check(const kr_kind *kind, uint32_t capability, kr_error *err);

#endif
