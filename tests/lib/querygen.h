/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries without end, from a seed: most are what resolvers send, some are odd, some are broken.
 * They ask for names of zones/, the signed ones too, and of a zone that is generated, with chains
 * of CNAME, wildcards, delegations and RRsets of every size.
 *
 * Names, types and sizes come from small sets, so that a question comes again; the bits of a header
 * and of an OPT, the case of letters, options, and damage are drawn for each query.
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
	/* Makes a cookie of 24 octets, all drawn, one that somebody may have made; NULL: they
	 * stay. */
	void (*sign_cookie)(struct querygen *g, uint8_t value[24]);
};

/* A number from 0 to n - 1. */
uint32_t querygen_draw(struct querygen *g, uint32_t n);

/* The next query; its length. */
size_t querygen_next(struct querygen *g, uint8_t dns[QUERYGEN_BYTES_MAX]);

/* Writes the master file of QUERYGEN_ORIGIN, always the same. */
void querygen_write_zone(FILE *f);

#endif
