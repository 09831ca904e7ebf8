/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each name that is served is in the filter of names before; which members of a set say so. The
 * lines of the filter cannot be written to when a publish begins: the first write shows what is
 * served at that moment.
 */
#include <signal.h>
#include <sys/mman.h>

#include "base/err.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "tests/lib/knownname.h"
#include "tests/unit/zonemgr/changing.h"

#define N_LINES    1024u
#define N_BEHIND   64u /* lines for intervals */
#define LINE_BYTES ((N_LINES + N_BEHIND) * sizeof(struct volley_names_line))

static struct volley_names_line *lines;
static struct volley_names_state names_state;
static struct names names;
static struct zone *served_at_write; /* of `entry`, when the filter was first written to */
static bool was_written;

static const struct zone_member *member_of(const struct zones_entry *e)
{
	return zone_set_get(published.set, e->apex, e->apex_len);
}

static void on_write(int number)
{
	const struct zone_member *m = member_of(&entry);

	(void)number;
	was_written = true;
	served_at_write = m ? m->zone : NULL;
	if (mprotect(lines, LINE_BYTES, PROT_READ | PROT_WRITE))
		abort();
}

static void watch_writes(void)
{
	was_written = false;
	MUST(!mprotect(lines, LINE_BYTES, PROT_READ));
}

static bool is_known(const char *name)
{
	uint8_t wire[256];

	wire_of(wire, name);
	return names_may_exist(&names, wire, VOLLEY_NAME_EXISTS);
}

static bool is_apex(const char *name)
{
	uint8_t wire[256];

	wire_of(wire, name);
	return names_may_exist(&names, wire, VOLLEY_NAME_APEX);
}

/* Two zones are served, and neither is in the filter. */
static void begin_with_names(void)
{
	struct sigaction act = { .sa_handler = on_write };

	begin();
	said.driver_denials = other_said.driver_denials = CONFIG_DENIALS_AUTO;
	MUST(!sigaction(SIGSEGV, &act, NULL));
	lines = mmap(NULL, LINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(lines != MAP_FAILED);
	names_init(&names, lines, N_LINES, &names_state);
	names_init_intervals(&names, N_BEHIND);
	MUST(!names_begin(&names, no_readers, NULL));
	for (unsigned i = 0; i < VOLLEY_NAME_BYTES; i++) /* the same in each run */
		names_state.keys[i] = volley_hash_mix(i + 1);
	madezones_env(zones)->names = &names;
	assert_int_equal(member_of(&entry)->names_id, 0);
}

static void end_with_names(void)
{
	end();
	names_fini(&names);
	signal(SIGSEGV, SIG_DFL);
	munmap(lines, LINE_BYTES);
}

static void publish(void)
{
	assert_int_equal(zones_publish(zones), 0);
}

/* --- All zones -------------------------------------------------------------------------------- */

/* A filter that comes to zones that are served: all names are added, though no version is new. */
static void all_names_at_first(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_true(is_apex("z.test") && is_apex("y.test"));
	assert_true(is_known("b.z.test") && is_known("c.z.test") && is_known("ns.y.test"));
	assert_false(is_known("d.z.test"));
	assert_int_equal(names_state.labels, 2);
	end_with_names();
}

static void names_before_the_set(void **state)
{
	struct zone *old;

	(void)state;
	begin_with_names();
	publish();
	old = entry.zone;
	make_due(zone_of("z.test", ZONE_HEAD "d.e A 192.0.2.1\n"));
	watch_writes();
	publish();
	assert_true(was_written);
	assert_ptr_equal(served_at_write, old);
	assert_true(is_known("d.e.z.test") && is_known("e.z.test"));
	end_with_names();
}

/* Of a version that is a new one of another image only what differs is written; of the same version
 * nothing. */
static void nothing_twice(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	watch_writes();
	make_due(zone_of("z.test", text));
	publish();
	assert_false(was_written);
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	end_with_names();
}

/* What is not in the filter any more, since another one has begun, is added once more. */
static void another_filter(void **state)
{
	uint32_t id;

	(void)state;
	begin_with_names();
	publish();
	id = names_state.id;
	MUST(!names_begin(&names, no_readers, NULL));
	assert_false(is_known("b.z.test"));
	assert_int_equal(member_of(&entry)->names_id, id);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones); /* of one zone, but each member gets the new filter */
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_true(is_known("b.z.test") && is_known("d.z.test") && is_known("ns.y.test"));
	end_with_names();
}

