#include "nearest.h"
#include "tool.h"

#include <errno.h>
#include <stdlib.h>

int nearest_check(const nearest_options *options, const char *option)
{
    if (!options->side && (options->strict || options->tolerance))
        return tool_fail(USAGE, "--%s needs %s", options->strict ? "strict" : "tolerance", option);
    return DONE;
}

int nearest_read(const nearest_options *options, const char *source, kr_type type, kr_nearest_options *made)
{
    const char *text = options->tolerance;
    const int is_float = type == KR_F32 || type == KR_F64;
    char *end = NULL;
    *made = (kr_nearest_options){.struct_size = sizeof *made,
                                 .side = (kr_nearest_side)options->side,
                                 .strict = options->strict,
                                 .limited = text != NULL};
    if (!text)
        return DONE;
    errno = 0;
    if (is_float)
        made->float_tolerance = strtod(text, &end);
    else
        made->tolerance = strtoll(text, &end, 10);
    if (end == text || *end)
        return tool_fail(USAGE, "--tolerance %s is no %s, and %s is %s", text,
                         is_float ? "number" : "whole number", source, kr_type_name(type));
    if (errno == ERANGE && !is_float)
        return tool_fail(USAGE,
                         "--tolerance %s is more than 9223372036854775807 or less than 0; leave it out for "
                         "any distance",
                         text);
    return DONE;
}

void nearest_rename(kr_error *err)
{
    tool_rename(err, "kr_nearest_options.tolerance", "--tolerance");
    tool_rename(err, "kr_nearest_options.float_tolerance", "--tolerance");
}
