/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a program of edits: their result must equal a zone that is built anew. Programs are
 * short, since a short program finds each fault that a long one finds.
 */
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

/* The model takes most of the time, and its branches do not interest the fuzzer. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif
#include "tests/unit/zone/edit_model.h"
#ifdef __clang__
#pragma clang attribute pop
#endif

#define OCTETS_MAX   200u
#define VERSIONS_MAX 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replaces libc's: each run of an input takes the same path, also in hash tables. */
ssize_t getrandom(void *buf, size_t n, unsigned int flags)
{
	(void)flags;
	memset(buf, 1, n);
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	model_run(data, size < OCTETS_MAX ? size : OCTETS_MAX, VERSIONS_MAX);
	return 0;
}
