/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/servers.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

/* Where the search stands. */
enum stage {
	OF_ZONE, /* NS of `zone` */
	OF_IPV4, /* A of the server at name_at */
	OF_IPV6, /* AAAA */
	ALL_KNOWN,
};

/* An answer to one of these questions. */
struct fact {
	struct message message;
	unsigned int n_answer, n_authority;
	bool is_failure;
};

/* ---- From one question to the next ----------------------------------------------------------- */

static uint16_t qtype_of(enum stage stage)
{
	return stage == OF_ZONE ? DNS_TYPE_NS : stage == OF_IPV4 ? DNS_TYPE_A : DNS_TYPE_AAAA;
}

static const uint8_t *name_of_server_search(const struct engine_search *s)
{
	return s->stage == OF_ZONE ? s->zone : s->names + s->name_at;
}

/* The root and names of one label are not asked for. */
static void begin_zone(struct engine_search *s, const uint8_t *zone)
{
	size_t n_bytes = name_bytes(zone);

	memmove(s->zone, zone, n_bytes);
	s->names_bytes = s->name_at = 0;
	s->stage = name_n_labels(s->zone) < 2 ? ALL_KNOWN : OF_ZONE;
}

static void begin_name(struct engine_pending *p, const struct rpz *rpz, unsigned int at,
		       const uint8_t *folded)
{
	struct engine_search *s = p->servers.search;

	p->servers.is_begun = true;
	s->rpz = rpz_number(rpz);
	s->at = at;
	memset(&s->hit, 0, sizeof(s->hit));
	begin_zone(s, folded);
}

static void go_up(struct engine_search *s)
{
	begin_zone(s, name_parent(s->zone));
}

static void go_on_server_search(struct engine_search *s)
{
	if (s->stage == OF_IPV4) {
		s->stage = OF_IPV6;
		return;
	}
	if (s->stage == OF_IPV6)
		s->name_at += (uint16_t)name_bytes(s->names + s->name_at);
	s->stage = OF_IPV4;
	if (s->name_at >= s->names_bytes)
		go_up(s);
}

/* ---- What an answer says --------------------------------------------------------------------- */

/* Reads the next record and its owner. Returns the offset after it; 0: it cannot be read. */
static uint32_t next_server_search_record(const struct message *m, uint32_t at,
					  uint8_t owner[NAME_FOLDED_BYTES],
					  struct message_record *r)
{
	uint32_t fixed_at = message_name_end(m, at);

	if (!fixed_at || !message_read_record(m, fixed_at, r) || !message_read_name(m, at, owner))
		return 0;
	return r->rdata_at + r->len;
}

static void add_server_search_name(struct engine_search *s, const uint8_t *folded,
				   unsigned int n_bytes)
{
	if (s->names_bytes + n_bytes > sizeof(s->names))
		return;
	memcpy(s->names + s->names_bytes, folded, n_bytes);
	s->names_bytes += (uint16_t)n_bytes;
}

/* After a denial: no zone cut lies between the name and the apex. */
static void go_to_apex(struct engine_search *s, const uint8_t *apex)
{
	if (name_is_under(s->zone, apex) && !name_equal(s->zone, apex))
		begin_zone(s, apex);
	else
		go_up(s);
}

static void take_server_search_zone(struct engine_search *s, const struct rpz *rpz, size_t n_lists,
				    const struct fact *fact)
{
	uint8_t owner[NAME_FOLDED_BYTES], server[NAME_FOLDED_BYTES];
	uint32_t at = fact->message.body_at;
	struct message_record r;
	bool is_zone = false;

	for (unsigned int i = 0; i < fact->n_answer + fact->n_authority; i++) {
		unsigned int n;

		at = next_server_search_record(&fact->message, at, owner, &r);
		if (!at)
			break;
		if (!fact->n_answer && r.type == DNS_TYPE_SOA) {
			go_to_apex(s, owner);
			return;
		}
		if (i >= fact->n_answer || r.type != DNS_TYPE_NS || !name_equal(owner, s->zone))
			continue;
		is_zone = true;
		n = message_read_name(&fact->message, r.rdata_at, server);
		if (n < 2) /* the root: the zone has no name server here */
			continue;
		rpz_add_server(rpz, n_lists, server, &s->hit);
		add_server_search_name(s, server, n);
	}
	if (is_zone)
		go_on_server_search(s);
	else
		go_up(s);
}

