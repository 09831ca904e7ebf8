/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/answers.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "base/siphash.h"
#include "cache/generations.h"
#include "report/report_view.h"
#include "dns/proto.h"
#include "xdp/count.h"

#define N_COUNTERS (sizeof(struct volley_answers) / sizeof(uint64_t))

/* A program, by its id in the kernel, and its counters at the last read. */
struct source {
	uint32_t program_id; /* 0: none */
	struct volley_answers last;
};

#define OWNER_NO_ZONE 2u /* digests are odd */

/* A place of by_zone. */
struct place {
	/* digest of the zone's name; OWNER_NO_ZONE: answers from upstream and the like; 0: none */
	uint64_t owner;
	uint64_t base; /* the counter when the owner got this place */
	uint64_t last; /* the counter at the last read */
	bool is_left;  /* no owner, and the earlier owner was a zone */
	char *name;    /* of the zone that owns it; NULL: none does */
};

struct answers {
	struct source sources[CONFIG_INTERFACES_MAX];
	struct volley_answers
		/* of programs that are gone, less old counts of adopted programs; modulo 2^64 */
		gone;
	struct engine_answers sum;          /* as of the last read; by_way of the workers alone */
	struct engine_answers of_transfers; /* as of the last read: a part of the sum */
	uint64_t by_driver;
	uint64_t zones_gone; /* answers of zones that have gone, or lost their places */
	struct place places[VOLLEY_COUNT_ZONES];
	/* The present owners, and whether they have been found since the places last changed. */
	uint64_t owners[VOLLEY_COUNT_ZONES];
	bool are_found;
	uint32_t found_at;     /* cache_zone_counter_changes() then */
	struct volley_cpu cpu; /* buffer for a read */
};

struct answers *answers_new(void)
{
	return calloc(1, sizeof(struct answers));
}

void answers_free(struct answers *answers)
{
	for (size_t i = 0; answers && i < VOLLEY_COUNT_ZONES; i++)
		free(answers->places[i].name);
	free(answers);
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void add_answers(struct volley_answers *sum, const struct volley_answers *of)
{
	for (size_t i = 0; i < N_COUNTERS; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)of)[i];
}

static void subtract(struct volley_answers *sum, const struct volley_answers *of)
{
	for (size_t i = 0; i < N_COUNTERS; i++)
		((uint64_t *)sum)[i] -= ((const uint64_t *)of)[i];
}

static const struct program *find_program(const struct report_view *v, uint32_t id)
{
	for (size_t i = 0; i < v->n_ifaces; i++)
		if (v->ifaces[i].program && program_id(v->ifaces[i].program) == id)
			return v->ifaces[i].program;
	return NULL;
}

/* Keeps the counts of programs that are gone. */
static void keep_gone(struct answers *a, const struct report_view *v)
{
	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++) {
		struct source *s = &a->sources[i];

		if (!s->program_id || find_program(v, s->program_id))
			continue;
		add_answers(&a->gone, &s->last);
		s->program_id = 0;
	}
}

static struct source *source_of(struct answers *a, uint32_t id)
{
	struct source *vacant = NULL;

	for (size_t i = 0; i < CONFIG_INTERFACES_MAX; i++) {
		if (a->sources[i].program_id == id)
			return &a->sources[i];
		if (!a->sources[i].program_id && !vacant)
			vacant = &a->sources[i];
	}
	return vacant;
}

static void read_program(struct answers *a, const struct program *program)
{
	const uint32_t id = program_id(program);
	struct source *s = source_of(a, id);

	if (!s || program_counters(program, &a->cpu))
		return;
	if (s->program_id != id && program_origin(program) == PROGRAM_ADOPTED)
		subtract(&a->gone, &a->cpu.answers);
	s->program_id = id;
	s->last = a->cpu.answers;
}

static uint64_t digest_of_answers(const struct zones_entry *entry)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "volley answers";

	return siphash24(key, entry->apex, entry->apex_len) | 1;
}

/*
 * The present owner of a place, and its counter. If a zone has lost the place, its answers move to
 * zones_gone. So do answers that are counted there before the next owner comes, since they were
 * begun earlier. Answers of no zone do not move.
 */
static void read_answers_place(struct answers *a, struct place *place, uint64_t owner, uint64_t n)
{
	const bool is_zones = place->owner && place->owner != OWNER_NO_ZONE;

	if (place->owner != owner) {
		place->is_left = !owner && is_zones;
		if (is_zones)
			a->zones_gone += place->last - place->base;
		place->base = place->last;
		place->owner = owner;
	}
	if (place->is_left) {
		a->zones_gone += n - place->base;
		place->base = n;
	}
	place->last = n;
}

