#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

kr_status fail(kr_error *err, kr_status status, const char *text, ...)
{
    va_list list;
    va_start(list, text);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, text, list);
    va_end(list);
    return status;
}
