/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: keys, options, signed zones, and verifiers of other projects that judge them. */
#ifndef VOLLEY_TESTS_SIGN_LAB_H
#define VOLLEY_TESTS_SIGN_LAB_H

#include <ldns/ldns.h>
#include <strings.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/zone/zone_text.h"

#include "sign/sign.h"
#include "zone/denial.h"
#include "zone/diff.h"
#include "zone/rdprint.h"
#include "zone/zone_walk.h"

/* The time of this machine: dnssec-verify takes no other. */
static inline uint64_t lab_now(void)
{
	static uint64_t now_s;

	return now_s ? now_s : (now_s = (uint64_t)time(NULL));
}

enum lab_denial { LAB_NSEC, LAB_NSEC3, LAB_OPT_OUT, LAB_N_DENIALS };

static inline struct sign_options lab_options(enum lab_denial denial)
{
	return (struct sign_options){ .nsec3 = denial != LAB_NSEC,
				      .opt_out = denial == LAB_OPT_OUT,
				      .nsec3_iterations = denial == LAB_NSEC3 ? 1 : 0,
				      .nsec3_salt = { 0xab },
				      .nsec3_salt_bytes = denial == LAB_NSEC3 ? 1 : 0,
				      .signature_s = 14 * 86400,
				      .refresh_s = 4 * 86400,
				      .jitter_s = 86400,
				      .dnskey_ttl_s = 3600 };
}

/* A key that has done what its role says for a long time. */
static inline struct sign_key *lab_key(struct sign_keys *keys, enum sign_role role,
				       enum sign_algorithm algorithm)
{
	struct sign_key *key;

	assert_int_equal(sign_keys_make(keys, role, algorithm, lab_now() - 1000, &key), 0);
	key->published_s = lab_now() - 1000;
	key->active_s = lab_now() - 1000;
	return key;
}

static inline void lab_keys(struct sign_keys *keys, const char *apex, bool split)
{
	uint8_t name[256];
	unsigned int n = wire_of(name, apex);

	*keys = (struct sign_keys){ 0 };
	memcpy(keys->apex, name, n);
	lab_key(keys, split ? SIGN_KSK : SIGN_CSK, SIGN_ECDSAP256SHA256);
	if (split)
		lab_key(keys, SIGN_ZSK, SIGN_ECDSAP256SHA256);
}

static inline struct zone *lab_sign_by(unsigned int n_threads, const struct zone *from,
				       const struct zone *before, const struct sign_keys *keys,
				       const struct sign_options *options, uint64_t now_s)
{
	struct zone_error err;
	struct zone *z;

	if (sign_all(from, before, keys, options, now_s, zone_serial(from), n_threads, NULL, &z,
		     &err))
		fail_msg("%s", err.sentence);
	assert_int_equal(err.n_warnings, 0);
	return z;
}

static inline struct zone *lab_sign(const struct zone *from, const struct zone *before,
				    const struct sign_keys *keys,
				    const struct sign_options *options, uint64_t now_s)
{
	return lab_sign_by(2, from, before, keys, options, now_s);
}

/* --- What others say -------------------------------------------------------------------------- */

/* @said is NULL if the command could not be started. */
static inline void lab_end_run(FILE *said, const char *command, const char *path)
{
	char log[4096] = "";
	size_t n = said ? fread(log, 1, sizeof(log) - 1, said) : 0;
	int rc = said ? pclose(said) : -1;

	log[n] = 0;
	if (rc)
		fail_msg("%s\n%s\nthe zone is in %s", command, log, path);
}

static inline void lab_run(const char *command, const char *path)
{
	lab_end_run(popen(command, "r"), command, path);
}

/* kzonecheck 3.2.6 refuses a zone with two keys that are both CSKs, also if BIND has signed it. */
static inline bool lab_has_two_csks(const struct zone *z)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, zone_apex_node(z), DNS_TYPE_DNSKEY);
	const uint8_t *at = zone_rrset_first(z, rrset);
	unsigned int n = 0;
	struct zone_rdata rd;

	for (unsigned int i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		n += rd.bytes[1] & SIGN_DNSKEY_SEP;
	}
	return n > 1 && n == rrset->n;
}

/* Verifiers that judge a zone. They run beside the test, from lab_begin_judgement() to
 * lab_end_judgement(). */
struct lab_judgement {
	FILE *said; /* NULL: none runs */
	char path[32], command[2 * NAME_TEXT_MAX + 256];
};

