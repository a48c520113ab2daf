/* What kinds there are, and specs as text. */
#include "kinds/choose.h"

kr_status kr_kind_list(uint32_t ordinal, kr_kind_info *info, kr_error *err)
{
    const kr_kind *kind = kr_kind_at(ordinal);
    if (!info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_kind_list: info is NULL");
    if (!kind)
        return kr_fail(err, KR_ERR_SPEC, "there is no kind number %u", ordinal);
    *info = kind->info;
    info->n_common_options = kind->family ? KR_COMMON_COUNT : 0;
    info->common_options = kr_common_options;
    return KR_OK;
}

kr_status kr_spec_print(const char *spec, char *text, size_t text_nbytes, kr_error *err)
{
    kr_spec parsed;
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_spec_print: text is NULL");
    const kr_status status = kr_choose(NULL, spec, &parsed, NULL, err);
    return status == KR_OK ? kr_spec_format(&parsed, text, text_nbytes, err) : status;
}