/* Names stay unsaid of a zone that is not to be denied, and are there when it may be. */
static void no_denials(void **state)
{
	(void)state;
	begin_with_names();
	said.driver_denials = CONFIG_DENIALS_OFF;
	publish();
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_true(is_apex("z.test"));
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(member_of(&entry)->names_id, 0);
	said.driver_denials = CONFIG_DENIALS_AUTO;
	assert_int_equal(change("add e A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_true(is_known("b.z.test") && is_known("d.z.test") && is_known("e.z.test"));
	end_with_names();
}

/* A zone that cannot be served is an apex, so no zone above it denies its names. */
static void nothing_to_serve(void **state)
{
	struct config_zone below_said = { 0 };
	struct zones_entry below, *three[] = { &entry, &other, &below };
	char name[] = "s.z.test";
	uint8_t apex[DNS_NAME_MAX];

	(void)state;
	begin_with_names();
	begin_entry(&below, apex, &below_said, name);
	madezones_set(zones, three, 3);
	watch_writes();
	publish();
	assert_true(was_written);
	assert_ptr_equal(served_at_write, entry.zone);
	assert_null(member_of(&below)->zone);
	assert_int_equal(member_of(&below)->names_id, 0);
	assert_true(is_apex("s.z.test"));
	make_due_of(&below, zone_of("s.z.test", ZONE_HEAD));
	publish();
	assert_int_equal(member_of(&below)->names_id, names_state.id);
	assert_true(is_known("ns.s.z.test"));
	zone_unref(below.zone);
	madezones_set(zones, three, 2);
	end_with_names();
}

/* Expired, then back with other names: all of them are added. */
static void expired_and_back(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	zones_expire(zones, &entry);
	zones_flush(zones);
	assert_int_equal(member_of(&entry)->names_id, 0);
	make_due(zone_of("z.test", ZONE_HEAD "d A 192.0.2.1\n"));
	entry.loading.fresh->source = LOAD_TRANSFER;
	publish();
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_true(is_known("d.z.test"));
	end_with_names();
}

/* --- Editions --------------------------------------------------------------------------------- */

static struct shield shield;
static uint32_t edition_seen; /* while a grace period of a publish was waited for */
static int of_grace;

/* What was served before a grace period without an end is leaked: somebody may still read it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:zone_set_new";
}

static int see_edition(void *user)
{
	(void)user;
	edition_seen = shield.edition;
	return of_grace;
}

/* A set or a version takes the place of another one: answers are not judged from before that to the
 * end of the withdrawal. */
static void editions(void **state)
{
	uint32_t edition;

	(void)state;
	begin_with_names();
	shield = (struct shield){ 0 };
	published.shield = &shield;
	madezones_env(zones)->grace = see_edition;
	publish();
	edition = shield.edition;
	assert_true(edition_seen & 1);
	assert_true(edition && !(edition & 1));
	edition_seen = 0;
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones); /* a swap of one version */
	assert_true(edition_seen & 1 && !(shield.edition & 1));
	assert_int_not_equal(shield.edition, edition);
	edition = shield.edition;
	of_grace = -EIO; /* some may still publish what is of before */
	assert_int_equal(zones_publish(zones), -EIO);
	assert_true(shield.edition & 1);
	of_grace = 0;
	publish();
	assert_true(!(shield.edition & 1) && shield.edition != edition);
	published.shield = NULL;
	end_with_names();
}

/* --- Denials that stop ------------------------------------------------------------------------ */

static uint32_t generation(const struct zones_entry *e)
{
	return member_of(e)->cache_gen;
}

/* The filter lacked a name: no later publish brings denials back, of one zone or of all, and all
 * others keep theirs. */
static void stopped(void **state)
{
	uint32_t gen, other_gen;

	(void)state;
	begin_with_names();
	publish();
	gen = generation(&entry);
	other_gen = generation(&other);
	assert_int_equal(zones_stop_denials(zones, entry.apex, entry.apex_len, "why"), 0);
	assert_string_equal(entry.denials_fault, "why");
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_not_equal(generation(&entry), gen); /* the denial that the driver has is dead */
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_int_equal(generation(&other), other_gen);
	gen = generation(&entry);
	publish();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	make_due(zone_of("z.test", text));
	publish();
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_equal(generation(&entry), gen);
	assert_true(is_known("d.z.test"));
	assert_int_equal(zones_stop_denials(zones, entry.apex, entry.apex_len, "why"),
			 ERR_NOT_FOUND);
	assert_int_equal(zones_stop_denials(zones, (const uint8_t *)"\1x\4test", 8, "why"),
			 ERR_NOT_FOUND);
	end_with_names();
}

/* The same by the configuration, which may take it back. */
static void switched_off(void **state)
{
	uint32_t gen, id;

	(void)state;
	begin_with_names();
	publish();
	gen = generation(&entry);
	id = names_state.id;
	said.driver_denials = CONFIG_DENIALS_OFF;
	publish();
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_not_equal(generation(&entry), gen);
	said.driver_denials = CONFIG_DENIALS_AUTO;
	publish();
	assert_int_equal(member_of(&entry)->names_id, id);
	assert_int_not_equal(generation(&entry), gen); /* the old denial does not come back */
	end_with_names();
}

/* --- Another filter --------------------------------------------------------------------------- */

/* The names that went are out of it, and each zone has the new one; what was being changed is
 * served with the rest. */
static void rebuilt(void **state)
{
	uint32_t id, gen;

	(void)state;
	begin_with_names();
	publish();
	id = names_state.id;
	gen = generation(&entry);
	make_due(zone_of("z.test", ZONE_HEAD "d A 192.0.2.1\n"));
	publish();
	assert_true(is_known("b.z.test") && is_known("c.z.test"));
	assert_int_equal(names.n_gone, 2);
	assert_int_equal(change("add e A 192.0.2.4"), 0);
	assert_int_equal(zones_rebuild_names(zones, false), 0);
	assert_int_not_equal(names_state.id, id);
	assert_int_equal(names.n_gone, 0);
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_int_equal(generation(&entry), gen); /* answers stay */
	assert_true(is_known("d.z.test") && is_known("e.z.test") && is_known("ns.y.test"));
	assert_true(is_apex("z.test") && is_apex("y.test"));
	assert_false(is_known("b.z.test") || is_known("c.z.test"));
	assert_int_equal(zones_n_names(zones), 4 + 4); /* apex, ns, d, e; apex, ns, b, c */
	end_with_names();
}

static int no_end(void *user)
{
	(void)user;
	return -EIO;
}

/* Then nothing is denied, until it succeeds. */
static void not_rebuilt(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	madezones_env(zones)->grace = no_end;
	assert_int_equal(zones_rebuild_names(zones, false), -EIO);
	assert_int_equal(names_state.id, 0);
	madezones_env(zones)->grace = no_readers;
	publish();
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_equal(zones_rebuild_names(zones, false), 0);
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	assert_true(names_state.id && is_known("b.z.test") && is_known("ns.y.test"));
	end_with_names();
}

static void forgiven(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	assert_int_equal(zones_stop_denials(zones, entry.apex, entry.apex_len, "why"), 0);
	assert_int_equal(zones_rebuild_names(zones, false), 0);
	assert_int_equal(member_of(&entry)->names_id, 0);
	assert_int_equal(member_of(&other)->names_id, names_state.id);
	assert_int_equal(zones_rebuild_names(zones, true), 0);
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	end_with_names();
}

/* All names of a zone that expires, or is taken out, have gone. */
static void zones_that_go(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	zones_expire(zones, &entry);
	zones_flush(zones);
	assert_int_equal(names.n_gone, 4);
	other.life = ZONES_GONE;
	publish();
	assert_int_equal(names.n_gone, 8);
	publish();
	assert_int_equal(names.n_gone, 8);
	end_with_names();
}

/* --- A few of them ---------------------------------------------------------------------------- */

static void names_before_a_swap(void **state)
{
	const struct zone_set *set;
	struct zone *old;

	(void)state;
	begin_with_names();
	publish();
	old = entry.zone;
	set = published.set;
	assert_int_equal(change("add x.y A 192.0.2.4"), 0);
	watch_writes();
	zones_flush(zones);
	assert_ptr_equal(published.set, set); /* it was swapped in place */
	assert_ptr_not_equal(entry.zone, old);
	assert_true(was_written);
	assert_ptr_equal(served_at_write, old);
	assert_true(is_known("x.y.z.test") && is_known("y.z.test"));
	assert_int_equal(member_of(&entry)->names_id, names_state.id);
	end_with_names();
}

/* What is there already is not looked at: that it has gone, by a filter that is emptied here, is
 * not seen. */
static void only_what_differs(void **state)
{
	(void)state;
	begin_with_names();
	publish();
	memset(lines, 0, LINE_BYTES);
	assert_int_equal(change("add d 300 A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_true(is_known("d.z.test"));
	assert_false(is_known("b.z.test"));
	memset(lines, 0, LINE_BYTES);
	make_due(zone_of("z.test", ZONE_HEAD "d A 192.0.2.4\nb A 192.0.2.9\n"));
	publish();
	assert_true(is_known("b.z.test"));
	assert_false(is_known("d.z.test"));
	end_with_names();
}

#define CHAIN "@ NSEC b A\nb A 192.0.2.1\nb NSEC ns A\nns NSEC @ A\n"

/* How a name with this first label is found in the region that the set names. */
static int find_label(const char *label, uint64_t *start)
{
	const struct zone_member *m = member_of(&entry);
	uint32_t n = (uint32_t)strlen(label);

	return intervals_find(lines, N_LINES + N_BEHIND, m->intervals.at, m->intervals.id,
			      volley_intervals_label_point((const uint8_t *)label, n), start);
}

/* A version that changes little takes the place of the one before, which the set's region is for,
 * too; another region needs a new set. */
static void intervals(void **state)
{
	static const char *const insertion[] = { "remove b NSEC", "add b NSEC c A",
						 "add c A 192.0.2.4", "add c NSEC ns A" };
	const struct zone_set *set;
	uint64_t start;
	uint32_t id;

	(void)state;
	begin_with_names();
	publish();
	assert_int_equal(member_of(&entry)->intervals.id, 0); /* it is not signed */
	make_due(zone_of("z.test", ZONE_HEAD CHAIN));
	publish();
	id = member_of(&entry)->intervals.id;
	assert_int_equal(id, names_state.intervals_id);
	assert_int_equal(member_of(&other)->intervals.id, 0);
	assert_int_equal(find_label("b", &start), 1);
	assert_int_equal(find_label("c", &start), 0);
	assert_int_equal(start, 'b' * (1ull << 56));
	assert_int_equal(change("add x A 192.0.2.4"), 0); /* no more a closed chain */
	zones_flush(zones);
	assert_int_equal(member_of(&entry)->intervals.id, 0);
	assert_int_equal(lines[N_LINES].words[0] & UINT32_MAX, 0); /* the head of the first */
	assert_int_equal(change("remove x A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(member_of(&entry)->intervals.id, id + 1);
	assert_int_equal(find_label("c", &start), 0);
	assert_int_equal(find_label("x", &start), 0); /* and x was never a point of it */
	set = published.set;
	for (size_t i = 0; i < sizeof(insertion) / sizeof(insertion[0]); i++)
		assert_int_equal(change(insertion[i]), 0);
	zones_flush(zones);
	assert_ptr_equal(published.set, set); /* it was swapped in place */
	assert_int_equal(member_of(&entry)->intervals.id, id + 1);
	assert_int_equal(find_label("c", &start), 1);
	assert_int_equal(find_label("x", &start), 0);
	assert_int_equal(start >> 56, 'n'); /* of ns */
	end_with_names();
}

/* A name behind the one before in the chain, before ns. */
static void insert_label(char label, char before)
{
	static const char *const lines_of[] = { "remove %c NSEC", "add %c NSEC %c A" };
	char line[64];

	for (unsigned int i = 0; i < 2; i++) {
		snprintf(line, sizeof(line), lines_of[i], before, label);
		assert_int_equal(change(line), 0);
	}
	snprintf(line, sizeof(line), "add %c A 192.0.2.4", label);
	assert_int_equal(change(line), 0);
	snprintf(line, sizeof(line), "add %c NSEC ns A", label);
	assert_int_equal(change(line), 0);
	zones_flush(zones);
	n_told = 0;
}

/* Versions are swapped in place until the region is full: then another one is in a new set. */
static void intervals_that_are_full(void **state)
{
	const struct zone_set *set;
	uint64_t start;
	uint32_t id;

	(void)state;
	begin_with_names();
	make_due(zone_of("z.test", ZONE_HEAD CHAIN));
	publish();
	set = published.set;
	id = member_of(&entry)->intervals.id;
	for (char c = 'c'; c <= 'h'; c++) {
		insert_label(c, (char)(c - 1));
		assert_ptr_equal(published.set, set);
		assert_int_equal(member_of(&entry)->intervals.id, id);
		assert_int_equal(find_label("az", &start), 0);
	}
	insert_label('i', 'h');
	assert_int_equal(member_of(&entry)->intervals.id, id + 1);
	assert_int_equal(find_label("az", &start), 0);
	assert_int_equal(find_label("i", &start), 1);
	end_with_names();
}

/* A zone that is not to be denied has a region, and does not say so. */
static void intervals_without_denials(void **state)
{
	(void)state;
	begin_with_names();
	said.driver_denials = CONFIG_DENIALS_OFF;
	make_due(zone_of("z.test", ZONE_HEAD CHAIN));
	publish();
	assert_int_equal(member_of(&entry)->intervals.id, 0);
	said.driver_denials = CONFIG_DENIALS_AUTO;
	publish();
	assert_int_equal(member_of(&entry)->intervals.id, names_state.intervals_id);
	end_with_names();
}

/* Without a filter nothing is said. */
static void no_filter(void **state)
{
	(void)state;
	begin_with_names();
	madezones_env(zones)->names = NULL;
	watch_writes();
	publish();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_false(was_written);
	assert_int_equal(member_of(&entry)->names_id, 0);
	end_with_names();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_names_at_first),
		cmocka_unit_test(names_before_the_set),
		cmocka_unit_test(nothing_twice),
		cmocka_unit_test(another_filter),
		cmocka_unit_test(no_denials),
		cmocka_unit_test(nothing_to_serve),
		cmocka_unit_test(expired_and_back),
		cmocka_unit_test(names_before_a_swap),
		cmocka_unit_test(only_what_differs),
		cmocka_unit_test(no_filter),
		cmocka_unit_test(editions),
		cmocka_unit_test(stopped),
		cmocka_unit_test(switched_off),
		cmocka_unit_test(intervals),
		cmocka_unit_test(intervals_that_are_full),
		cmocka_unit_test(intervals_without_denials),
		cmocka_unit_test(rebuilt),
		cmocka_unit_test(not_rebuilt),
		cmocka_unit_test(forgiven),
		cmocka_unit_test(zones_that_go),
	};
	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return rc;
}
