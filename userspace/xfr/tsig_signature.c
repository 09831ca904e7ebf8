/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A MAC covers these parts, in this order (RFC 8945 section 4.3 and 5.3.1):
 *
 *      request         message │ variables
 *      first reply     request's MAC │ message │ variables
 *      next ones       last MAC │ unsigned messages │ message │ time and fudge
 *
 * A message is covered without its TSIG record, with an ARCOUNT that does not count the record, and
 * with its original ID. A MAC is covered with its length before it.
 */
#include "xfr/tsig_signature.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"

#define MAC_MIN_BYTES 10 /* RFC 8945 section 5.2.2.1 */
#define TIME_BYTES    6

struct algorithm {
	const uint8_t *name; /* folded wire */
	uint8_t name_bytes;
	uint8_t mac_bytes;
};

static const struct algorithm algorithms[TSIG_N_ALGORITHMS] = {
#define ROW(id, name, digest, bytes) { (const uint8_t *)(name), sizeof(name), bytes },
	TSIG_ALGORITHMS(ROW)
#undef ROW
};

static const struct algorithm *algorithm_of(const struct tsig_key *key)
{
	return &algorithms[key->algorithm];
}

struct verdict {
	uint16_t error;
	const char *text;
};

static const struct verdict verdicts[] = {
#define ROW(name, error, words) { error, words },
	TSIG_VERDICTS(ROW)
#undef ROW
};

static const struct verdict remote_errors[] = {
#define ROW(name, words) { DNS_RCODE_##name, words },
	TSIG_REMOTE_ERRORS(ROW)
#undef ROW
};

const char *tsig_verdict_text(enum tsig_verdict verdict, uint16_t remote_error)
{
	size_t n = sizeof(remote_errors) / sizeof(remote_errors[0]);

	for (size_t i = 0; i < n && verdict == TSIG_REMOTE; i++)
		if (remote_errors[i].error == remote_error)
			return remote_errors[i].text;
	return verdicts[verdict].text;
}

enum dns_rcode tsig_rcode(enum tsig_verdict verdict)
{
	switch (verdict) {
	case TSIG_OK:
	case TSIG_NONE:
		return DNS_RCODE_NOERROR;
	case TSIG_FORMERR:
		return DNS_RCODE_FORMERR;
	case TSIG_NOMEM:
		return DNS_RCODE_SERVFAIL;
	default:
		return DNS_RCODE_NOTAUTH;
	}
}

/* ---- Finding the record ---------------------------------------------------------------------- */

/* The parts of a message: the TSIG record is at body_bytes. */
struct found {
	bool has_tsig;
	size_t body_bytes;
	struct tsig_record tsig;
};

/* Moves *at to the end of the record, and gives its type. False: malformed. */
static bool skip_record(const uint8_t *msg, size_t len, size_t *at, uint16_t *type)
{
	uint8_t name[NAME_FOLDED_BYTES];
	size_t end;

	/* Nearly all owners are only a pointer. Its target does not matter here. */
	if (len - *at >= 2 && msg[*at] >= DNS_POINTER_BITS)
		end = *at + 2;
	else if (name_follow(name, msg, len, *at, &end) < 0)
		return false;
	if (len - end < DNS_RR_FIXED_BYTES)
		return false;
	*type = wire_load_be16(msg + end);
	end += DNS_RR_FIXED_BYTES;
	if (wire_load_be16(msg + end - 2) > len - end)
		return false;
	*at = end + wire_load_be16(msg + end - 2);
	return true;
}

static bool skip_questions(const uint8_t *msg, size_t len, size_t *at)
{
	uint8_t name[NAME_FOLDED_BYTES];

	for (unsigned int n = wire_load_be16(msg + DNS_QDCOUNT_AT); n--;) {
		if (name_follow(name, msg, len, *at, at) < 0 ||
		    len - *at < DNS_QUESTION_FIXED_BYTES)
			return false;
		*at += DNS_QUESTION_FIXED_BYTES;
	}
	return true;
}

/* Section 5.1: one TSIG may be at the end of the additional section, with no octets behind it. */
static int find_tsig(struct found *f, const uint8_t *msg, size_t len)
{
	size_t at = DNS_HEADER_BYTES, end;
	unsigned int n, n_additional;
	uint16_t type;

	f->has_tsig = false;
	f->body_bytes = len;
	if (len < DNS_HEADER_BYTES || len > DNS_MESSAGE_MAX || !skip_questions(msg, len, &at))
		return ERR_FORMAT;
	n_additional = wire_load_be16(msg + DNS_ARCOUNT_AT);
	n = wire_load_be16(msg + DNS_ANCOUNT_AT) + wire_load_be16(msg + DNS_NSCOUNT_AT) +
	    n_additional;
	while (n--) {
		size_t record_at = at;

		if (!skip_record(msg, len, &at, &type))
			return ERR_FORMAT;
		if (type != DNS_TYPE_TSIG)
			continue;
		if (n || !n_additional || at != len)
			return ERR_FORMAT;
		f->has_tsig = true;
		f->body_bytes = record_at;
		return tsig_read(&f->tsig, msg, len, record_at, &end);
	}
	return 0;
}