static void take_addresses(struct engine_search *s, const struct rpz *rpz, size_t n_lists,
			   const struct fact *fact)
{
	const uint16_t qtype = qtype_of(s->stage), n_bytes = qtype == DNS_TYPE_A ? 4 : 16;
	uint8_t owner[NAME_FOLDED_BYTES];
	uint32_t at = fact->message.body_at;
	struct message_record r;

	for (unsigned int i = 0; i < fact->n_answer; i++) {
		at = next_server_search_record(&fact->message, at, owner, &r);
		if (!at)
			break;
		if (r.type == qtype && r.len == n_bytes)
			rpz_add_server_address(rpz, n_lists, n_bytes == 4 ? AF_INET : AF_INET6,
					       r.rdata, &s->hit);
	}
	go_on_server_search(s);
}

static void take_server_search(struct engine_pending *p, const struct rpz *rpz,
			       const struct fact *fact)
{
	struct engine_search *s = p->servers.search;

	p->servers.is_unsure |= fact->is_failure;
	if (s->stage == OF_ZONE)
		take_server_search_zone(s, rpz, s->n_lists, fact);
	else
		take_addresses(s, rpz, s->n_lists, fact);
}

/* ---- The cache ------------------------------------------------------------------------------- */

static void make_server_search_key(const struct engine *e, const struct engine_pending *p,
				   struct cache_key *key, const uint8_t *name, uint16_t qtype)
{
	uint8_t flags =
		(uint8_t)(SERVERS_KEY | (p->question.checking_disabled ? VOLLEY_KEY_CD : 0));

	cache_key_init(key, e->cache, name, (uint32_t)name_bytes(name), qtype, DNS_CLASS_IN, flags,
		       VOLLEY_VIEW_RECURSIVE);
}

static bool find_cached(struct engine *e, const struct engine_pending *p, uint32_t now_s,
			struct fact *fact)
{
	const struct engine_search *s = p->servers.search;
	const struct volley_entry *entry;
	struct cache_key key;

	if (!e->cache)
		return false;
	make_server_search_key(e, p, &key, name_of_server_search(s), qtype_of(s->stage));
	if (cache_lookup(e->cache, &key, now_s, true, &entry) != CACHE_HIT)
		return false;
	*fact = (struct fact){ message_of_entry(entry), ntohs(entry->ancount),
			       ntohs(entry->nscount),
			       (ntohs(entry->flags) & DNS_RCODE_MASK) == DNS_RCODE_SERVFAIL };
	return true;
}

static void keep_server_search(struct engine *e, const struct engine_pending *p,
			       struct cache_answer *a, uint32_t ttl_s, uint32_t now_s)
{
	struct cache_key key;
	int err;

	if (!e->cache || !ttl_s || !p->rules.zone_slot)
		return;
	make_server_search_key(e, p, &key, p->question.name, p->question.qtype);
	a->zone_slot = p->rules.zone_slot;
	a->zone_gen = p->rules.zone_gen;
	a->expires_s = now_s + ttl_s;
	a->memory = p->question.memory;
	err = cache_publish(e->writer, &key, a, now_s);
	engine_count(err ? &e->counters.not_published : &e->counters.published);
}

/* ---- Upstream -------------------------------------------------------------------------------- */

