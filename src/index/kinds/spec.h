/* Spec strings: "array:layout=aos,probes=sorted" parsed against the option tables of the kinds. */
#ifndef KEYRAY_INDEX_KINDS_SPEC_H
#define KEYRAY_INDEX_KINDS_SPEC_H

#include "index/kinds/option.h"

enum { KR_SPEC_OPTIONS = 24, KR_SPEC_TEXT_NBYTES = 240 };

/* The options that every kind has; they are applied outside the families. */
enum { KR_COMMON_PROBES, KR_COMMON_COUNT };
enum { KR_PROBES_AS_IS, KR_PROBES_SORTED, KR_PROBES_PARTITIONED, KR_PROBES_AUTO };
extern const kr_option kr_common_options[KR_COMMON_COUNT];

typedef struct kr_spec {
    const struct kr_kind *kind;
    int64_t options[KR_SPEC_OPTIONS]; /* the kind's own, by position in its table */
    int64_t common[KR_COMMON_COUNT];
    uint32_t given;                 /* bit i: option i of kr_spec_option_at was in the text */
    char text[KR_SPEC_TEXT_NBYTES]; /* the value of the option of form TEXT, unless it is a word */
} kr_spec;

/* The kind's own options, then the common ones; NULL past the last. At most 32. */
const kr_option *kr_spec_option_at(const struct kr_kind *kind, uint32_t position);

/* Calls the kind's settle last. "best" is not a spec: index/kinds/choose.h resolves it first. */
kr_status kr_spec_parse(const char *text, kr_spec *spec, kr_error *err);
/* KR_ERR_SPEC for the name of a kind that this build leaves out (CMake's KEYRAY_KINDS), else KR_OK. */
kr_status kr_spec_fail_left_out(kr_text name, kr_error *err);
/* Every option filled in; KR_ERR_LIMIT when it does not fit. */
kr_status kr_spec_format(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err);
/* Without the options that the text does not need to mean the same. */
kr_status kr_spec_format_short(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err);

#endif
