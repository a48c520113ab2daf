/* Indexes and tables in files. Beside what the library saves, attachments say what SQL knows of them. */
#ifndef KEYRAY_DUCKDB_SAVED_H
#define KEYRAY_DUCKDB_SAVED_H

#include "registry.h"

kr_status saved_save(registry *in, const item *saved, const char *path, kr_error *err);
/* An item that no registry has yet, of the name; its caller has the one use of it. */
kr_status saved_load(registry *in, const char *name, const char *path, item **loaded, kr_error *err);

#endif
