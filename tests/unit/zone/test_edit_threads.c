/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers under RCU while versions come and go: each query sees one version, whole. Every version
 * has the number of its SOA in the TTLs of some names, and names that only it has. Meant for the
 * thread sanitizer, which does not see the barriers of liburcu: so quiescent states are told by
 * atomics here.
 */
#include <pthread.h>
#include <sched.h>

#include "tests/lib/must.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/diff.h"
#include "zone/edit.h"
#include "zone/zone_walk.h"

#define N_EDITS   300u
#define N_READERS 3
#define N_HOLD    50u

struct shared {
	struct zone *z; /* under RCU */
	bool stop;
	uint32_t n_reads;
	uint32_t period;          /* the writer's */
	uint32_t seen[N_READERS]; /* by each reader, outside of any read section */
	uint32_t n_started;
};

static void quiescent(struct shared *s, uint32_t self)
{
	uint32_t period = __atomic_load_n(&s->period, __ATOMIC_ACQUIRE);

	__atomic_store_n(&s->seen[self], period, __ATOMIC_RELEASE);
}

/* All that read before have ended. */
static void synchronize(struct shared *s)
{
	uint32_t period = __atomic_add_fetch(&s->period, 1, __ATOMIC_ACQ_REL);

	for (unsigned i = 0; i < N_READERS; i++)
		while (__atomic_load_n(&s->seen[i], __ATOMIC_ACQUIRE) != period)
			sched_yield();
}

static struct zone *dereference(struct shared *s)
{
	return __atomic_load_n(&s->z, __ATOMIC_ACQUIRE);
}

static const uint8_t txt_rdata[] = "\1x";

static uint32_t ttl_of(const struct zone *z, const char *name)
{
	struct zone_result r;

	zone_find(z, (const uint8_t *)name, (unsigned)name_bytes((const uint8_t *)name),
		  DNS_TYPE_TXT, &r);
	MUST(r.status == ZONE_ANSWER && r.rrset->n == 1);
	return r.rrset->ttl;
}

static void look(const struct zone *z)
{
	uint32_t serial = zone_serial(z);

	MUST(ttl_of(z, "\1a\1z") == serial);
	MUST(ttl_of(z, "\1c\1b\1z") == serial);
	MUST(ttl_of(z, serial % 2 ? "\3odd\1z" : "\4even\1z") == serial);
	MUST(!zone_node_of(z, (const uint8_t *)(serial % 2 ? "\4even\1z" : "\3odd\1z")));
	MUST(zone_n_names(z) == 6);
}

static int count(void *context, const struct zone_change *change)
{
	(void)change;
	++*(unsigned *)context;
	return 0;
}

/* Holds a version without RCU for a while, as a transfer does, and then asks what came since. */
static void hold(struct shared *s, struct zone **held)
{
	struct zone *now = zone_ref(dereference(s));
	unsigned n = 0;

	if (*held) {
		look(*held);
		MUST(!zone_diff(*held, now, count, &n));
		MUST((n == 0) == (zone_serial(*held) == zone_serial(now)));
		zone_unref(*held);
	}
	*held = now;
}

static void *reader(void *arg)
{
	struct shared *s = arg;
	struct zone *held = NULL;
	uint32_t self = __atomic_fetch_add(&s->n_started, 1, __ATOMIC_RELAXED);

	for (unsigned i = 0; !__atomic_load_n(&s->stop, __ATOMIC_RELAXED); i++) {
		look(dereference(s));
		if (i % N_HOLD == 0)
			hold(s, &held);
		quiescent(s, self);
		__atomic_add_fetch(&s->n_reads, 1, __ATOMIC_RELAXED);
	}
	zone_unref(held);
	return NULL;
}

static void set(struct zone_edit *e, const char *name, uint32_t ttl)
{
	MUST(zone_edit_add(e, (const uint8_t *)name, DNS_TYPE_TXT, ttl, txt_rdata, 2) == 0);
}

/* The next version, with @serial everywhere. */
static struct zone *next(struct zone *z, uint32_t serial)
{
	uint8_t soa[] = "\2ns\1z\0\1h\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5";
	const uint8_t *gone = (const uint8_t *)(serial % 2 ? "\4even\1z" : "\3odd\1z");
	struct zone_error err;
	struct zone_edit *e;
	struct zone *out;

	wire_store_be32(soa + sizeof(soa) - 1 - 20, serial);
	MUST(!zone_edit_begin(&e, z));
	MUST(!zone_edit_remove_rrset(e, (const uint8_t *)"\1z", DNS_TYPE_SOA));
	MUST(!zone_edit_add(e, (const uint8_t *)"\1z", DNS_TYPE_SOA, 300, soa, sizeof(soa) - 1));
	set(e, "\1a\1z", serial);
	set(e, "\1c\1b\1z", serial);
	set(e, serial % 2 ? "\3odd\1z" : "\4even\1z", serial);
	MUST(!zone_edit_remove_name(e, gone));
	MUST(!zone_edit_finish(e, &out, NULL, &err));
	return out;
}

static void test_readers(void **state)
{
	struct shared s = { 0 };
	pthread_t threads[N_READERS];

	(void)state;
	s.z = zone_of("z", "@ 300 SOA ns h 1 2 3 4 5\n@ 300 NS ns\nns 300 A 192.0.2.1\n"
			   "a 1 TXT x\nc.b 1 TXT x\nodd 1 TXT x\n");
	for (unsigned i = 0; i < N_READERS; i++)
		MUST(!pthread_create(&threads[i], NULL, reader, &s));
	for (uint32_t serial = 2; serial < N_EDITS; serial++) {
		struct zone *old = s.z;

		__atomic_store_n(&s.z, next(old, serial), __ATOMIC_RELEASE);
		synchronize(&s);
		zone_unref(old);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < N_READERS; i++)
		MUST(!pthread_join(threads[i], NULL));
	look(s.z);
	MUST(s.n_reads);
	zone_unref(s.z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