static void hold_server_search(struct engine_pending *p)
{
	struct resolver_question *q = &p->question;
	struct engine_held *held = &p->servers.search->held;

	memcpy(held->name, q->name, sizeof(held->name));
	held->qtype = q->qtype;
	held->rcode = q->rcode;
	held->ede_code = q->ede_code;
	held->security = q->security;
	held->is_known = q->is_known;
	held->is_refresh = q->is_refresh;
	held->memory = q->memory;
	held->msg = q->msg;
	held->msg_bytes = q->msg_bytes;
	held->head_bytes = q->head_bytes;
	held->answer = q->answer;
	q->msg = NULL;
	q->answer = NULL;
}

static void put_back_server_search(struct engine_pending *p)
{
	struct resolver_question *q = &p->question;
	const struct engine_held *held = &p->servers.search->held;

	resolver_release(q);
	memcpy(q->name, held->name, sizeof(q->name));
	q->qtype = held->qtype;
	q->rcode = held->rcode;
	q->ede_code = held->ede_code;
	q->security = held->security;
	q->is_known = held->is_known;
	q->is_refresh = held->is_refresh;
	q->memory = held->memory;
	q->msg = held->msg;
	q->msg_bytes = held->msg_bytes;
	q->head_bytes = held->head_bytes;
	q->answer = held->answer;
	p->servers.is_asking = false;
}

void servers_abandon(struct engine_pending *p)
{
	if (p->servers.is_asking)
		put_back_server_search(p);
	resolver_release(&p->question);
}

/* The end of the client's time, also if a stale answer would have been given sooner. */
static uint64_t deadline_of(const struct engine_pending *p)
{
	uint64_t more_ms = p->is_hurried ? p->rules.timeout_ms - p->rules.stale_wait_ms : 0;

	return p->question.deadline_ns + more_ms * CLOCK_NS_PER_MS;
}

/* False: no time is left, or enough questions were asked. */
static bool ask_server_search(struct engine_pending *p, const struct engine_times *times)
{
	struct engine_search *s = p->servers.search;
	struct resolver_question *q = &p->question;
	const uint8_t *name = name_of_server_search(s);
	size_t n_bytes = name_bytes(name);

	if (!p->servers.n_asked)
		s->deadline_ns = deadline_of(p);
	if (p->servers.n_asked == SERVERS_ASKED_MAX || times->now_ns >= s->deadline_ns)
		return false;
	hold_server_search(p);
	memset(q->name, 0, sizeof(q->name));
	memcpy(q->name, name, n_bytes);
	q->qtype = qtype_of(s->stage);
	q->is_refresh = false;
	q->memory = 0;
	q->deadline_ns = s->deadline_ns;
	p->servers.n_asked++;
	p->servers.is_asking = true;
	p->submit = true;
	return true;
}

/* 0, or an error if the completion cannot be used; a is then a SERVFAIL to be cached. */
static int convert_server_search(struct engine *e, const struct engine_pending *p,
				 struct cache_answer *a, uint32_t *ttl_s)
{
	const struct resolver_question *q = &p->question;
	const struct convert_question question = { q->name, q->qtype, false, NULL };
	const struct convert_limits limits = { p->rules.max_ttl_s, p->rules.min_ttl_s,
					       p->rules.max_negative_ttl_s };
	struct convert_source from;
	bool is_usable = q->msg &&
			 (q->rcode == DNS_RCODE_NOERROR || q->rcode == DNS_RCODE_NXDOMAIN);

	if (is_usable && convert_from_wire(&from, q->msg, q->msg_bytes) &&
	    name_equal(from.message.name, q->name) &&
	    !convert_answer(&e->convert, &from, &question, &limits, a, ttl_s)) {
		a->flags |= DNS_FLAG_QR;
		return 0;
	}
	render_empty(a, DNS_RCODE_SERVFAIL);
	a->body = e->convert.body; /* it is empty, but must have an address */
	*ttl_s = RECURSION_SERVFAIL_S;
	return -1;
}

