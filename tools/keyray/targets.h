/* Files that a call writes: none of them may be one that it reads, and their folders are there. */
#ifndef KEYRAY_TARGETS_H
#define KEYRAY_TARGETS_H

#include "tools/terminal/options.h"

/* Refuses the file of `option`, before anything is read, if it would replace an input of the call (a column
 * of any option, a saved index, or standard input that is a file), or if its folder is not there. Links and
 * other names of one file count. Of OUT.npy the files OUT<suffix>.npy are written, "" for itself; other forms
 * have the suffix "" only. */
int targets_check(const char *option, const char *path, const char *const *suffixes, uint32_t n,
                  const option_group *groups, uint32_t n_groups);
/* The same of the FILE.krx of `option`, or of none. It may be that of --index: a saved index that is open
 * stays as it was while its file is replaced. */
int targets_check_saved(const char *option, const char *path, const option_group *groups, uint32_t n_groups);

#endif
