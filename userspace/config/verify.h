/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The setting zones[].verify: a command of the operator that must accept a new version of a zone
 * before it is served. config/verify_run.h runs it.
 */
#ifndef VOLLEY_CONFIG_VERIFY_H
#define VOLLEY_CONFIG_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verify {
	char **argv;        /* ended by NULL; NULL: no command, and each version is accepted */
	uint32_t timeout_s; /* at least 1 */
};

/* 0 or -ENOMEM. */
int verify_copy(struct verify *to, const struct verify *from) __attribute__((warn_unused_result));
void verify_fini(struct verify *verify);
bool verify_equal(const struct verify *a, const struct verify *b);

/* A hash of the words of the command, the same in each process. Pure. */
uint64_t verify_digest(const struct verify *verify);

#endif
