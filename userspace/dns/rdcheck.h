/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of record data's fields without a fixed size: private to dns/rdata.c. Each function moves
 * the cursor after its field and returns true, or sets why. */
#ifndef VOLLEY_DNS_RDCHECK_H
#define VOLLEY_DNS_RDCHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "dns/rdtypes.h"

struct rdcheck {
	const uint8_t *at, *end;
	const char *why; /* static */
	/* values that a server only passes on may have any form (rdata_check_foreign()) */
	bool is_foreign;
};

static inline bool rdcheck_refuse(struct rdcheck *c, const char *why)
{
	c->why = why;
	return false;
}

static inline unsigned rdcheck_left(const struct rdcheck *c)
{
	return (unsigned)(c->end - c->at);
}

static inline bool rdcheck_skip(struct rdcheck *c, unsigned n)
{
	if (rdcheck_left(c) < n)
		return rdcheck_refuse(c, "it ends too early");
	c->at += n;
	return true;
}

typedef bool (*rdcheck_field)(struct rdcheck *c);

/* By enum rdata_field; NULL for RD_NAME and for fields of a fixed size. */
extern const rdcheck_field rdcheck_fields[RD_N_FIELDS];

#endif