static void note_owner(struct answers *a, const struct report_view *v,
		       const struct zones_entry *entry)
{
	uint32_t at = cache_zone_counter(v->cache, entry->published.slot);

	if (at < VOLLEY_COUNT_FIRST_ZONE)
		return;
	a->owners[at] = digest_of_answers(entry);
	a->places[at].name = strdup(entry->name);
	a->are_found &= a->places[at].name != NULL;
}

/* Looks at all zones, unless no place has another owner than before. */
static void find_owners(struct answers *a, const struct report_view *v)
{
	size_t i;

	if (a->are_found && a->found_at == cache_zone_counter_changes())
		return;
	a->are_found = true;
	a->found_at = cache_zone_counter_changes();
	for (i = 0; i < VOLLEY_COUNT_ZONES; i++) {
		a->owners[i] = 0;
		free(a->places[i].name);
		a->places[i].name = NULL;
	}
	for (i = 0; i < N_OTHER_SLOTS; i++)
		a->owners[cache_zone_counter(v->cache, v->other_slots[i])] = OWNER_NO_ZONE;
	for (i = 0; v->zones && i < zones_n(v->zones); i++)
		note_owner(a, v, zones_at(v->zones, i));
}

static void read_places(struct answers *a, const struct report_view *v)
{
	find_owners(a, v);
	for (size_t i = VOLLEY_COUNT_FIRST_ZONE; i < VOLLEY_COUNT_ZONES; i++)
		read_answers_place(a, &a->places[i], a->owners[i], a->sum.of.by_zone[i]);
}

size_t answers_zones(const struct answers *a, const char *names[ANSWERS_ZONES_MAX])
{
	size_t n = 0;

	for (size_t i = VOLLEY_COUNT_FIRST_ZONE; i < VOLLEY_COUNT_ZONES; i++)
		if (a->places[i].name)
			names[n++] = a->places[i].name;
	return n;
}

/* Adds the transfer thread's own replies. */
static void read_transfers(struct answers *a, const struct report_view *v)
{
	a->of_transfers = (struct engine_answers){ 0 };
	if (!v->transfer_bridge)
		return;
	transfer_answers_add(transfer_bridge_thread(v->transfer_bridge), &a->of_transfers);
	add_answers(&a->sum.of, &a->of_transfers.of);
	for (size_t i = 0; i < ENGINE_OPCODES; i++)
		a->sum.by_opcode[i] += a->of_transfers.by_opcode[i];
}

void answers_read(const struct report_view *v)
{
	struct answers *a = v->answers;
	size_t i;

	keep_gone(a, v);
	for (i = 0; i < v->n_ifaces; i++)
		if (v->ifaces[i].program)
			read_program(a, v->ifaces[i].program);
	a->sum = (struct engine_answers){ .of = a->gone };
	for (i = 0; i < CONFIG_INTERFACES_MAX; i++)
		if (a->sources[i].program_id)
			add_answers(&a->sum.of, &a->sources[i].last);
	a->by_driver = 0;
	for (i = 0; i < VOLLEY_COUNT_RCODES; i++)
		a->by_driver += a->sum.of.by_rcode[i];
	a->sum.by_opcode[DNS_OPCODE_QUERY] = a->by_driver; /* the driver answers no other opcode */
	if (v->workers)
		workers_answers_add(v->workers, &a->sum);
	read_transfers(a, v);
	read_places(a, v);
}

/* --- Dimensions ------------------------------------------------------------------------------- */

/* Called for each label of a dimension. "other", if any, is the last one. */
typedef void put_label_fn(void *user, const char *label, uint64_t n);

static void each_rcode(const struct answers *a, put_label_fn *put, void *user)
{
	static const uint16_t rcodes[] = { DNS_RCODE_NOERROR,  DNS_RCODE_FORMERR,
					   DNS_RCODE_SERVFAIL, DNS_RCODE_NXDOMAIN,
					   DNS_RCODE_NOTIMP,   DNS_RCODE_REFUSED,
					   DNS_RCODE_YXDOMAIN, DNS_RCODE_NOTAUTH,
					   DNS_RCODE_BADVERS,  DNS_RCODE_BADCOOKIE };
	char text[PROTO_TEXT_MAX];
	uint64_t other = 0;
	size_t i;

	for (i = 0; i < VOLLEY_COUNT_RCODES; i++)
		other += a->sum.of.by_rcode[i];
	for (i = 0; i < sizeof(rcodes) / sizeof(rcodes[0]); i++) {
		uint64_t n = a->sum.of.by_rcode[rcodes[i]];

		(void)proto_rcode_to_text(text, rcodes[i]);
		put(user, text, n);
		other -= n;
	}
	put(user, "other", other);
}

