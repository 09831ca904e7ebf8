/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An endless stream of queries from a seed: most are like those of resolvers, some are odd, some
 * are malformed. They ask for names of zones/, with the signed ones, and of a generated zone with
 * CNAME chains, wildcards, delegations and RRsets of every size.
 *
 * Names, types and sizes come from small sets, so that questions repeat; the bits of header and
 * OPT, the case of letters, options and damage are drawn for each query.
 */
#ifndef VOLLEY_TESTS_LIB_QUERYGEN_H
#define VOLLEY_TESTS_LIB_QUERYGEN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define QUERYGEN_BYTES_MAX 800
#define QUERYGEN_ORIGIN    "gen.test"
#define QUERYGEN_NSEC      "signed-nsec.example"
#define QUERYGEN_NSEC3     "signed-nsec3.example"

struct querygen {
	uint64_t state; /* any but 0 */
	/* May replace the random octets of a cookie by a signed one; NULL: they stay. */
	void (*sign_cookie)(struct querygen *g, uint8_t value[24]);
};

/* A number from 0 to n - 1. */
uint32_t querygen_draw(struct querygen *g, uint32_t n);

/* The next query; its length. */
size_t querygen_next(struct querygen *g, uint8_t dns[QUERYGEN_BYTES_MAX]);

/* Writes the master file of QUERYGEN_ORIGIN, always the same. */
void querygen_write_zone(FILE *f);

#endif
