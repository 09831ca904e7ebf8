/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones come and go at random: an answer that is said to hold is the one that is rendered then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "invalidate/affected.h"
#include "tests/unit/engine/answers.h"

#define HEAD                                                                                    \
	"@ 300 IN SOA ns root 1 2 3 4 60\n@ 300 IN NS ns\n@ 300 IN MX 1 www.b.t.\nns 300 IN A " \
	"192.0.2.1\n"

static const struct {
	const char *apex, *text;
} zones[] = {
	{ "t", HEAD
	  "*.a 300 IN A 192.0.2.2\na 300 IN DS 1 8 1 " /* SHA-1 */
	  "0123456789012345678901234567890123456789\nb 300 IN NS ns.b\nwww.b 300 IN A 192.0.2.3\n" },
	{ "a.t",
	  HEAD "www 300 IN A 192.0.2.4\nc 300 IN CNAME www.b.t.\nd 300 IN DNAME b.t.\n"
	       "self 300 IN CNAME www\nx.s 300 IN A 192.0.2.5\ndown 300 IN CNAME x.s\n"
	       "top 300 IN CNAME a.t.\nside 300 IN CNAME b.t.\nfar 300 IN CNAME www.far.\n" },
	{ "s.a.t", HEAD "x 300 IN A 192.0.2.6\nup 300 IN CNAME www.a.t.\n" },
	{ "b.t", HEAD "www 300 IN A 192.0.2.7\nloop 300 IN CNAME c.a.t.\nd 300 IN DNAME d.a.t.\n" },
	{ "far", HEAD "www 300 IN CNAME c.a.t.\n" },
};

#define N_ZONES (sizeof(zones) / sizeof(zones[0]))

static const char *const names[] = {
	"a.t.",     "b.t.",      "s.a.t.",    "www.a.t.", "c.a.t.",    "www.d.a.t.", "self.a.t.",
	"x.s.a.t.", "no.a.t.",   "down.a.t.", "top.a.t.", "side.a.t.", "far.a.t.",   "up.s.a.t.",
	"www.b.t.", "loop.b.t.", "c.d.b.t.",  "www.far.", "no.t.",     "t.",         "www.d.d.b.t.",
};

static const uint16_t types[] = { DNS_TYPE_A,   DNS_TYPE_DS, DNS_TYPE_CNAME,
				  DNS_TYPE_ANY, DNS_TYPE_MX, DNS_TYPE_RRSIG };

static struct zone *loaded[N_ZONES];
static uint8_t apexes[N_ZONES][NAME_FOLDED_BYTES];
static struct {
	unsigned n_same, n_other, n_gone, n_needless;
} tally;

/* The zones of which `mask` has a bit; of `failed` those that did not load. */
static struct zone_set *make_set(unsigned mask, unsigned failed)
{
	struct zone_member members[N_ZONES];
	struct zone_set *set;
	size_t n = 0;

	for (unsigned i = 0; i < N_ZONES; i++)
		if (mask >> i & 1)
			members[n++] = (struct zone_member){
				.apex = apexes[i],
				.apex_len = (unsigned)name_bytes(apexes[i]),
				.zone = failed >> i & 1 ? NULL : loaded[i],
				.cache_slot = i + 1,
				.cache_gen = 1,
			};
	assert_int_equal(zone_set_new(&set, members, n), 0);
	return set;
}

/* The slot under which the answer may be cached, which is then in a->entry; or 0. */
static uint32_t render_from(const struct zone_set *set, struct answer *a)
{
	static const struct engine_config config = ENGINE_CONFIG_INIT;
	static struct render r;
	struct cache_answer answer;

	assert_int_equal(render_answer(&r, &config, set, &a->q, false, &answer), 0);
	if (!answer.zone_slot)
		return 0;
	make_entry(a->entry, &a->q, &answer);
	((struct volley_entry *)a->entry)->zone_slot = answer.zone_slot;
	return answer.zone_slot;
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	const struct volley_entry *x = entry_of(a), *y = entry_of(b);

	return x->zone_slot == y->zone_slot && x->flags == y->flags &&
	       x->full_bytes == y->full_bytes &&
	       !memcmp(a->entry + x->body_offset, b->entry + y->body_offset, x->full_bytes);
}

