/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * affected_by() against what it promises. A zone changes again and again; answers stay, as in the
 * cache, as long as it says that they are unaffected. Whenever one stayed, it is compared with a
 * fresh one from the zone of now: octet for octet, but for the serial number and the signature of a
 * SOA in the authority section. And whatever it calls affected has a dependency that the changes
 * touch, be it noted alone or behind others.
 */
#include "tests/lib/draw.h"
#include "tests/unit/zone/random_owner.h"
#include "tests/unit/engine/answers.h"

#define N_RUNS    300
#define N_RELOADS 12
#define N_ASKED   70
#define N_LINES   40

/* --- Zones ------------------------------------------------------------------------------------ */

struct text {
	char lines[N_LINES][128];
	unsigned n;
	unsigned serial, minimum, servers, key;
	enum zone_chain chain;
	bool opt_out;
};

static const char *const labels[RANDOM_OWNER_LABELS] = { "*", "a", "b", "c", "aa" };

static void random_line(char *dst)
{
	static const char *const data[] = {
		"A 192.0.2.1",
		"A 192.0.2.2",
		"60 AAAA 2001:db8::1",
		"TXT a",
		"TXT %050u",
		"TXT %1$0240u %1$0169u", /* with the NS RRset some 512 octets, with OPT */
		"NS ns.other.",
		"NS a",
		"NS a.b",
		"NS b.a\n%s DS 1 13 2 00",
		"CNAME a",
		"CNAME a.b",
		"CNAME x.a",
		"CNAME out.other.",
		"DNAME b",
		"DNAME other.",
		"MX 1 a",
		"MX 2 a.aa",
		"SRV 1 2 3 b",
		"HTTPS 1 .",
		"HTTPS 0 a",
		"SVCB 0 b.a",
		"KX 1 c",
	};
	const char *chosen = data[draw(sizeof(data) / sizeof(data[0]))];
	char owner[64];
	int at;

	random_owner(owner, labels, 3);
	at = sprintf(dst, "%s ", owner);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (strstr(chosen, "%s"))
		at += sprintf(dst + at, chosen, owner);
	else
		at += sprintf(dst + at, chosen, draw(9));
#pragma GCC diagnostic pop
	strcpy(dst + at, "\n");
}

static void write_zone(FILE *f, const struct text *t)
{
	fprintf(f, "$TTL 300\nz. SOA a host %u 2 3 4 %u\n", t->serial, t->minimum);
	for (unsigned i = 0; i <= t->servers; i++)
		fprintf(f, "z. NS %s\n", i ? "b.a" : "a");
	for (unsigned i = 0; i < t->n; i++)
		fputs(t->lines[i], f);
}

/* NULL: these lines are no zone. */
static struct zone *load_zone(const struct text *t)
{
	struct zone *z;
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	write_zone(f, t);
	fclose(f);
	z = load_signed(text, t->chain, t->opt_out, t->key);
	free(text);
	return z;
}

/* A few lines come or go; the rest of the zone moves now and then. */
static void mutate(struct text *t)
{
	for (unsigned n = 1 + draw(3); n--;) {
		unsigned at = draw(t->n + 1);

		if (at < t->n && draw(2)) {
			memmove(t->lines[at], t->lines[at + 1],
				(t->n - at - 1) * sizeof(t->lines[0]));
			t->n--;
		} else if (t->n < N_LINES) {
			random_line(t->lines[t->n++]);
		}
	}
	if (draw(8))
		t->serial++;
	if (!draw(16))
		t->minimum ^= 1;
	if (!draw(16))
		t->servers ^= 1;
	if (!draw(24))
		t->key ^= 1;
}

/* --- Answers ---------------------------------------------------------------------------------- */

/* Zeros the serial of a SOA in the authority section, and what a signature over it has of its
 * own. */
