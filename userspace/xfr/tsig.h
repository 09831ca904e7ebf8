/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transaction signatures: RFC 8945, HMAC with SHA-256, SHA-384 and SHA-512.
 *
 * One struct tsig is one transaction, seen from one side; it carries what one MAC hands to the next:
 *
 *      client   tsig_init(key) ─► tsig_sign(request) ─► tsig_verify(reply) ... tsig_verify(reply n)
 *      server   tsig_verify_request(keys)            ─► tsig_sign(reply)   ... tsig_sign(reply n)
 *
 * The first reply's MAC covers the request's; those of a stream cover the MAC before them (section
 * 5.3.1). Of a stream each message may be signed or only some: what comes between is covered by the next
 * signature, at most 99 messages later, and the last message has to be signed: tsig_is_complete().
 *
 * After a verification that failed tsig_sign() makes the record that says so, unsigned or signed as
 * section 5.3.2 wants it, so a server calls it in either case.
 *
 * Keys are immutable and for any thread; a transaction is one thread's at a time. now_s is wall time,
 * seconds since 1970.
 */
#ifndef VOLLEY_XFR_TSIG_H
#define VOLLEY_XFR_TSIG_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "dns/tsig_record.h"

#define TSIG_MAC_MAX      64  /* octets, SHA-512 */
#define TSIG_FUDGE_S      300 /* RFC 8945 section 10 */
#define TSIG_UNSIGNED_MAX 99  /* messages between two signatures: section 5.3.1 */
#define TSIG_SECRET_MAX   1024
/* The most that tsig_sign() adds to a message. */
#define TSIG_MAX (2 * DNS_NAME_MAX + DNS_RR_FIXED_BYTES + 16 + TSIG_MAC_MAX + 6)

/* identifier, name as the registry has it, OpenSSL's name of the digest, octets */
#define TSIG_ALGORITHMS(X)                     \
	X(SHA256, "hmac-sha256", "SHA256", 32) \
	X(SHA384, "hmac-sha384", "SHA384", 48) \
	X(SHA512, "hmac-sha512", "SHA512", 64)

enum tsig_algorithm {
#define TSIG_ALGORITHM(id, name, digest, bytes) TSIG_##id,
	TSIG_ALGORITHMS(TSIG_ALGORITHM)
#undef TSIG_ALGORITHM
		TSIG_N_ALGORITHMS,
};

/* What a table of keys is made of. */
struct tsig_key_source {
	const uint8_t *name; /* checked wire name, any case */
	enum tsig_algorithm algorithm;
	const uint8_t *secret;
	size_t secret_bytes; /* 1..TSIG_SECRET_MAX */
	unsigned int
		mac_min_bytes; /* policy: shorter MACs are BADTRUNC; 0: half the digest will do */
};

/* A key of a table, which it lives as long as. The secret is in hmac and nowhere else. */
struct tsig_key {
	uint8_t name[NAME_FOLDED_BYTES]; /* folded wire */
	unsigned int name_bytes;
	enum tsig_algorithm algorithm;
	unsigned int mac_min_bytes;
	EVP_MAC_CTX *hmac; /* with the key set: copied for each transaction */
};

struct tsig_keys;

/*
 * Makes a table, sorted by name; all is copied. n 0 is allowed. Returns 0, -ENOMEM, -EINVAL (a secret
 * of a wrong length), -EEXIST (the same name twice, whatever the algorithm: a name is one key), or
 * -ENOTSUP (OpenSSL does not do this digest).
 */
int tsig_keys_new(struct tsig_keys **out, const struct tsig_key_source *sources, size_t n)
	__attribute__((warn_unused_result));
/* Wipes the secrets. No transaction may be left that has one of the keys. NULL is allowed. */
void tsig_keys_free(struct tsig_keys *keys);
/* The key of this name (wire, any case), or NULL. keys may be NULL. O(log n); any thread. */
const struct tsig_key *tsig_keys_find(const struct tsig_keys *keys, const uint8_t *name);

/* name, what goes into the record's error field, words */
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