static uint64_t of_type(const struct answers *a, uint32_t place)
{
	return a->sum.of.by_type[place][0] + a->sum.of.by_type[place][1];
}

static void each_qtype(const struct answers *a, put_label_fn *put, void *user)
{
	static const uint16_t types[] = {
		DNS_TYPE_A,      DNS_TYPE_NS,   DNS_TYPE_CNAME, DNS_TYPE_SOA,     DNS_TYPE_PTR,
		DNS_TYPE_HINFO,  DNS_TYPE_MX,   DNS_TYPE_TXT,   DNS_TYPE_AAAA,    DNS_TYPE_SRV,
		DNS_TYPE_NAPTR,  DNS_TYPE_DS,   DNS_TYPE_SSHFP, DNS_TYPE_RRSIG,   DNS_TYPE_NSEC,
		DNS_TYPE_DNSKEY, DNS_TYPE_TLSA, DNS_TYPE_CDS,   DNS_TYPE_CDNSKEY, DNS_TYPE_SVCB,
		DNS_TYPE_HTTPS,  DNS_TYPE_IXFR, DNS_TYPE_AXFR,  DNS_TYPE_ANY,     DNS_TYPE_URI,
		DNS_TYPE_CAA,
	};
	char text[PROTO_TEXT_MAX];
	uint64_t other = 0;
	size_t i;

	for (i = 0; i < VOLLEY_COUNT_TYPES; i++)
		other += of_type(a, (uint32_t)i);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint64_t n = of_type(a, volley_count_type(types[i]));

		(void)proto_type_to_text(text, types[i]);
		put(user, text, n);
		other -= n;
	}
	put(user, "other", other);
}

static void each_opcode(const struct answers *a, put_label_fn *put, void *user)
{
	static const struct {
		unsigned int number;
		const char *text;
	} opcodes[] = { { DNS_OPCODE_QUERY, "QUERY" },
			{ DNS_OPCODE_STATUS, "STATUS" },
			{ DNS_OPCODE_NOTIFY, "NOTIFY" },
			{ DNS_OPCODE_UPDATE, "UPDATE" } };
	uint64_t other = 0;
	size_t i;

	for (i = 0; i < ENGINE_OPCODES; i++)
		other += a->sum.by_opcode[i];
	for (i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		put(user, opcodes[i].text, a->sum.by_opcode[opcodes[i].number]);
		other -= a->sum.by_opcode[opcodes[i].number];
	}
	put(user, "other", other);
}

static void each_family(const struct answers *a, put_label_fn *put, void *user)
{
	uint64_t n[2] = { 0 };

	for (size_t i = 0; i < VOLLEY_COUNT_TYPES; i++)
		for (int k = 0; k < 2; k++)
			n[k] += a->sum.of.by_type[i][k];
	put(user, "ipv4", n[0]);
	put(user, "ipv6", n[1]);
}

static void each_zone(const struct answers *a, put_label_fn *put, void *user)
{
	uint64_t none = 0, other = a->sum.of.by_zone[VOLLEY_COUNT_OTHER_ZONE];
	size_t i;

	for (i = 0; i < VOLLEY_COUNT_ZONES; i++)
		none += a->sum.of.by_zone[i];
	none -= other + a->zones_gone;
	for (i = VOLLEY_COUNT_FIRST_ZONE; i < VOLLEY_COUNT_ZONES; i++) {
		const struct place *place = &a->places[i];

		if (!place->name)
			continue;
		put(user, place->name, place->last - place->base);
		none -= place->last - place->base;
	}
	put(user, "other", other);
	put(user, "gone", a->zones_gone);
	put(user, "none", none);
}

struct way {
	const char *transport, *way;
};

/* No default: a kind that is added without a row does not compile. */
static struct way way_of(enum port_kind kind)
{
	switch (kind) {
	case PORT_XSK:
		return (struct way){ "udp", "xdp" };
	case PORT_SOCKET:
		return (struct way){ "udp", "socket" };
	case PORT_TCP:
		return (struct way){ "tcp", "socket" };
	case PORT_TLS:
		return (struct way){ "tls", "socket" };
	case PORT_DPDK:
		return (struct way){ "udp", "dpdk" };
	case PORT_N_KINDS:
		break;
	}
	assert(kind < PORT_N_KINDS);
	return (struct way){ "none", "none" };
}