static inline void lab_begin_judgement(struct lab_judgement *j, const struct zone *z,
				       uint64_t now_s)
{
	char apex[NAME_TEXT_MAX], at[32], knot[NAME_TEXT_MAX + 64] = "",
							       bind[NAME_TEXT_MAX + 64] = "";
	time_t now = (time_t)now_s;
	unsigned int n;
	FILE *f;

	strcpy(j->path, "/tmp/signed.XXXXXX");
	f = fdopen(mkstemp(j->path), "w");

	assert_non_null(f);
	assert_int_equal(zone_dump(z, f, NULL), 0);
	assert_int_equal(fclose(f), 0);
	assert_true(name_to_text(apex, sizeof(apex), zone_apex(z, &n)) > 0);
	strftime(at, sizeof(at), "%Y%m%d%H%M%S", gmtime(&now));
	if (!lab_has_two_csks(z))
		snprintf(knot, sizeof(knot), " && kzonecheck -d on -t %s -o %s $f", at, apex);
	if (now_s <= lab_now() + 60)
		snprintf(bind, sizeof(bind), " && dnssec-verify -q -z -o %s $f", apex);
	snprintf(j->command, sizeof(j->command), "exec 2>&1; f=%s; ldns-verify-zone -t %s $f%s%s",
		 j->path, at, knot, bind);
	j->said = popen(j->command, "r");
	assert_non_null(j->said);
}

/* Fails if a verifier found a fault. */
static inline void lab_end_judgement(struct lab_judgement *j)
{
	if (!j->said)
		return;
	lab_end_run(j->said, j->command, j->path);
	unlink(j->path);
	j->said = NULL;
}

static inline void lab_judge(const struct zone *z, uint64_t now_s)
{
	struct lab_judgement j;

	lab_begin_judgement(&j, z, now_s);
	lab_end_judgement(&j);
}

/* --- Comparing -------------------------------------------------------------------------------- */

/* Compares keys and types only. Tags and algorithms are in the rdata, which is equal up to the
 * signature. */
static inline void lab_same_signatures(const struct zone *a, const struct zone_rrset *x,
				       const struct zone *b, const struct zone_rrset *y,
				       const char *owner)
{
	const uint8_t *at = zone_rrset_first(a, x), *by = zone_rrset_first(b, y);
	uint32_t sum_a = 0, sum_b = 0;
	struct zone_rdata rd;

	if (x->n != y->n)
		fail_msg("%s: %u signatures, not %u", owner, x->n, y->n);
	for (unsigned int i = 0; i < x->n; i++) {
		at = zone_rdata_next(at, &rd);
		sum_a += (zone_rrsig_covered(&rd) + 1u) * (rd.bytes[16] * 256u + rd.bytes[17]);
		by = zone_rdata_next(by, &rd);
		sum_b += (zone_rrsig_covered(&rd) + 1u) * (rd.bytes[16] * 256u + rd.bytes[17]);
	}
	if (sum_a != sum_b)
		fail_msg("%s: other types are signed", owner);
}

static inline void lab_same_name(const struct zone *a, const struct zone_node *x,
				 const struct zone *b, const struct zone_node *y)
{
	char owner[NAME_TEXT_MAX], other[NAME_TEXT_MAX];
	unsigned int n = 0, n_other = 0;
	const struct zone_rrset *rrsets = x ? zone_node_rrsets(a, x, &n) : NULL;
	const struct zone_rrset *others = y ? zone_node_rrsets(b, y, &n_other) : NULL;

	owner_text(a, x, owner);
	owner_text(b, y, other);
	if (!x || !y || strcasecmp(owner, other) != 0)
		fail_msg("%s, not %s", x ? owner : "-", y ? other : "-");
	if (n != n_other)
		fail_msg("%s: %u RRsets, not %u", owner, n, n_other);
	for (unsigned int i = 0; i < n; i++) {
		if (rrsets[i].type == DNS_TYPE_RRSIG && others[i].type == DNS_TYPE_RRSIG)
			lab_same_signatures(a, &rrsets[i], b, &others[i], owner);
		else if (!zone_rrset_equal(a, &rrsets[i], b, &others[i]))
			fail_msg("%s: type %u differs", owner, rrsets[i].type);
	}
}

/* Compares everything but the octets and times of signatures. */
static inline void lab_same(const struct zone *a, const struct zone *b)
{
	const struct zone_node *x, *y;
	struct zone_walk walk_a, walk_b;

	zone_walk_init(&walk_a, a);
	zone_walk_init(&walk_b, b);
	do {
		x = zone_walk_next(&walk_a);
		y = zone_walk_next(&walk_b);
		if (x || y)
			lab_same_name(a, x, b, y);
	} while (x && y);
}

#endif
