/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aliases whose target an upstream left out, as servers do that are authoritative for the alias
 * alone. The forwarder asks for the target; a chain collects the aliases that were found before.
 *
 *	reply ─► forward_chain_add() ─┬─ WHOLE ─► the answer: the message, with the chain before it
 *	  ▲                           ├─ OPEN ──► the question for chain->target
 *	  │                           └─ FAILED: a loop, too many, too long, no memory
 *	  └───────────────────────────────┘
 *
 * The chain is a message of its own, with the question's own name and no compressed names. It is no
 * longer than a message may be. Memory is allocated only for answers of this kind. One thread.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_CHAIN_H
#define VOLLEY_RESOLVER_FORWARD_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

#define FORWARD_CHAIN_ASKED 11 /* targets that are asked for, as many as unbound does */
#define FORWARD_CHAIN_STEPS 16 /* aliases in one message that are followed, as in zones */
/*
 * A message with more records, of answer and authority section, is taken as whole: its aliases are
 * not followed, since each alias takes a walk over all records. Aliases with their signatures and
 * proofs have far fewer.
 */
#define FORWARD_CHAIN_RECORDS 256

struct forward_chain {
	uint8_t target[NAME_FOLDED_BYTES]; /* where it ends, folded */
	unsigned int n_asked;
	bool is_all; /* the chain is the whole answer: nothing comes behind it */
	size_t n;    /* octets */
	size_t answers_end;
	size_t cap;
	uint8_t *bytes;
};

enum forward_chain_state {
	FORWARD_CHAIN_WHOLE,
	FORWARD_CHAIN_OPEN,
	FORWARD_CHAIN_FAILED,
};

/*
 * Takes an answer of n octets, which forward_message_read() has read, with one question: this name
 * (folded) and qtype. *chain is NULL, or what this function made of the answers before. WHOLE: if
 * *chain is NULL, the message is the whole answer; else the chain and then the message, or the
 * chain alone (is_all). A DNAME without its CNAME gets it (RFC 6672 section 2.2).
 */
enum forward_chain_state forward_chain_add(struct forward_chain **chain, const uint8_t *msg,
					   size_t n, const uint8_t *name, uint16_t qtype)
	__attribute__((warn_unused_result));

/* Appends a message to the chain, so that both are in one piece. 0 or -ENOMEM. */
int forward_chain_append(struct forward_chain *chain, const uint8_t *msg, size_t n)
	__attribute__((warn_unused_result));

void forward_chain_free(struct forward_chain *chain); /* NULL is allowed */

#endif
