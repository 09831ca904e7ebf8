/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transaction signatures: RFC 8945, HMAC with SHA-256, SHA-384 and SHA-512.
 *
 * One struct tsig is one transaction, seen from one side; it keeps what the next MAC needs from the
 * one before:
 *
 *      client   tsig_init(key) ─► tsig_sign(request) ─► tsig_verify(reply) ... tsig_verify(reply n)
 *      server   tsig_verify_request(keys)            ─► tsig_sign(reply)   ... tsig_sign(reply n)
 *
 * The first reply's MAC covers the request's MAC. In a stream each later MAC covers the MAC before
 * it (section 5.3.1). A stream may leave messages unsigned: the next signature covers them. At most
 * 99 messages in a row may be unsigned, and the last message must be signed: tsig_is_complete().
 *
 * A server calls tsig_sign() also after a failed verification: it then adds the record that names
 * the error, unsigned or signed as section 5.3.2 demands.
 *
 * Keys never change, and any thread may use them. A transaction is used by one thread at a time.
 * now_s is wall time, seconds since 1970.
 */
#ifndef VOLLEY_XFR_TSIG_SIGNATURE_H
#define VOLLEY_XFR_TSIG_SIGNATURE_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "dns/tsig_record.h"
#include "xfr/tsig_algorithm.h"

#define TSIG_MAC_MAX      64  /* octets, SHA-512 */
#define TSIG_FUDGE_S      300 /* RFC 8945 section 10 */
#define TSIG_UNSIGNED_MAX 99  /* messages between two signatures: section 5.3.1 */
#define TSIG_SECRET_MAX   1024
/* The most that tsig_sign() adds to a message. */
#define TSIG_MAX (2 * DNS_NAME_MAX + DNS_RR_FIXED_BYTES + 16 + TSIG_MAC_MAX + 6)

/* One key, from which tsig_keys_new() makes a row of its table. */
struct tsig_key_source {
	const uint8_t *name; /* checked wire name, any case */
	enum tsig_algorithm algorithm;
	const uint8_t *secret;
	size_t secret_bytes; /* 1..TSIG_SECRET_MAX */
	/* Policy: shorter MACs are BADTRUNC; 0: half the digest is enough. */
	unsigned int mac_min_bytes;
};

/* A key of a table; it is valid as long as the table. Only hmac has the secret. */
struct tsig_key {
	uint8_t name[NAME_FOLDED_BYTES]; /* folded wire */
	unsigned int name_bytes;
	enum tsig_algorithm algorithm;
	unsigned int mac_min_bytes;
	EVP_MAC_CTX *hmac; /* has the secret; each MAC uses a copy */
};

struct tsig_keys;

/*
 * Makes a table, sorted by name, from copies of the sources. n may be 0. Returns 0, -ENOMEM,
 * -EINVAL (a secret has a wrong length), -EEXIST (two keys have the same name, which is an error
 * even if the algorithms differ), or -ENOTSUP (OpenSSL lacks this digest).
 */
int tsig_keys_new(struct tsig_keys **out, const struct tsig_key_source *sources, size_t n)
	__attribute__((warn_unused_result));
/* Wipes the secrets. No transaction may still use one of the keys. NULL is allowed. */
void tsig_keys_free(struct tsig_keys *keys);
/* The key of this name (wire, any case), or NULL. keys may be NULL. O(log n); any thread. */
const struct tsig_key *tsig_keys_find(const struct tsig_keys *keys, const uint8_t *name);

/* name, the record's error field, text */
#define TSIG_VERDICTS(X)                                                     \
	X(OK, 0, "the signature holds")                                      \
	X(NONE, 0, "the message is not signed")                              \
	X(FORMERR, 0, "the TSIG record is malformed or not the last record") \
	X(BADKEY, DNS_RCODE_BADKEY, "the key or its algorithm is not known") \
	X(BADSIG, DNS_RCODE_BADSIG, "the signature does not hold")           \
	X(BADTIME, DNS_RCODE_BADTIME,                                        \
	  "the signature's time is not ours: one of the clocks is wrong")    \
	X(BADTRUNC, DNS_RCODE_BADTRUNC, "the signature is cut too short")    \
	X(REMOTE, 0, "the other side says that our signature does not hold") \
	X(UNSIGNED, 0, "too many messages of the stream are not signed")     \
	X(NOMEM, 0, "OpenSSL has no memory")

enum tsig_verdict {
#define TSIG_VERDICT(name, error, words) TSIG_##name,
	TSIG_VERDICTS(TSIG_VERDICT)
#undef TSIG_VERDICT
};