static void level_soa(uint8_t *entry)
{
	struct volley_entry *e = (struct volley_entry *)entry;
	uint8_t *body = entry + e->body_offset;
	unsigned at = 0, n_answer = ntohs(e->ancount), n = n_answer + ntohs(e->nscount);

	for (unsigned i = 0; i < n; i++) {
		uint16_t type, len;

		for (; body[at] && body[at] < 0xc0; at += 1u + body[at])
			;
		at += body[at] ? 2 : 1;
		type = wire_load_be16(body + at);
		len = wire_load_be16(body + at + 8);
		at += 10u + len;
		if (i < n_answer)
			continue;
		if (type == DNS_TYPE_SOA)
			memset(body + at - 20, 0, 4);
		if (type == DNS_TYPE_RRSIG && wire_load_be16(body + at - len) == DNS_TYPE_SOA)
			memset(body + at - len + 8, 0, len - 8u);
	}
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
	const struct volley_entry *e = (const struct volley_entry *)a;

	return !memcmp(a, b, (size_t)e->body_offset + e->full_bytes);
}

static bool is_same_but_soa(const struct answer *a, uint8_t *fresh)
{
	static uint8_t copy[sizeof(struct volley_entry) + 256 + BODY_MAX];
	const struct volley_entry *e = entry_of(a);

	memcpy(copy, a->entry, (size_t)e->body_offset + e->full_bytes);
	level_soa(copy);
	level_soa(fresh);
	return is_same(copy, fresh);
}

/* --- The property ----------------------------------------------------------------------------- */

struct tally {
	unsigned n_kept, n_withdrawn, n_needless, n_other, n_old_soa, n_refused, n_none;
	unsigned n_touched, n_untouched;
};

/* What a reload changed. */
struct reloaded {
	struct changes *changes;
	struct dependency_list list;
	struct dependencies *shared; /* of the entries that were asked so far, as in a stripe */
};

static void fail_for(const struct answer *a, unsigned run, unsigned reload, const char *what)
{
	char name[NAME_TEXT_MAX];

	name_to_text(name, sizeof(name), a->q.folded);
	fail_msg("run %u, reload %u: %s type %u do %d %s", run, reload, name, a->q.qtype,
		 a->q.edns.dnssec_ok, what);
}

/* A stripe is found by the dependencies of all its entries; `shared` adds up what each has
 * added. */
static void check_dependencies(const struct answer *a, const struct reloaded *reloaded,
			       bool is_affected, struct tally *t, unsigned run, unsigned reload)
{
	static struct dependencies alone;
	unsigned n_before = reloaded->shared->n;

	dependencies_clear(&alone);
	affected_dependencies(DEPENDENCIES_SEED, entry_of(a), &alone);
	if (is_affected && !is_touched(&alone, &reloaded->list))
		fail_for(a, run, reload, "is affected, but not touched");
	t->n_touched += !is_affected && is_touched(&alone, &reloaded->list);
	t->n_untouched += !is_touched(&alone, &reloaded->list);
	affected_dependencies(DEPENDENCIES_SEED, entry_of(a), reloaded->shared);
	for (unsigned i = 0; i < alone.n; i++)
		if (!is_among(alone.items[i], reloaded->shared->items, reloaded->shared->n))
			fail_for(a, run, reload, "has a dependency that is left out beside others");
	if (reloaded->shared->n > DEPENDENCIES_MAX / 2 || reloaded->shared->n < n_before)
		dependencies_clear(reloaded->shared);
}

static void check_kept(const struct answer *a, uint8_t *fresh, bool is_cached, unsigned run,
		       unsigned reload)
{
	if (!is_cached || !is_same_but_soa(a, fresh))
		fail_for(a, run, reload, "stayed, but changed");
}

static void after_reload(struct answer *a, const struct engine_config *config, struct zone *z,
			 const struct reloaded *reloaded, struct tally *t, unsigned run,
			 unsigned reload)
{
	const struct changes *changes = reloaded->changes;
	static uint8_t fresh[sizeof(struct volley_entry) + 256 + BODY_MAX];
	bool is_cached = render(config, z, &a->q, fresh), is_exact, is_affected;
	const struct volley_entry *e = (const struct volley_entry *)fresh;
	size_t bytes = is_cached ? (size_t)e->body_offset + e->full_bytes : 0;

	if (a->is_there) {
		is_exact = is_cached && is_same(a->entry, fresh);
		is_affected = !changes || affected_by(changes, entry_of(a));
		if (changes)
			check_dependencies(a, reloaded, is_affected, t, run, reload);
		if (!is_affected) {
			t->n_kept++;
			t->n_old_soa += !is_exact;
			check_kept(a, fresh, is_cached, run, reload);
			return;
		}
		t->n_withdrawn++;
		t->n_needless += changes && is_exact;
		t->n_other += changes && !is_exact;
	}
	a->is_there = is_cached;
	memcpy(a->entry, fresh, bytes);
}

