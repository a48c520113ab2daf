/* What kinds there are, their options, and specs as text. */
#include "base/util/structs.h"
#include "index/kinds/choose.h"

uint32_t kr_kind_count(void)
{
    uint32_t n = 0;
    while (kr_kind_at(n))
        ++n;
    return n;
}

static uint32_t count_options(const kr_kind *kind)
{
    uint32_t n = 0;
    while (kr_spec_option_at(kind, n))
        ++n;
    return n;
}

static kr_status find_kind(uint32_t ordinal, const kr_kind **kind, kr_error *err)
{
    *kind = kr_kind_at(ordinal);
    return *kind ? KR_OK
                 : kr_fail(err, KR_ERR_SPEC, "there is no kind number %u: there are %u kinds", ordinal,
                           kr_kind_count());
}

kr_status kr_kind_query(uint32_t ordinal, kr_kind_info *info, kr_error *err)
{
    const kr_kind *kind;
    if (!info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_kind_query: info is NULL");
    kr_status status = kr_struct_check(&kr_struct_kind_info, info, err);
    if (status == KR_OK)
        status = find_kind(ordinal, &kind, err);
    if (status != KR_OK)
        return status;
    const kr_kind_info found = {
        .name = kind->name,
        .summary = kind->summary,
        .source = kind->source,
        .capabilities = kind->capabilities,
        .option_count = count_options(kind),
    };
    kr_struct_write(&kr_struct_kind_info, &found, info);
    return KR_OK;
}

kr_status kr_option_query(uint32_t kind, uint32_t option, kr_option_info *info, kr_error *err)
{
    const kr_kind *of;
    kr_option_info found;
    if (!info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_option_query: info is NULL");
    kr_status status = kr_struct_check(&kr_struct_option_info, info, err);
    if (status == KR_OK)
        status = find_kind(kind, &of, err);
    if (status != KR_OK)
        return status;
    const kr_option *row = kr_spec_option_at(of, option);
    if (!row)
        return kr_fail(err, KR_ERR_SPEC, "kind '%s' has no option number %u: it has %u options", of->name,
                       option, count_options(of));
    kr_option_describe(row, &found);
    found.is_common = option >= of->n_options;
    kr_struct_write(&kr_struct_option_info, &found, info);
    return KR_OK;
}

kr_status kr_spec_complete(const char *spec, char *text, size_t text_nbytes, kr_error *err)
{
    kr_spec parsed;
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_spec_complete: text is NULL");
    const kr_status status = kr_spec_resolve(NULL, spec, &parsed, NULL, err);
    return status == KR_OK ? kr_spec_format(&parsed, text, text_nbytes, err) : status;
}

kr_status kr_spec_shorten(const char *spec, char *text, size_t text_nbytes, kr_error *err)
{
    kr_spec parsed;
    if (!text)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_spec_shorten: text is NULL");
    const kr_status status = kr_spec_resolve(NULL, spec, &parsed, NULL, err);
    return status == KR_OK ? kr_spec_format_short(&parsed, text, text_nbytes, err) : status;
}
