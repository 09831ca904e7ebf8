/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/sharedzones.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/wire.h"
#include "cache/generations.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "engine/engine.h"
#include "shield/shield.h"
#include "tests/lib/must.h"
#include "zone/builder.h"
#include "zone/nsec3_chain.h"
#include "zone/set.h"
#include "zone/zone.h"

#define TTL           300u
#define HASH_BYTES    20u
#define ENTRY_BYTES   1000u /* of one with NSEC3; the others are smaller */
#define MESSAGE_BYTES (DNS_HEADER_BYTES + SHAREDZONE_LABEL_BYTES + SHAREDZONE_APEX_BYTES + 4 + 11)

const uint8_t sharedzone_apexes[N_SHAREDZONES][SHAREDZONE_APEX_BYTES] = { "\5wilds\4test",
									  "\5nsec1\4test",
									  "\5nsec3\4test" };

/* An owner of NSEC or NSEC3: its first label, and the first point of its interval. */
struct owner {
	uint64_t point;
	uint8_t label[1 + NSEC3_LABEL_CHARS];
};

struct making {
	struct cache *cache;
	struct names *names;
	struct zone_member members[N_SHAREDZONES];
	struct zone *zones[N_SHAREDZONES];
	struct owner *owners[N_SHAREDZONES];
	uint32_t n_owners[N_SHAREDZONES];
	struct shield shield;
	struct engine_data data;
};

/* --- Records ---------------------------------------------------------------------------------- */

static void put(struct zone_builder *b, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
		size_t n)
{
	struct zone_error err;
	struct zone_builder_record r = {
		.owner = owner,
		.owner_bytes = (unsigned int)name_bytes(owner),
		.type = type,
		.ttl = TTL,
		.rdata = rdata,
		.rdata_bytes = (uint16_t)n,
	};

	MUST(!zone_builder_add(b, &r, &err));
}

static void put_signature(struct zone_builder *b, const uint8_t *apex, const uint8_t *owner,
			  uint16_t type)
{
	uint8_t rdata[18 + SHAREDZONE_APEX_BYTES + 64];

	wire_store_be16(rdata, type);
	rdata[2] = 13;
	rdata[3] = (uint8_t)name_n_labels(owner);
	wire_store_be32(rdata + 4, TTL);
	wire_store_be32(rdata + 8, 0x7f000000);
	wire_store_be32(rdata + 12, 0x60000000);
	wire_store_be16(rdata + 16, 1);
	memcpy(rdata + 18, apex, SHAREDZONE_APEX_BYTES);
	memset(rdata + 18 + SHAREDZONE_APEX_BYTES, 's', 64);
	put(b, owner, DNS_TYPE_RRSIG, rdata, sizeof(rdata));
}

/* Adds SOA and NS, and in a signed zone their signatures. */
static void put_apex(struct zone_builder *b, const uint8_t *apex, bool is_signed)
{
	static const uint8_t ns[] = "\2ns\5bench\4test", nsec3param[] = { 1, 0, 0, 0, 0 };
	uint8_t soa[2 * SHAREDZONE_APEX_BYTES + 20] = { 0 };

	memcpy(soa, apex, SHAREDZONE_APEX_BYTES);
	memcpy(soa + SHAREDZONE_APEX_BYTES, apex, SHAREDZONE_APEX_BYTES);
	for (unsigned int i = 0; i < 5; i++)
		wire_store_be32(soa + 2 * SHAREDZONE_APEX_BYTES + 4 * i, TTL);
	put(b, apex, DNS_TYPE_SOA, soa, sizeof(soa));
	put(b, apex, DNS_TYPE_NS, ns, sizeof(ns));
	if (!is_signed)
		return;
	put_signature(b, apex, apex, DNS_TYPE_SOA);
	put_signature(b, apex, apex, DNS_TYPE_NS);
	if (apex == sharedzone_apexes[SHAREDZONE_NSEC3])
		put(b, apex, DNS_TYPE_NSEC3PARAM, nsec3param, sizeof(nsec3param));
}

/* Makes label.apex; an empty label gives the apex itself. */
static void make_name(uint8_t *to, const uint8_t *label, const uint8_t *apex)
{
	unsigned int n = label[0] ? 1u + label[0] : 0;

	memcpy(to, label, n);
	memcpy(to + n, apex, SHAREDZONE_APEX_BYTES);
}