/* What the other side may say: RFC 8945 section 5.2. An algorithm that it has not is BADKEY, and nsd's BADSIG. */
#define TSIG_REMOTE_ERRORS(X)                                                                   \
	X(BADKEY, "the other side does not know our key, or has another algorithm for it")      \
	X(BADSIG, "the other side has another secret or algorithm for our key")                 \
	X(BADTIME, "the other side has another time: one of the clocks is wrong: compare both") \
	X(BADTRUNC, "the other side says that our signature is cut too short")

/* The words above, where TSIG_REMOTE those of the error (struct tsig's remote_error). Static. */
const char *tsig_verdict_text(enum tsig_verdict verdict, uint16_t remote_error);

/* A transaction. Caller's storage; tsig_init() or tsig_verify_request() begins it. */
struct tsig {
	const struct tsig_key *key; /* NULL: nothing is signed, or the key is not known */
	EVP_MAC_CTX *hmac;          /* the running digest of a stream, or NULL */
	enum tsig_verdict verdict;  /* of the last verification */
	bool is_server;
	unsigned int n_replies;  /* signed or verified so far */
	unsigned int n_unsigned; /* messages since the last signature */
	uint16_t remote_error;   /* where TSIG_REMOTE: DNS_RCODE_BADKEY and so on */
	uint16_t mac_bytes;      /* of the MAC that the next one covers */
	uint8_t mac[TSIG_MAC_MAX];
	struct tsig_record
		request; /* server: the request's, for records of errors; its pointers are not kept */
};

/* Client: key NULL signs nothing and takes what is not signed. Cannot fail. */
void tsig_init(struct tsig *t, const struct tsig_key *key);
/* Frees what a stream needed. A second call does nothing; all zeros is allowed. */
void tsig_fini(struct tsig *t);

/*
 * Server: begins the transaction of a request of len octets, header included, that was found
 * well-formed by query_parse() or not. TSIG_NONE: no TSIG, t->key is NULL and tsig_sign() will do
 * nothing. TSIG_FORMERR: to be answered FORMERR. TSIG_BADKEY and the others of the same kind: to be
 * answered NOTAUTH with tsig_sign(). *body_bytes (NULL is allowed) is the message's length without its
 * TSIG; ARCOUNT still counts it. The message is not changed. A MAC cut to less than half the digest or
 * 10 octets is FORMERR (section 5.2.2.1).
 */
enum tsig_verdict tsig_verify_request(struct tsig *t, const struct tsig_keys *keys,
				      const uint8_t *msg, size_t len, uint64_t now_s,
				      size_t *body_bytes) __attribute__((warn_unused_result));

/*
 * Client: a reply, or the next message of a stream. TSIG_OK also where it is not signed, if it is not
 * the first and the rules of streams let it: before what came is used tsig_is_complete() has to be
 * asked. The first message of a reply has to be signed, else TSIG_NONE. Where our key is not taken the reply
 * has an unsigned TSIG: TSIG_REMOTE and t->remote_error; it may be forged, so the caller goes on waiting
 * where the transport lets it; the same holds for all other verdicts before the first reply that is
 * taken, but for BADTIME and BADTRUNC. A failed verification ends a stream. With key NULL: TSIG_OK, or
 * TSIG_FORMERR for a message with a TSIG.
 */
enum tsig_verdict tsig_verify(struct tsig *t, const uint8_t *msg, size_t len, uint64_t now_s,
			      size_t *body_bytes) __attribute__((warn_unused_result));

/* The last message that was verified had a signature, or none is asked for. */
static inline bool tsig_is_complete(const struct tsig *t)
{
	return !t->n_unsigned;
}

/*
 * Client: signs the request; server: the next message of the reply, each one. The message of len octets
 * lies in a buffer of cap and is complete, counts and rcode included; the record is appended and counted
 * in ARCOUNT. Returns the new length (len where nothing is to be signed), ERR_SPACE, or -ENOMEM. The
 * message is unchanged where it fails. Room: tsig_room().
 */
int tsig_sign(struct tsig *t, uint8_t *msg, size_t len, size_t cap, uint64_t now_s)
	__attribute__((warn_unused_result));

/* What tsig_sign() will add, octets; 0 where nothing. */
size_t tsig_room(const struct tsig *t);

/* The rcode of the reply to a request with this verdict: NOERROR, FORMERR, NOTAUTH or SERVFAIL. */
enum dns_rcode tsig_rcode(enum tsig_verdict verdict);

#endif