/* ---- Digests --------------------------------------------------------------------------------- */

/* After an error *hmac is NULL: further calls do nothing, and finish_tsig() fails. */
static void feed(EVP_MAC_CTX **hmac, const void *bytes, size_t n)
{
	if (*hmac && !EVP_MAC_update(*hmac, bytes, n)) {
		EVP_MAC_CTX_free(*hmac);
		*hmac = NULL;
	}
}

static void feed_be16(EVP_MAC_CTX **hmac, uint16_t v)
{
	uint8_t bytes[2];

	wire_store_be16(bytes, v);
	feed(hmac, bytes, 2);
}

/* Begins a digest with the MAC before it, if there is one. */
static EVP_MAC_CTX *begin_tsig(const struct tsig *t)
{
	EVP_MAC_CTX *hmac = EVP_MAC_CTX_dup(t->key->hmac);

	if (t->mac_bytes) {
		feed_be16(&hmac, t->mac_bytes);
		feed(&hmac, t->mac, t->mac_bytes);
	}
	return hmac;
}

/* The message as it was before the record was appended. */
static void feed_message(EVP_MAC_CTX **hmac, const uint8_t *msg, size_t body_bytes, uint16_t id,
			 bool has_tsig)
{
	uint8_t header[DNS_HEADER_BYTES];

	memcpy(header, msg, sizeof(header));
	wire_store_be16(header + DNS_ID_AT, id);
	wire_store_be16(header + DNS_ARCOUNT_AT,
			(uint16_t)(wire_load_be16(header + DNS_ARCOUNT_AT) - has_tsig));
	feed(hmac, header, sizeof(header));
	feed(hmac, msg + DNS_HEADER_BYTES, body_bytes - DNS_HEADER_BYTES);
}

static void feed_time(EVP_MAC_CTX **hmac, const struct tsig_record *r)
{
	feed_be16(hmac, (uint16_t)(r->time_s >> 32));
	feed_be16(hmac, (uint16_t)(r->time_s >> 16));
	feed_be16(hmac, (uint16_t)r->time_s);
	feed_be16(hmac, r->fudge_s);
}

/* Section 4.3.3: all fields of the record except the MAC, with class ANY and TTL 0. */
static void feed_variables(EVP_MAC_CTX **hmac, const struct tsig_record *r)
{
	static const uint8_t class_and_ttl[] = { 0, DNS_CLASS_ANY, 0, 0, 0, 0 };

	feed(hmac, r->key, r->key_bytes);
	feed(hmac, class_and_ttl, sizeof(class_and_ttl));
	feed(hmac, r->algorithm, r->algorithm_bytes);
	feed_time(hmac, r);
	feed_be16(hmac, r->error);
	feed_be16(hmac, r->other_bytes);
	feed(hmac, r->other, r->other_bytes);
}

/* Frees the context. Returns the digest's length, or -ENOMEM. */
static int finish_tsig(EVP_MAC_CTX *hmac, uint8_t mac[TSIG_MAC_MAX])
{
	size_t n = 0;
	int ok = hmac && EVP_MAC_final(hmac, mac, &n, TSIG_MAC_MAX);

	EVP_MAC_CTX_free(hmac);
	return ok ? (int)n : -ENOMEM;
}

/* ---- Verifying ------------------------------------------------------------------------------- */

static bool is_key(const struct tsig_key *key, const struct tsig_record *r)
{
	const struct algorithm *a = algorithm_of(key);

	return key->name_bytes == r->key_bytes && !memcmp(key->name, r->key, r->key_bytes) &&
	       a->name_bytes == r->algorithm_bytes && !memcmp(a->name, r->algorithm, a->name_bytes);
}

/* Section 5.2.2.1. A shorter MAC is malformed. check_tsig_signature() compares it with the policy,
 * last of all. */
static bool is_mac_size(const struct tsig_key *key, unsigned int n)
{
	unsigned int full = algorithm_of(key)->mac_bytes;

	return n <= full && n >= MAC_MIN_BYTES && n >= full / 2;
}

static bool is_in_time(const struct tsig_record *r, uint64_t now_s)
{
	uint64_t off = r->time_s > now_s ? r->time_s - now_s : now_s - r->time_s;

	return off <= r->fudge_s;
}

