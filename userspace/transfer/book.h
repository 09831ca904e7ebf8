/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The book: keys and other name servers, as one configuration has them. It never changes; another
 * configuration makes another book, and each exchange that runs keeps its book by a reference.
 *
 * Only the peers in it change (idle connections, TLS sessions, whether an address answers): they belong
 * to the loop's thread alone.
 *
 * Threads: made in control's; from then on the loop's, references too.
 */
#ifndef VOLLEY_TRANSFER_BOOK_H
#define VOLLEY_TRANSFER_BOOK_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "port/addr.h"
#include "transfer/peer.h"
#include "xfr/tsig_signature.h"

/* Another name server. */
struct book_remote {
	char *name;
	struct peer *peers; /* one for each address, in order */
	uint32_t n_peers;
	bool has_source4, has_source6;
	struct port_addr source4, source6; /* to ask from; port 0 unless said */
	const struct tsig_key *key;        /* of the book, or NULL */
	enum config_tls tls;
	char *tls_name; /* or NULL */
	bool has_pin;
	uint8_t pin[32];
	SSL_CTX *tls_ctx; /* NULL without TLS */
};

struct book {
	unsigned int n_refs;
	struct tsig_keys *keys;      /* tsig_keys_find() */
	struct book_remote *remotes; /* by name */
	uint32_t n_remotes;
	uint32_t n_transfers; /* at a time, in and out */
	uint32_t n_transfers_out;
};

/*
 * A book with one reference. 0; -ENOMEM; ERR_CONFIG with a sentence in @err: a key or a file of
 * certificates that cannot be used.
 */
int book_new(struct book **out, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
struct book *book_get(struct book *book); /* one reference more; returns it */
void book_put(struct book *book);         /* NULL is allowed */

/* NULL: it does not have one of that name, which is configuration's text. */
const struct tsig_key *book_key(const struct book *book, const char *name);
struct book_remote *book_remote(const struct book *book, const char *name);

/* Is it one of its addresses? Ports do not count. */
bool book_remote_has(const struct book_remote *remote, const struct port_addr *addr);

/* Our address for messages to this one; NULL: the kernel chooses. */
const struct port_addr *book_source(const struct book_remote *remote, const struct port_addr *to);

#endif