/* --- Chains ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	return memcmp(((const struct owner *)a)->label, ((const struct owner *)b)->label,
		      sizeof(((const struct owner *)a)->label));
}

/* Decodes a label, the hash in base32hex of lower case. */
static void hash_octets(uint8_t hash[HASH_BYTES], const uint8_t *label)
{
	uint64_t bits = 0;
	unsigned int n_bits = 0, n = 0;

	for (unsigned int i = 1; i <= NSEC3_LABEL_CHARS; i++) {
		bits = bits << 5 | (label[i] >= 'a' ? label[i] - 'a' + 10u : label[i] - 48u);
		for (n_bits += 5; n_bits >= 8; n_bits -= 8)
			hash[n++] = (uint8_t)(bits >> (n_bits - 8));
	}
}

static uint64_t word_of(const uint8_t octets[8])
{
	return (uint64_t)wire_load_be32(octets) << 32 | wire_load_be32(octets + 4);
}

static void make_owner(struct owner *owner, enum sharedzone which, const uint8_t *name)
{
	const struct nsec3_params params = { 0 };
	struct nsec3_label hashed;
	uint8_t octets[HASH_BYTES] = { 0 };

	*owner = (struct owner){ 0 };
	if (which == SHAREDZONE_NSEC) {
		memcpy(owner->label, name, 1u + name[0]);
		memcpy(octets, name + 1, name[0] < 8 ? name[0] : 8);
	} else {
		nsec3_hash(&params, name, &hashed);
		memcpy(owner->label, hashed.label, sizeof(hashed.label));
		hash_octets(octets, hashed.label);
	}
	owner->point = word_of(octets);
}

/* Each name has an address; the apex has more records. */
static void put_link(struct zone_builder *b, enum sharedzone which, const uint8_t *owner,
		     const struct owner *next, bool is_apex)
{
	static const uint8_t types[2][8] = { { 0, 6, 0x40, 0, 0, 0, 0, 3 },
					     { 0, 6, 0x22, 0, 0, 0, 0, 3 } };
	const uint8_t *apex = sharedzone_apexes[which];
	uint8_t rdata[DNS_NAME_MAX + sizeof(types[0])] = { 1, 0, 0, 0, 0, HASH_BYTES };
	bool nsec3 = which == SHAREDZONE_NSEC3;
	size_t n = 6 + HASH_BYTES;

	if (nsec3) {
		hash_octets(rdata + 6, next->label);
	} else {
		make_name(rdata, next->label, apex);
		n = name_bytes(rdata);
	}
	memcpy(rdata + n, types[is_apex], sizeof(types[0]));
	put(b, owner, nsec3 ? DNS_TYPE_NSEC3 : DNS_TYPE_NSEC, rdata, n + sizeof(types[0]));
	put_signature(b, apex, owner, nsec3 ? DNS_TYPE_NSEC3 : DNS_TYPE_NSEC);
}

/* With NSEC the apex is the first owner, with an empty label; with NSEC3 it is one among the
 * others. */
static void put_chain(struct making *m, struct zone_builder *b, enum sharedzone which)
{
	const uint8_t *apex = sharedzone_apexes[which];
	struct owner *owners = m->owners[which];
	uint32_t n = m->n_owners[which];
	uint8_t name[DNS_NAME_MAX];

	qsort(owners, n, sizeof(*owners), compare);
	for (uint32_t i = 0; i < n; i++) {
		make_name(name, owners[i].label, apex);
		put_link(b, which, name, &owners[(i + 1) % n], !owners[i].label[0]);
	}
}

static struct zone *finish(struct zone_builder *b)
{
	struct zone_error err;
	struct zone *zone;

	MUST(!zone_builder_finish(b, &zone, &err));
	zone_builder_free(b);
	return zone;
}