/* Section 5.2: checks the MAC, then the time, then policy. Frees hmac, the digest of the
 * message. */
static enum tsig_verdict check_tsig_signature(struct tsig *t, EVP_MAC_CTX *hmac,
					      const struct found *f, uint64_t now_s)
{
	uint8_t mac[TSIG_MAC_MAX];
	int n = finish_tsig(hmac, mac);

	if (n < 0)
		return TSIG_NOMEM;
	if (CRYPTO_memcmp(mac, f->tsig.mac, f->tsig.mac_bytes))
		return TSIG_BADSIG;
	/* The next MAC covers this one as it was sent. */
	memcpy(t->mac, f->tsig.mac, f->tsig.mac_bytes);
	t->mac_bytes = f->tsig.mac_bytes;
	if (!is_in_time(&f->tsig, now_s))
		return TSIG_BADTIME;
	return f->tsig.mac_bytes < t->key->mac_min_bytes ? TSIG_BADTRUNC : TSIG_OK;
}

static enum tsig_verdict verify_request(struct tsig *t, const struct tsig_keys *keys,
					const uint8_t *msg, const struct found *f, uint64_t now_s)
{
	const struct tsig_key *key = tsig_keys_find(keys, f->tsig.key);
	EVP_MAC_CTX *hmac;

	t->request = f->tsig;
	t->request.mac_bytes = 0;
	t->request.other_bytes = 0;
	if (!key || !is_key(key, &f->tsig))
		return TSIG_BADKEY;
	if (!is_mac_size(key, f->tsig.mac_bytes))
		return TSIG_FORMERR;
	t->key = key;
	hmac = begin_tsig(t);
	feed_message(&hmac, msg, f->body_bytes, f->tsig.original_id, true);
	feed_variables(&hmac, &f->tsig);
	return check_tsig_signature(t, hmac, f, now_s);
}

enum tsig_verdict tsig_verify_request(struct tsig *t, const struct tsig_keys *keys,
				      const uint8_t *msg, size_t len, uint64_t now_s,
				      size_t *body_bytes)
{
	struct found f;
	int err = find_tsig(&f, msg, len);

	tsig_init(t, NULL);
	t->is_server = true;
	if (body_bytes)
		*body_bytes = f.body_bytes;
	if (err)
		t->verdict = TSIG_FORMERR;
	else if (!f.has_tsig)
		t->verdict = TSIG_NONE;
	else
		t->verdict = verify_request(t, keys, msg, &f, now_s);
	return t->verdict;
}

/* An unsigned message of a stream: the next signature covers it. */
static enum tsig_verdict take_unsigned(struct tsig *t, const uint8_t *msg, size_t len)
{
	if (!t->n_replies)
		return TSIG_NONE;
	if (++t->n_unsigned > TSIG_UNSIGNED_MAX)
		return TSIG_UNSIGNED;
	if (!t->hmac)
		t->hmac = begin_tsig(t);
	feed(&t->hmac, msg, len);
	return t->hmac ? TSIG_OK : TSIG_NOMEM;
}

static enum tsig_verdict take_signed(struct tsig *t, const uint8_t *msg, const struct found *f,
				     uint64_t now_s)
{
	EVP_MAC_CTX *hmac = t->hmac;
	enum tsig_verdict verdict;

	if (!f->tsig.mac_bytes && f->tsig.error) {
		t->remote_error = f->tsig.error;
		return TSIG_REMOTE;
	}
	if (!is_key(t->key, &f->tsig))
		return TSIG_BADKEY;
	if (!is_mac_size(t->key, f->tsig.mac_bytes))
		return TSIG_FORMERR;
	t->hmac = NULL;
	if (!hmac)
		hmac = begin_tsig(t);
	feed_message(&hmac, msg, f->body_bytes, f->tsig.original_id, true);
	if (t->n_replies)
		feed_time(&hmac, &f->tsig);
	else
		feed_variables(&hmac, &f->tsig);
	verdict = check_tsig_signature(t, hmac, f, now_s);
	if (verdict == TSIG_OK && f->tsig.error) {
		t->remote_error = f->tsig.error;
		return TSIG_REMOTE;
	}
	if (verdict == TSIG_OK) {
		t->n_replies++;
		t->n_unsigned = 0;
	}
	return verdict;
}

static enum tsig_verdict verify(struct tsig *t, const uint8_t *msg, size_t len,
				const struct found *f, uint64_t now_s)
{
	if (!t->key)
		return f->has_tsig ? TSIG_FORMERR : TSIG_OK;
	return f->has_tsig ? take_signed(t, msg, f, now_s) : take_unsigned(t, msg, len);
}

