#include "scans/table.h"

#include <string.h>

kr_status kr_scan_choose(const kr_device *device, const char *text, kr_spec *spec, const char **reason,
                         kr_error *err)
{
    const int is_best = text && strcmp(text, "best") == 0;
    (void)device;
    if (reason)
        *reason = is_best ? "reading every row once needs no structure, and its speed does not depend on the "
                            "condition"
                          : "asked for by name";
    const kr_status status = kr_spec_parse(is_best ? "full" : text, spec, err);
    if (status == KR_OK && !spec->kind->scan)
        return kr_fail(err, KR_ERR_UNSUPPORTED,
                       "kind '%s' makes an index of one column, not a table; use full", spec->kind->name);
    return status;
}