static void make_signed(struct making *m, enum sharedzone which, sharedzone_label_fn *label,
			uint32_t n)
{
	static const uint8_t address[] = { 192, 0, 2, 1 };
	const uint8_t *apex = sharedzone_apexes[which];
	struct zone_builder *b;
	uint8_t name[DNS_NAME_MAX];

	m->owners[which] = calloc(n + 1, sizeof(*m->owners[which]));
	MUST(m->owners[which] && !zone_builder_new(&b, apex));
	put_apex(b, apex, true);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t octets = label(i);

		make_name(name, (const uint8_t *)&octets, apex);
		put(b, name, DNS_TYPE_A, address, sizeof(address));
		make_owner(&m->owners[which][i], which, name);
	}
	if (which == SHAREDZONE_NSEC3)
		make_owner(&m->owners[which][n], which, apex);
	m->n_owners[which] = n + 1;
	put_chain(m, b, which);
	m->zones[which] = finish(b);
}

static void make_wild(struct making *m)
{
	static const uint8_t address[] = { 192, 0, 2, 1 };
	const uint8_t *apex = sharedzone_apexes[SHAREDZONE_WILD];
	struct zone_builder *b;
	uint8_t name[DNS_NAME_MAX];

	MUST(!zone_builder_new(&b, apex));
	put_apex(b, apex, false);
	make_name(name, (const uint8_t *)"\1*", apex);
	put(b, name, DNS_TYPE_A, address, sizeof(address));
	m->zones[SHAREDZONE_WILD] = finish(b);
}

/* --- Serving ---------------------------------------------------------------------------------- */

static void prepare(struct making *m, enum sharedzone which)
{
	const uint64_t digest[2] = { 2, which };
	struct zone_member *member = &m->members[which];
	struct volley_zone_intervals intervals;

	*member = (struct zone_member){ .apex = sharedzone_apexes[which],
					.apex_len = SHAREDZONE_APEX_BYTES,
					.zone = m->zones[which],
					.names_id = names_id(m->names) };
	cache_zone_prepare(m->cache, member->apex, member->apex_len, digest, &member->cache_slot,
			   &member->cache_gen);
	cache_zone_commit(m->cache, member->cache_slot, member->cache_gen, digest);
	names_add_apex(m->names, member->apex, member->apex_len);
	names_add_zone(m->names, member->zone, NULL);
	intervals_of(&m->names->intervals, member->apex, member->apex_len, &intervals);
	member->intervals.at = intervals.at;
	member->intervals.id = intervals.id;
	MUST((which == SHAREDZONE_WILD) == !intervals.id);
}

/* A query of type A with OPT, and with DO unless it is for the wildcard. */
static void make_query(uint8_t message[MESSAGE_BYTES], enum sharedzone which, uint64_t label)
{
	uint8_t *at = message + DNS_HEADER_BYTES;

	memset(message, 0, MESSAGE_BYTES);
	message[5] = message[11] = 1;
	make_name(at, (const uint8_t *)&label, sharedzone_apexes[which]);
	at += SHAREDZONE_LABEL_BYTES + SHAREDZONE_APEX_BYTES;
	at[1] = at[3] = 1;
	at[4 + 2] = DNS_TYPE_OPT;
	wire_store_be16(at + 4 + 3, VOLLEY_UDP_MAX);
	at[4 + 7] = which == SHAREDZONE_WILD ? 0 : 0x80;
}

static int ask_each(struct making *m, uint64_t label)
{
	static uint8_t out[DNS_MESSAGE_MAX];
	static const uint8_t client[] = { 192, 0, 2, 1 };
	const struct engine_config config = ENGINE_CONFIG_INIT;
	uint8_t message[MESSAGE_BYTES];
	struct engine_request rq = { .msg = message,
				     .len = sizeof(message),
				     .family = AF_INET,
				     .client = client,
				     .now_s = clock_coarse_s(),
				     .wall_s = (uint32_t)clock_wall_s() };
	struct engine *engine;
	int err = engine_new(&engine, &config, m->cache, &m->data);

	if (err)
		return err;
	for (int i = 0; i < N_SHAREDZONES; i++) {
		make_query(message, (enum sharedzone)i, label);
		MUST(engine_answer(engine, &rq, out, sizeof(out)));
	}
	engine_free(engine);
	return 0;
}

/* --- Intervals -------------------------------------------------------------------------------- */