enum tsig_verdict tsig_verify(struct tsig *t, const uint8_t *msg, size_t len, uint64_t now_s,
			      size_t *body_bytes)
{
	struct found f;
	int err = find_tsig(&f, msg, len);

	if (body_bytes)
		*body_bytes = f.body_bytes;
	t->verdict = err ? TSIG_FORMERR : verify(t, msg, len, &f, now_s);
	return t->verdict;
}

/* ---- Signing --------------------------------------------------------------------------------- */

void tsig_init(struct tsig *t, const struct tsig_key *key)
{
	*t = (struct tsig){ .key = key };
}

void tsig_fini(struct tsig *t)
{
	EVP_MAC_CTX_free(t->hmac);
	t->hmac = NULL;
}

/* For these errors the reply's TSIG record has no MAC: section 5.3.2. */
static bool is_unsigned_error(const struct tsig *t)
{
	return t->is_server && (t->verdict == TSIG_BADKEY || t->verdict == TSIG_BADSIG);
}

static bool is_silent(const struct tsig *t)
{
	if (t->is_server && (t->verdict == TSIG_FORMERR || t->verdict == TSIG_NONE))
		return true;
	return !t->key && !is_unsigned_error(t);
}

size_t tsig_room(const struct tsig *t)
{
	if (is_silent(t))
		return 0;
	if (is_unsigned_error(t))
		return t->request.key_bytes + t->request.algorithm_bytes + DNS_RR_FIXED_BYTES + 16u;
	return t->key->name_bytes + algorithm_of(t->key)->name_bytes + DNS_RR_FIXED_BYTES + 16u +
	       algorithm_of(t->key)->mac_bytes +
	       (t->is_server && t->verdict == TSIG_BADTIME ? TIME_BYTES : 0);
}

/* Section 5.2.3: the client's time, so that it accepts the reply; Other Data has ours. */
static void say_our_time(struct tsig_record *r, const struct tsig *t, uint8_t other[TIME_BYTES])
{
	wire_store_be16(other, (uint16_t)(r->time_s >> 32));
	wire_store_be32(other + 2, (uint32_t)r->time_s);
	r->other = other;
	r->other_bytes = TIME_BYTES;
	r->time_s = t->request.time_s;
	r->fudge_s = t->request.fudge_s;
}

static void describe_tsig(struct tsig_record *r, const struct tsig *t, const uint8_t *msg,
			  uint64_t now_s, uint8_t other[TIME_BYTES])
{
	const struct algorithm *a;

	if (is_unsigned_error(t)) {
		*r = t->request;
	} else {
		a = algorithm_of(t->key);
		*r = (struct tsig_record){ .fudge_s = TSIG_FUDGE_S,
					   .time_s = now_s & TSIG_TIME_MAX };
		r->key_bytes = t->key->name_bytes;
		memcpy(r->key, t->key->name, r->key_bytes);
		r->algorithm_bytes = a->name_bytes;
		memcpy(r->algorithm, a->name, r->algorithm_bytes);
	}
	r->original_id = wire_load_be16(msg + DNS_ID_AT);
	r->error = t->is_server ? verdicts[t->verdict].error : 0;
	if (t->is_server && t->verdict == TSIG_BADTIME)
		say_our_time(r, t, other);
}

static int make_mac(struct tsig *t, const struct tsig_record *r, const uint8_t *msg, size_t len)
{
	EVP_MAC_CTX *hmac = begin_tsig(t);
	int n;

	feed_message(&hmac, msg, len, r->original_id, false);
	if (t->is_server && t->n_replies)
		feed_time(&hmac, r);
	else
		feed_variables(&hmac, r);
	n = finish_tsig(hmac, t->mac);
	if (n < 0)
		return n;
	t->mac_bytes = (uint16_t)n;
	t->n_replies += t->is_server;
	return 0;
}

int tsig_sign(struct tsig *t, uint8_t *msg, size_t len, size_t cap, uint64_t now_s)
{
	uint8_t other[TIME_BYTES];
	struct tsig_record r;
	int n;

	if (is_silent(t))
		return (int)len;
	if (len > DNS_MESSAGE_MAX || cap < len || cap - len < tsig_room(t) ||
	    DNS_MESSAGE_MAX - len < tsig_room(t))
		return ERR_SPACE;
	describe_tsig(&r, t, msg, now_s, other);
	if (!is_unsigned_error(t)) {
		n = make_mac(t, &r, msg, len);
		if (n)
			return n;
		r.mac = t->mac;
		r.mac_bytes = t->mac_bytes;
	}
	n = tsig_write(&r, msg + len, cap - len);
	if (n < 0)
		return n;
	wire_store_be16(msg + DNS_ARCOUNT_AT, (uint16_t)(wire_load_be16(msg + DNS_ARCOUNT_AT) + 1));
	return (int)len + n;
}
