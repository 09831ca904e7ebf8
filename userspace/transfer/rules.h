/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of zones: which client may transfer, notify and update, and the sieve that workers have
 * of these rules.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_RULES_H
#define VOLLEY_TRANSFER_RULES_H

#include "config/config.h"
#include "port/addr.h"
#include "transfer/transfer_thread.h"
#include "xfr/tsig_signature.h"

/* The client that asks. */
struct rules_client {
	struct port_addr addr;      /* IPv4 as such, also behind an IPv6 socket */
	const struct tsig_key *key; /* of t->remotes, that signed; NULL: none */
	bool is_tls;
};

/* Whether one of these rules holds: the prefix, the key and TLS, as far as it asks for them. */
bool rules_allow(const struct transfer *t, const struct config_rules *rules,
		 const struct rules_client *client);
/* Whether it is one of the zone's primaries, by address, and by key where that one has a key. */
bool rules_are_primary(const struct transfer *t, const struct transfer_zone *zone,
		       const struct rules_client *client);
/*
 * Makes the workers' sieve anew, soon: if 10,000 zones come together, it is made only a few times.
 */
void rules_change(struct transfer *t);
/* The workers have none any more. */
void rules_close(struct transfer *t);
int rules_open(struct transfer *t) __attribute__((warn_unused_result));

#endif
