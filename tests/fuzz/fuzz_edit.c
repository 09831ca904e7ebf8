/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a program of edits: what they lead to must be what a zone built anew is. Programs
 * are short, since what a long one does some short one does as well.
 */
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

/* The model takes most of the time, and which way it went is nothing to a fuzzer. */
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

/* In place of libc's: a program takes the same way each time, hash tables included. */
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