static void random_questions(struct answer *asked)
{
	static const uint16_t types[] = {
		DNS_TYPE_A,    DNS_TYPE_A,    DNS_TYPE_AAAA,  DNS_TYPE_TXT, DNS_TYPE_TXT,
		DNS_TYPE_MX,   DNS_TYPE_NS,   DNS_TYPE_CNAME, DNS_TYPE_DS,  DNS_TYPE_SRV,
		DNS_TYPE_ANY,  DNS_TYPE_KX,   DNS_TYPE_RRSIG, DNS_TYPE_SOA, DNS_TYPE_HTTPS,
		DNS_TYPE_SVCB, DNS_TYPE_NSEC,
	};
	char name[128];

	for (unsigned i = 0; i < N_ASKED; i++) {
		random_owner(name, labels, 4);
		strcat(name, ".z.");
		ask_for(&asked[i], draw(12) ? name : "z.",
			types[draw(sizeof(types) / sizeof(types[0]))], draw(3) > 0);
	}
}

static void run_one(unsigned run, enum zone_chain chain, struct tally *t)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct text text = { .serial = 1, .key = 1, .chain = chain }, next;
	struct answer asked[N_ASKED];
	struct zone *z[2] = { NULL, NULL };
	static struct dependencies shared;

	seed = run * 3 + chain;
	text.opt_out = draw(2);
	config.max_udp_bytes = draw(2) ? 512 : 1232;
	config.minimal_responses = !draw(4);
	config.any = draw(2) ? ENGINE_ANY_FULL : ENGINE_ANY_MINIMAL;
	random_questions(asked);
	for (unsigned reload = 0; reload < N_RELOADS; reload++) {
		struct reloaded reloaded = { .shared = &shared };
		enum changes_refusal why;

		dependencies_clear(&shared);

		do {
			next = text;
			mutate(&next);
			z[1] = load_zone(&next);
		} while (!z[1]);
		if (z[0]) {
			reloaded.changes = changes_new(z[0], z[1], &why);
			t->n_refused += !reloaded.changes;
		}
		if (reloaded.changes)
			assert_int_equal(affected_list(DEPENDENCIES_SEED, reloaded.changes,
						       &reloaded.list),
					 0);
		for (unsigned i = 0; i < N_ASKED; i++)
			after_reload(&asked[i], &config, z[1], &reloaded, t, run, reload);
		changes_free(reloaded.changes);
		free(reloaded.list.items);
		zone_free(z[0]);
		z[0] = z[1];
		text = next;
	}
	zone_free(z[0]);
	for (unsigned i = 0; i < N_ASKED; i++)
		free(asked[i].entry);
}

static void run_all(enum zone_chain chain, struct tally *t)
{
	for (unsigned run = 0; run < N_RUNS; run++)
		run_one(run, chain, t);
	print_message("  kept %u (older SOA %u), withdrawn %u (needlessly %u), refused %u\n",
		      t->n_kept, t->n_old_soa, t->n_withdrawn, t->n_needless, t->n_refused);
	print_message("  touched in vain %u, not touched %u\n", t->n_touched, t->n_untouched);
	assert_true(t->n_untouched > t->n_touched);
	assert_true(t->n_other > 1000);
	assert_true(t->n_kept - t->n_old_soa > 1000);
	assert_true(t->n_needless < t->n_withdrawn / 8);
	assert_int_equal(t->n_refused, 0);
}

static void stays_only_what_is_the_same(void **state)
{
	struct tally t = { 0 };

	(void)state;
	run_all(ZONE_CHAIN_NONE, &t);
}

static void with_nsec(void **state)
{
	struct tally t = { 0 };

	(void)state;
	run_all(ZONE_CHAIN_NSEC, &t);
}

static void with_nsec3(void **state)
{
	struct tally t = { 0 };

	(void)state;
	run_all(ZONE_CHAIN_NSEC3, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stays_only_what_is_the_same),
		cmocka_unit_test(with_nsec),
		cmocka_unit_test(with_nsec3),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
