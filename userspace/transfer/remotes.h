/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remotes: other name servers and keys, as one configuration has them. They never change; another
 * configuration makes others, and each exchange that runs keeps its remotes by a reference.
 *
 * Only the peers in it change (idle connections, TLS sessions, whether an address answers): they
 * belong to the loop's thread alone.
 *
 * Threads: made in control's; from then on the loop's, references too.
 */
#ifndef VOLLEY_TRANSFER_REMOTES_H
#define VOLLEY_TRANSFER_REMOTES_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "port/addr.h"
#include "transfer/peer.h"
#include "xfr/tsig_signature.h"

/* Another name server. */
struct remote {
	char *name;
	struct peer *peers; /* one for each address, in order */
	uint32_t n_peers;
	bool has_source4, has_source6;
	struct port_addr source4, source6; /* to ask from; port 0 unless said */
	const struct tsig_key *key;        /* of the remotes, or NULL */
	enum config_tls tls;
	char *tls_name; /* or NULL */
	bool has_pin;
	uint8_t pin[32];
	SSL_CTX *tls_ctx; /* NULL without TLS */
};

struct remotes {
	unsigned int n_refs;
	struct tsig_keys *keys; /* tsig_keys_find() */
	struct remote *list;    /* by name */
	uint32_t n;
	uint32_t n_transfers; /* at a time, in and out */
	uint32_t n_transfers_out;
};

/*
 * Remotes with one reference. 0; -ENOMEM; ERR_CONFIG with a sentence in @err: a key or a file of
 * certificates that cannot be used.
 */
int remotes_new(struct remotes **out, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
struct remotes *remotes_get(struct remotes *remotes); /* one reference more; returns it */
void remotes_put(struct remotes *remotes);            /* NULL is allowed */

/* NULL: it does not have one of that name, which is configuration's text. */
const struct tsig_key *remotes_key(const struct remotes *remotes, const char *name);
struct remote *remotes_find(const struct remotes *remotes, const char *name);

/* Is it one of its addresses? Ports do not count. */
bool remote_has(const struct remote *remote, const struct port_addr *addr);

/* Our address for messages to this one; NULL: the kernel chooses. */
const struct port_addr *remote_source(const struct remote *remote, const struct port_addr *to);

#endif