static void compare(const struct zone_set *now, unsigned mask, const struct answer *was,
		    struct answer *is)
{
	unsigned own = entry_of(was)->zone_slot - 1;
	bool is_cached = render_from(now, is), holds = routes_hold(now, entry_of(was));

	if (holds) {
		assert_true(is_cached && is_same(was, is));
		tally.n_same++;
	} else if (!(mask >> own & 1)) {
		tally.n_gone++; /* with its generation */
	} else {
		tally.n_other++;
		tally.n_needless += is_cached && is_same(was, is);
	}
}

static void change(const char *name, uint16_t type, unsigned before, unsigned after,
		   unsigned failed)
{
	struct zone_set *was = make_set(before, failed), *is = make_set(after, 0);
	struct answer a, b;

	ask_for(&a, name, type, false);
	ask_for(&b, name, type, false);
	if (render_from(was, &a)) {
		assert_true(type == DNS_TYPE_ANY || routes_hold(was, entry_of(&a)));
		compare(is, after, &a, &b);
	}
	free(a.entry);
	free(b.entry);
	zone_set_free(was);
	zone_set_free(is);
}

/* All sets of zones, and all that may follow each. */
static void what_holds_is_what_would_be_rendered(void **state)
{
	(void)state;
	for (unsigned before = 1; before < 1u << N_ZONES; before++)
		for (unsigned after = 1; after < 1u << N_ZONES; after++)
			for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
				for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
					change(names[i], types[k], before, after,
					       (before * 7 + after) & before & 1u << i % N_ZONES);
	print_message("  hold %u, withdrawn %u (needlessly %u), gone with their zone %u\n",
		      tally.n_same, tally.n_other, tally.n_needless, tally.n_gone);
	assert_true(tally.n_same > 1000 && tally.n_other > 1000);
	assert_true(tally.n_needless < tally.n_other / 8);
}

/* It holds until a zone comes that its question's name leads to; its aliases may lead anywhere. */
static void from_upstream(void **state)
{
	static const struct {
		const char *name;
		unsigned zones;
		bool holds;
	} rows[] = {
		{ "no zone", 0, true },
		{ "a zone elsewhere", 1u << 4, true },
		{ "the zone of its target", 1u << 3, true },
		{ "a zone below", 1u << 2, true },
		{ "the name's zone", 1u << 1, false },
		{ "a zone above", 1u << 0, false },
		{ "a zone that did not load", 1u << 1 | 1u << 8, false },
	};
	struct volley_entry *entry;
	struct zone_set *set;
	struct answer a;

	(void)state;
	set = make_set(1u << 1, 0);
	ask_for(&a, "c.a.t.", DNS_TYPE_A, false);
	assert_int_equal(render_from(set, &a), 2);
	zone_set_free(set);
	entry = (struct volley_entry *)a.entry;
	entry->key.view = VOLLEY_VIEW_RECURSIVE;
	entry->zone_slot = 77;
	assert_true(routes_hold(NULL, entry));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].name);
		set = make_set(rows[i].zones, rows[i].zones >> 8 << 1);
		assert_int_equal(routes_hold(set, entry), rows[i].holds);
		zone_set_free(set);
	}
	entry->key.view = VOLLEY_VIEW_PRIVATE; /* of our zones again */
	entry->zone_slot = 2;
	assert_false(routes_hold(NULL, entry));
	free(a.entry);
}

static void what_cannot_be_read_does_not_hold(void **state)
{
	struct zone_set *set = make_set(1u << 1, 0);
	struct volley_entry *entry;
	struct answer a;

	(void)state;
	ask_for(&a, "c.a.t.", DNS_TYPE_A, false);
	assert_int_equal(render_from(set, &a), 2);
	entry = (struct volley_entry *)a.entry;
	assert_true(routes_hold(set, entry));
	for (uint16_t bytes = entry->full_bytes; bytes--;) {
		entry->full_bytes = bytes;
		assert_true(!routes_hold(set, entry) || bytes >= 20); /* the alias is whole */
	}
	free(a.entry);
	zone_set_free(set);
}

static int begin(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_ZONES; i++) {
		loaded[i] = zone_of(zones[i].apex, zones[i].text);
		wire_of(apexes[i], zones[i].apex);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_ZONES; i++)
		zone_free(loaded[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_holds_is_what_would_be_rendered),
		cmocka_unit_test(from_upstream),
		cmocka_unit_test(what_cannot_be_read_does_not_hold),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
