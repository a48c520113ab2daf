/* The list of specs, made of the tables of kinds and options. */
#ifndef KEYRAY_TESTS_SPECS_H
#define KEYRAY_TESTS_SPECS_H

#include "suite.h"

#include "index/kinds/kind.h"
#include "index/kinds/option.h"

/* 1 when the words, with spaces between, have this one. */
int kr_has_word(const char *words, const char *word);
/* 1: the option says how a GPU's kernels run. */
int kr_option_is_for_gpu(const kr_option *option);

#endif