static void interval_key(const struct making *m, struct cache_key *key, enum sharedzone which,
			 uint64_t start)
{
	uint32_t id = names_id(m->names);
	struct volley_key first = { .qclass = __builtin_bswap16(VOLLEY_SHARED_CLASS(id)),
				    .flags = VOLLEY_KEY_DO,
				    .name_bytes = 9 + SHAREDZONE_APEX_BYTES,
				    .kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_INTERVAL, id) };
	uint8_t name[9 + SHAREDZONE_APEX_BYTES] = { 8 };

	wire_store_be32(name + 1, (uint32_t)(start >> 32));
	wire_store_be32(name + 5, (uint32_t)start);
	memcpy(name + 9, sharedzone_apexes[which], SHAREDZONE_APEX_BYTES);
	cache_key_from(key, m->cache, &first, name);
}

/* Finds the answer that the engine has published for the interval of this label. */
static int find_answer(const struct making *m, enum sharedzone which, uint64_t label,
		       struct cache_answer *answer)
{
	const struct zone_member *member = &m->members[which];
	const struct volley_entry *entry;
	uint8_t name[DNS_NAME_MAX];
	struct cache_key key;
	uint64_t point, start;

	make_name(name, (const uint8_t *)&label, member->apex);
	if (!intervals_point(member->zone, name, &point) ||
	    intervals_find(m->names->lines, m->shield.n_lines, member->intervals.at,
			   member->intervals.id, point, &start))
		return -ENOENT;
	interval_key(m, &key, which, start);
	if (cache_lookup(m->cache, &key, clock_coarse_s(), false, &entry) != CACHE_HIT)
		return -ENOENT;
	cache_answer_of(answer, entry, clock_coarse_s());
	return 0;
}

/* Publishes the same answer for all other intervals. */
static int publish_intervals(struct making *m, enum sharedzone which, uint64_t label)
{
	static uint8_t body[VOLLEY_UDP_MAX + sizeof(struct volley_shared)];
	struct cache_answer answer;
	struct cache_writer *writer;
	struct cache_key key;
	int err = find_answer(m, which, label, &answer);

	if (!err)
		err = cache_writer_new(&writer, m->cache);
	if (err)
		return err;
	memcpy(body, answer.body, answer.full_bytes);
	answer.body = body;
	for (uint32_t i = 0; !err && i < m->n_owners[which]; i++) {
		interval_key(m, &key, which, m->owners[which][i].point);
		err = cache_publish(writer, &key, &answer, clock_coarse_s());
	}
	cache_writer_free(writer);
	return err;
}

/* --- All of it -------------------------------------------------------------------------------- */

uint64_t sharedzones_cache_bytes(uint32_t n)
{
	return 2ull * n * ENTRY_BYTES * 5 / 4;
}

uint32_t sharedzones_lines(uint32_t n)
{
	uint32_t n_lines = 2 + n / 4; /* a point takes 0.225 lines (14.4 octets) */

	return 2 * n_lines + 16;
}

static void making_fini(struct making *m)
{
	zone_set_free(m->data.set);
	for (int i = 0; i < N_SHAREDZONES; i++) {
		zone_free(m->zones[i]);
		free(m->owners[i]);
	}
}

int sharedzones_publish(struct cache *cache, struct names *names, sharedzone_label_fn *label,
			uint32_t n, uint32_t asked)
{
	static struct making m;
	int err;

	m = (struct making){ .cache = cache, .names = names };
	make_wild(&m);
	make_signed(&m, SHAREDZONE_NSEC, label, n);
	make_signed(&m, SHAREDZONE_NSEC3, label, n);
	for (int i = 0; i < N_SHAREDZONES; i++)
		prepare(&m, (enum sharedzone)i);
	shield_init(&m.shield, names->lines, names->intervals.first + names->intervals.n_lines);
	m.data.shield = &m.shield;
	rcu_register_thread();
	err = zone_set_new(&m.data.set, m.members, N_SHAREDZONES);
	if (!err)
		err = ask_each(&m, label(asked));
	for (int i = SHAREDZONE_NSEC; !err && i < N_SHAREDZONES; i++)
		err = publish_intervals(&m, (enum sharedzone)i, label(asked));
	rcu_unregister_thread();
	making_fini(&m);
	return err;
}