/* Errors that the other side may send: RFC 8945 section 5.2. If it lacks the algorithm, it sends
 * BADKEY; nsd sends BADSIG. */
#define TSIG_REMOTE_ERRORS(X)                                                                   \
	X(BADKEY, "the other side does not know our key, or has another algorithm for it")      \
	X(BADSIG, "the other side has another secret or algorithm for our key")                 \
	X(BADTIME, "the other side has another time: one of the clocks is wrong: compare both") \
	X(BADTRUNC, "the other side says that our signature is cut too short")

/* The text of a verdict; for TSIG_REMOTE, the text of remote_error (of struct tsig). Static. */
const char *tsig_verdict_text(enum tsig_verdict verdict, uint16_t remote_error);

/* A transaction. Caller's storage; tsig_init() or tsig_verify_request() begins it. */
struct tsig {
	const struct tsig_key *key; /* NULL: unsigned, or the key is not known */
	EVP_MAC_CTX *hmac;          /* the running digest of a stream, or NULL */
	enum tsig_verdict verdict;  /* of the last verification */
	bool is_server;
	unsigned int n_replies;  /* signed or verified so far */
	unsigned int n_unsigned; /* messages since the last signature */
	uint16_t remote_error;   /* with TSIG_REMOTE: DNS_RCODE_BADKEY and so on */
	uint16_t mac_bytes;      /* length of mac, which the next MAC covers */
	uint8_t mac[TSIG_MAC_MAX];
	/* Server: of the request, for error records. Its pointers are not valid. */
	struct tsig_record request;
};

/* Client: begins a transaction. If key is NULL, it signs nothing and accepts unsigned replies. */
void tsig_init(struct tsig *t, const struct tsig_key *key);
/* Frees the running digest. A second call does nothing; a struct of zeros is allowed. */
void tsig_fini(struct tsig *t);

/*
 * Server: verifies a request of len octets, header included, and begins its transaction. The
 * message need not be well-formed. TSIG_NONE: it has no TSIG, t->key is NULL, and tsig_sign() will
 * add nothing. TSIG_FORMERR: answer FORMERR. Any other failure (TSIG_BADKEY ...): answer NOTAUTH
 * and call tsig_sign(). *body_bytes (may be NULL) is the length without the TSIG record, which
 * ARCOUNT still counts. The message is not changed. A MAC that is shorter than half the digest, or
 * than 10 octets, is FORMERR (section 5.2.2.1).
 */
enum tsig_verdict tsig_verify_request(struct tsig *t, const struct tsig_keys *keys,
				      const uint8_t *msg, size_t len, uint64_t now_s,
				      size_t *body_bytes) __attribute__((warn_unused_result));

/*
 * Client: verifies a reply, or the next message of a stream. An unsigned message is TSIG_OK if it
 * is not the first and the rules of streams allow it; so ask tsig_is_complete() before you use the
 * data. If the first message of a reply is unsigned, the result is TSIG_NONE. If the other side
 * refuses our signature, its reply has an unsigned TSIG: TSIG_REMOTE, with the error in
 * t->remote_error. Such a reply may be forged, so the caller goes on waiting if the transport
 * allows it. The same holds for all other failures before the first accepted reply, except BADTIME
 * and BADTRUNC. A failed verification ends a stream. With key NULL: TSIG_OK, or TSIG_FORMERR for a
 * message with a TSIG.
 */
enum tsig_verdict tsig_verify(struct tsig *t, const uint8_t *msg, size_t len, uint64_t now_s,
			      size_t *body_bytes) __attribute__((warn_unused_result));

/* True if the last verified message was signed, or if the transaction needs no signatures. */
static inline bool tsig_is_complete(const struct tsig *t)
{
	return !t->n_unsigned;
}

/*
 * Client: signs the request. Server: signs the next message of the reply; call it for each one. The
 * message has len octets in a buffer of cap octets, and is complete, with counts and rcode. The
 * record is appended and counted in ARCOUNT. Returns the new length (len if nothing is to be
 * signed), ERR_SPACE, or -ENOMEM; after an error the message is unchanged. tsig_room() says how
 * much room it needs.
 */
int tsig_sign(struct tsig *t, uint8_t *msg, size_t len, size_t cap, uint64_t now_s)
	__attribute__((warn_unused_result));

/* How many octets tsig_sign() will add, or 0. */
size_t tsig_room(const struct tsig *t);

/* The rcode of the reply to a request with this verdict: NOERROR, FORMERR, NOTAUTH or SERVFAIL. */
enum dns_rcode tsig_rcode(enum tsig_verdict verdict);

#endif