static struct message message_of(const struct resolver_question *q, const struct cache_answer *a)
{
	uint32_t name_end = DNS_HEADER_BYTES + (uint32_t)name_bytes(q->name);
	uint32_t body_at = name_end + DNS_QUESTION_FIXED_BYTES;

	return (struct message){ q->name, a->body, name_end, body_at, body_at + a->full_bytes };
}

/* A limit of ours, or a resolver that stops: the failure says nothing about the name. */
static bool is_server_search_local(int ede_code)
{
	return ede_code == DNS_EDE_NOT_READY || ede_code == DNS_EDE_OTHER;
}

void servers_take(struct engine *e, struct engine_pending *p, const struct engine_times *times)
{
	const struct rpz *rpz = rcu_dereference(e->data->rpz);
	struct engine_search *s = p->servers.search;
	struct cache_answer a;
	uint32_t ttl_s;
	bool is_failure = convert_server_search(e, p, &a, &ttl_s) != 0;
	const struct fact fact = { message_of(&p->question, &a), a.ancount, a.nscount, is_failure };

	if (!is_failure || !is_server_search_local(p->question.ede_code))
		keep_server_search(e, p, &a, ttl_s, times->now_s);
	if (rpz && rpz_number(rpz) == s->rpz)
		take_server_search(p, rpz, &fact);
	put_back_server_search(p);
}

/* ---- The search ------------------------------------------------------------------------------ */

void servers_reset(struct engine_pending *p)
{
	p->servers.is_begun = false;
	p->servers.is_asking = false;
	p->servers.is_unsure = false;
	p->servers.n_asked = 0;
}

/* True if the next question can change anything. */
static bool is_server_search_wanted(const struct engine_search *s, const struct rpz *rpz)
{
	bool wants_ipv4 = rpz_may_better(rpz, s->n_lists, AF_INET, &s->hit);
	bool wants_ipv6 = rpz_may_better(rpz, s->n_lists, AF_INET6, &s->hit);

	switch ((enum stage)s->stage) {
	case OF_ZONE:
		return wants_ipv4 || wants_ipv6 || rpz_may_better(rpz, s->n_lists, 0, &s->hit);
	case OF_IPV4:
		return wants_ipv4;
	case OF_IPV6:
		return wants_ipv6;
	case ALL_KNOWN:
		break;
	}
	return false;
}

static void skip(struct engine_search *s)
{
	if (s->stage == OF_ZONE)
		s->stage = ALL_KNOWN;
	else
		go_on_server_search(s);
}

enum rpz_servers_state servers_find(void *user, unsigned int at, const uint8_t *folded,
				    size_t n_lists, struct rpz_server_hit *hit)
{
	const struct servers_finder *f = user;
	struct engine_search *s = f->p->servers.search;
	struct fact fact;

	if (!s)
		return RPZ_SERVERS_KNOWN;
	if (f->p->servers.is_begun && s->rpz == rpz_number(f->rpz) && at < s->at)
		/* no rule was found for it: else the search would have ended there */
		return RPZ_SERVERS_KNOWN;
	if (!f->p->servers.is_begun || s->rpz != rpz_number(f->rpz) || at > s->at) {
		if (!f->times)
			return RPZ_SERVERS_WAIT;
		begin_name(f->p, f->rpz, at, folded);
		s->n_lists = n_lists;
	}
	while (s->stage != ALL_KNOWN) {
		if (!f->times)
			return RPZ_SERVERS_WAIT;
		if (!is_server_search_wanted(s, f->rpz)) {
			skip(s);
			continue;
		}
		if (!find_cached(f->e, f->p, f->times->now_s, &fact)) {
			if (ask_server_search(f->p, f->times))
				return RPZ_SERVERS_WAIT;
			fact = (struct fact){ .is_failure = true };
		}
		take_server_search(f->p, f->rpz, &fact);
	}
	*hit = s->hit;
	return RPZ_SERVERS_KNOWN;
}