static struct way transfer_way(enum tap_transport transport)
{
	switch (transport) {
	case TAP_UDP:
		return (struct way){ "udp", "transfer" };
	case TAP_TCP:
		return (struct way){ "tcp", "transfer" };
	case TAP_TLS:
		return (struct way){ "tls", "transfer" };
	case TAP_N_TRANSPORTS:
		break;
	}
	assert(transport < TAP_N_TRANSPORTS);
	return (struct way){ "none", "none" };
}

/* --- Metrics ---------------------------------------------------------------------------------- */

/* A family with one label. */
struct family {
	struct metrics_text *out;
	const char *label;
};

static void put_sample(void *user, const char *label, uint64_t n)
{
	const struct family *family = user;

	metrics_text_sample(family->out, n, family->label, label, NULL);
}

static void put_answers_ways(const struct answers *a, struct metrics_text *out)
{
	metrics_text_family(out, METRICS_COUNTER, "answers_transport",
			    "answers by transport, and by who answered: the sum is all of them");
	metrics_text_sample(out, a->by_driver, "transport", "udp", "way", "driver", NULL);
	for (int k = 0; k < PORT_N_KINDS; k++) {
		struct way way = way_of((enum port_kind)k);

		metrics_text_sample(out, a->sum.by_way[k], "transport", way.transport, "way",
				    way.way, NULL);
	}
	for (int k = 0; k < TAP_N_TRANSPORTS; k++) {
		struct way way = transfer_way((enum tap_transport)k);

		metrics_text_sample(out, a->of_transfers.by_way[k], "transport", way.transport,
				    "way", way.way, NULL);
	}
}

void answers_metrics(const struct report_view *v, struct metrics_text *out)
{
	struct family rcode = { out, "rcode" }, qtype = { out, "qtype" };
	struct family opcode = { out, "opcode" }, family = { out, "family" };
	struct family zone = { out, "zone" };
	const struct answers *a = v->answers;

	answers_read(v);
	put_answers_ways(a, out);
	metrics_text_family(out, METRICS_COUNTER, "answers_rcode",
			    "answers by response code: the sum is all of them");
	each_rcode(a, put_sample, &rcode);
	metrics_text_family(out, METRICS_COUNTER, "answers_qtype",
			    "answers by type of the question: the sum is all of them");
	each_qtype(a, put_sample, &qtype);
	metrics_text_family(out, METRICS_COUNTER, "answers_opcode",
			    "answers by opcode: the sum is all of them");
	each_opcode(a, put_sample, &opcode);
	metrics_text_family(out, METRICS_COUNTER, "answers_family",
			    "answers by family of the client's address: the sum is all of them");
	each_family(a, put_sample, &family);
	metrics_text_family(out, METRICS_COUNTER, "zone_answers",
			    "answers by zone of ours: the sum is all answers");
	each_zone(a, put_sample, &zone);
}

/* --- stats ------------------------------------------------------------------------------------ */

static void put_answers_key(void *user, const char *label, uint64_t n)
{
	if (n)
		json_put_int(user, label, n);
}

static void put_zone_row(void *user, const char *label, uint64_t n)
{
	if (n)
		json_array_append_new(user, json_pack("{s:s, s:I}", "zone", label, "answers",
						      (json_int_t)n));
}

static void put_way_row(json_t *list, struct way way, uint64_t n)
{
	if (n)
		json_array_append_new(list, json_pack("{s:s, s:s, s:I}", "transport", way.transport,
						      "way", way.way, "answers", (json_int_t)n));
}

static json_t *put_new(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
	return value;
}

json_t *answers_report(const struct report_view *v)
{
	const struct answers *a = v->answers;
	json_t *o = json_object(), *ways;
	uint64_t total = 0;

	answers_read(v);
	for (size_t i = 0; i < VOLLEY_COUNT_RCODES; i++)
		total += a->sum.of.by_rcode[i];
	json_put_int(o, "total", total);
	each_rcode(a, put_answers_key, put_new(o, "by_rcode", json_object()));
	each_qtype(a, put_answers_key, put_new(o, "by_qtype", json_object()));
	each_opcode(a, put_answers_key, put_new(o, "by_opcode", json_object()));
	each_family(a, put_answers_key, put_new(o, "by_family", json_object()));
	ways = put_new(o, "by_way", json_array());
	put_way_row(ways, (struct way){ "udp", "driver" }, a->by_driver);
	for (int k = 0; k < PORT_N_KINDS; k++)
		put_way_row(ways, way_of((enum port_kind)k), a->sum.by_way[k]);
	for (int k = 0; k < TAP_N_TRANSPORTS; k++)
		put_way_row(ways, transfer_way((enum tap_transport)k), a->of_transfers.by_way[k]);
	each_zone(a, put_zone_row, put_new(o, "by_zone", json_array()));
	return o;
}
