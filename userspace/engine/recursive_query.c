/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/recursive_query.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "engine/rpz_apply.h"
#include "engine/rpz_act.h"
#include "engine/reply_writer.h"
#include "engine/servers.h"
#include "engine/special.h"
#include "xdp/key.h"

/* ---- Questions ------------------------------------------------------------------------------- */

static uint64_t deadline(uint64_t now_ns, uint32_t wait_ms)
{
	return now_ns + wait_ms * CLOCK_NS_PER_MS;
}

/* The memory that the answer did not come from: it does not know the answer any more. */
static uint8_t other_memory(const struct volley_entry *entry)
{
	return entry->memory ? 0 : 1;
}

/* Makes p a question without a client. */
static void fill_recursive(struct engine_pending *p, const struct engine_recursion *rules,
			   const uint8_t *folded, unsigned int n_bytes, uint16_t qtype, bool cd,
			   bool dnssec_ok)
{
	struct resolver_question *q = &p->question;

	memset(q->name, 0, sizeof(q->name));
	memcpy(q->name, folded, n_bytes);
	q->qtype = qtype;
	q->qclass = DNS_CLASS_IN;
	q->checking_disabled = cd;
	q->is_refresh = false;
	q->family = 0;
	p->asked.has_client = false;
	p->asked.chain = ENGINE_CHAIN_NONE;
	p->asked.no_lists = false;
	p->asked.edns.dnssec_ok = dnssec_ok;
	p->is_hurried = false;
	p->rules = *rules;
	p->rules.special = NULL; /* it may be gone when the question comes back */
	p->submit = true;
	servers_reset(p);
}

static void fill_from_query(struct engine_pending *p, const struct engine_recursion *rules,
			    const struct query *q)
{
	fill_recursive(p, rules, q->folded, q->qname_bytes, q->qtype, q->cd, q->edns.dnssec_ok);
}

/* A question for the cache alone. */
static void fill_without_client(struct engine *e, struct engine_pending *p, uint64_t now_ns)
{
	p->question.deadline_ns = deadline(now_ns, p->rules.timeout_ms);
	engine_count(&e->counters.refreshed);
}

/* A question that fetches a cached answer anew. */
static void fill_refresh(struct engine *e, struct engine_pending *p, uint8_t memory,
			 uint64_t now_ns)
{
	p->question.memory = memory;
	p->question.is_refresh = true;
	fill_without_client(e, p, now_ns);
}

/* The client's own question, which needs a reply. */
static void fill_asked(struct engine *e, const struct engine_request *rq, const struct query *q,
		       const struct engine_recursion *rules)
{
	struct engine_pending *p = rq->pending;
	const uint8_t *address;
	size_t address_bytes;

	fill_from_query(p, rules, q);
	address = reply_client(rq, &address_bytes);
	p->question.memory = e->now.memory;
	p->question.family = address_bytes == 4 ? AF_INET : AF_INET6;
	memcpy(p->question.client, address, address_bytes);
	p->is_hurried = (e->now.expired || e->now.is_hurried) &&
			rules->stale_wait_ms < rules->timeout_ms;
	p->question.deadline_ns =
		deadline(rq->now_ns, p->is_hurried ? rules->stale_wait_ms : rules->timeout_ms);
	p->asked.has_client = true;
}

void recursion_note_client(struct engine_pending *p, const struct engine_request *rq,
			   const struct query *q)
{
	memcpy(p->asked.query, rq->msg, q->question_end);
	p->asked.question_end = q->question_end;
	p->asked.stream = rq->stream;
	p->asked.way = rq->way;
	p->asked.idle_100ms = rq->idle_100ms;
	p->asked.edns = q->edns;
}

void recursion_ask_on(struct engine *e, const struct engine_request *rq, struct engine_pending *p,
		      const uint8_t *folded, const struct rpz_alias *alias)
{
	memset(p->question.name, 0, sizeof(p->question.name));
	memcpy(p->question.name, folded, name_bytes(folded));
	p->asked.chain = ENGINE_CHAIN_OF_RULE;
	p->asked.no_lists = alias->is_of_list;
	p->asked.alias_ttl_s = alias->ttl_s;
	p->asked.alias_ede_code = alias->ede_code;
	p->is_hurried = false;
	p->question.memory = 0;
	p->question.deadline_ns = deadline(rq->now_ns, p->rules.timeout_ms);
	p->submit = true;
	(void)engine_no_reply(e, ENGINE_DEFERS);
	servers_reset(p);
}

void recursion_ask_again(struct engine *e, struct engine_pending *p,
			 const struct engine_times *times)
{
	p->asked.has_client = false;
	p->is_hurried = false;
	p->question.family = 0;
	servers_reset(p);
	fill_without_client(e, p, times->now_ns);
}

bool recursion_refresh(struct engine *e, const struct volley_refresh *refresh,
		       const struct engine_times *times, struct engine_pending *p)
{
	const struct engine_recursion *rules = rcu_dereference(e->data->recursion);
	const struct volley_entry *entry;

	p->submit = false;
	entry = rules && e->cache ? cache_refresh_entry(e->cache, refresh) : NULL;
	if (!entry) /* only answers from upstream are fetched anew */
		return false;
	fill_recursive(p, rules, entry->name, entry->key.name_bytes, ntohs(entry->key.qtype),
		       entry->key.flags & VOLLEY_KEY_CD, entry->key.flags & VOLLEY_KEY_DO);
	fill_refresh(e, p, other_memory(entry), times->now_ns);
	return true;
}

/* ---- The cache ------------------------------------------------------------------------------- */

/* RFC 8767 section 4: data or a denial, never a failure. */
static bool is_recursive_data(const struct volley_entry *entry)
{
	uint16_t rcode = ntohs(entry->flags) & DNS_RCODE_MASK;

	return rcode == DNS_RCODE_NOERROR || rcode == DNS_RCODE_NXDOMAIN;
}

static bool may_recursive_be_stale(const struct volley_entry *entry,
				   const struct engine_recursion *rules, uint32_t now_s)
{
	return rules->stale_s && now_s - entry->expires_s <= rules->stale_s &&
	       is_recursive_data(entry);
}

/* The answer as it was published, with its extended error. */
static void answer_as_cached(struct engine *e, const struct volley_entry *entry, uint32_t now_s,
			     struct cache_answer *a)
{
	cache_answer_of(a, entry, now_s);
	e->now.ede_code = cache_ede_code(entry->ede);
}

static bool has_do(const struct volley_key *key)
{
	return key->flags & VOLLEY_KEY_DO;
}

/* How upstream has failed. */
enum failing {
	FAILING_LOUDLY, /* with a reply */
	FAILING_SILENTLY,
};

static bool is_bogus(const struct volley_entry *entry)
{
	return proto_ede_is_bogus(cache_ede_code(entry->ede));
}

/* True if an answer to a question with the flags of the entry may serve one with these flags. */
static bool may_serve(const struct volley_entry *entry, uint8_t flags,
		      const struct engine_recursion *rules, enum failing failing)
{
	if (!(entry->key.flags & ~flags & VOLLEY_KEY_CD))
		return true;
	return !is_bogus(entry) && (!rules->keeps_cd || failing == FAILING_SILENTLY);
}

static const struct volley_entry *find_recursive_stale(struct engine *e,
						       const struct volley_key *key,
						       const struct engine_recursion *rules,
						       uint32_t now_s)
{
	const struct volley_entry *entry;
	enum cache_verdict verdict;
	struct cache_key other;

	cache_key_from(&other, e->cache, key, cache_key_name(e->now.key));
	verdict = cache_lookup(e->cache, &other, now_s, false, &entry);
	if (verdict == CACHE_HIT)
		return is_recursive_data(entry) ? entry : NULL;
	return verdict == CACHE_EXPIRED && may_recursive_be_stale(entry, rules, now_s) ? entry :
											 NULL;
}

/*
 * The answer to the same question with other DO and CD bits, if serve-stale is on. It is given if
 * upstream fails, valid or expired. First those that differ in DO alone, then in CD. NULL: there is
 * none.
 */
static const struct volley_entry *find_other(struct engine *e, const struct engine_recursion *rules,
					     enum failing failing, uint32_t now_s)
{
	static const uint8_t differences[] = { VOLLEY_KEY_DO, VOLLEY_KEY_CD,
					       VOLLEY_KEY_DO | VOLLEY_KEY_CD };
	const struct volley_key *own = &e->now.key->first;

	for (unsigned int i = 0; rules->stale_s && i < sizeof(differences); i++) {
		struct volley_key key = *own;
		const struct volley_entry *entry;

		key.flags ^= differences[i];
		entry = find_recursive_stale(e, &key, rules, now_s);
		if (entry && may_serve(entry, own->flags, rules, failing) &&
		    rpz_apply_is_for_client(e, entry))
			return entry;
	}
	return NULL;
}

/* The other entry that may be given for e->now.key. Whether upstream was silent is known only if it
 * was asked lately. */
static const struct volley_entry *
find_before_asking(struct engine *e, const struct engine_recursion *rules, uint32_t now_s)
{
	bool is_recent = failures_is_recent(&e->failures, e->now.key->hash, now_s);
	const struct volley_entry *entry = find_other(e, rules, FAILING_LOUDLY, now_s);

	e->now.is_hurried = false;
	if (entry)
		return entry;
	entry = find_other(e, rules, FAILING_SILENTLY, now_s);
	e->now.is_hurried = entry && rules->stale_wait_ms;
	return is_recent ? entry : NULL;
}

enum cache_verdict recursion_lookup(struct engine *e, const struct engine_request *rq,
				    const struct query *q, const struct engine_recursion *rules,
				    struct cache_answer *a)
{
	const struct volley_entry *entry;
	enum cache_verdict verdict;

	rpz_apply_set_apart(e, rq);
	if (e->now.standing != ANSWERING_PLAIN) /* its rule comes first: answer_apart() */
		return CACHE_MISS;
	engine_key_set_view(e, VOLLEY_VIEW_RECURSIVE);
	verdict = cache_lookup(e->cache, e->now.key, rq->now_s, true, &entry);
	/* This memory knows the zone's servers; the other one may have to begin at the root. */
	if (verdict == CACHE_EXPIRED)
		e->now.memory = entry->memory;
	if (verdict == CACHE_EXPIRED && may_recursive_be_stale(entry, rules, rq->now_s))
		e->now.expired = entry;
	else if (verdict != CACHE_HIT)
		e->now.expired = find_before_asking(e, rules, rq->now_s);
	if (verdict != CACHE_HIT)
		return verdict;
	answer_as_cached(e, entry, rq->now_s, a);
	if (rq->pending && cache_refresh_is_due(entry, rq->now_s)) {
		fill_from_query(rq->pending, rules, q);
		fill_refresh(e, rq->pending, other_memory(entry), rq->now_ns);
	}
	return verdict;
}

/* Makes an answer without DO from an entry with DO: without the DNSSEC records that were not asked
 * for (RFC 4035 section 3.2.1). False: the entry cannot be read. */
static bool strip(struct engine *e, const struct volley_entry *entry, uint32_t ttl_s,
		  uint32_t now_s, struct cache_answer *a)
{
	const struct convert_question question = { entry->name, ntohs(entry->key.qtype), false,
						   NULL };
	const struct convert_limits limits = { ttl_s ? ttl_s : DNS_TTL_MAX, ttl_s,
					       ttl_s ? ttl_s : DNS_TTL_MAX };
	struct convert_source from;
	uint32_t ignored_s;

	convert_from_entry(&from, entry, now_s);
	if (convert_answer(&e->convert, &from, &question, &limits, a, &ignored_s))
		return false;
	a->flags = ntohs(entry->flags);
	return true;
}

/*
 * The answer from `entry` if upstream fails. The entry is expired, or is that of other DO and CD
 * bits and perhaps still valid. An expired answer is not vouched for any more, so it has no AD.
 */
static uint16_t answer_stale(struct engine *e, const struct volley_entry *entry,
			     uint32_t stale_ttl_s, uint32_t now_s, struct cache_answer *a)
{
	uint32_t ttl_s = now_s < entry->expires_s ? 0 : stale_ttl_s;
	const struct volley_key *own = &e->now.key->first;
	uint16_t rcode = ntohs(entry->flags) & DNS_RCODE_MASK;

	if (!has_do(&entry->key) || has_do(own)) {
		cache_answer_of(a, entry, now_s);
	} else if (!strip(e, entry, ttl_s, now_s, a)) {
		rcode = engine_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
		a->flags |= DNS_FLAG_RA;
		return rcode;
	}
	e->now.ede_code = cache_ede_code(entry->ede);
	if (ttl_s || (has_do(own) && !has_do(&entry->key)))
		a->flags &= (uint16_t)~DNS_FLAG_AD;
	if (!ttl_s)
		return rcode;
	a->stale_ttl_s = ttl_s;
	e->now.ede_code = rcode == DNS_RCODE_NXDOMAIN ? DNS_EDE_STALE_NXDOMAIN :
							DNS_EDE_STALE_ANSWER;
	engine_count(&e->counters.stale);
	return rcode;
}

/* RFC 8020: makes the answer for this name from the validated denial of a name above. */
static bool answer_cut(struct engine *e, const struct engine_request *rq, const struct query *q,
		       const uint8_t *above, uint16_t qtype, struct cache_answer *a)
{
	const struct convert_limits limits = { DNS_TTL_MAX, 0, DNS_TTL_MAX };
	const struct convert_question question = { q->folded, q->qtype, q->edns.dnssec_ok, NULL };
	const struct volley_key *own = &e->now.key->first;
	const struct volley_entry *entry;
	struct convert_source from;
	struct cache_key key;
	uint32_t ttl_s;

	cache_key_init(&key, e->cache, above, (uint32_t)name_bytes(above), qtype, q->qclass,
		       own->flags, VOLLEY_VIEW_RECURSIVE);
	if (cache_lookup(e->cache, &key, rq->now_s, true, &entry) != CACHE_HIT)
		return false;
	convert_from_entry(&from, entry, rq->now_s);
	if (from.rcode != DNS_RCODE_NXDOMAIN || from.n_answer ||
	    !(ntohs(entry->flags) & DNS_FLAG_AD) ||
	    convert_answer(&e->convert, &from, &question, &limits, a, &ttl_s))
		return false;
	a->flags = ntohs(entry->flags);
	engine_count(&e->counters.cut);
	return true;
}

/* The servers of a stub zone decide what is in it: a denial of a zone above does not hold there. */
static bool is_recursive_cut(struct engine *e, const struct engine_request *rq,
			     const struct query *q, const struct engine_recursion *rules,
			     struct cache_answer *a)
{
	const uint8_t *apart = rules->special ? special_apart(rules->special, q->folded) : NULL;
	const uint8_t *above = q->folded;

	for (unsigned int i = 0; i < RECURSION_CUT_MAX; i++) {
		above = name_parent(above);
		if (!above || !*above || (apart && above > apart))
			return false;
		if (answer_cut(e, rq, q, above, q->qtype, a) ||
		    (q->qtype != DNS_TYPE_A && answer_cut(e, rq, q, above, DNS_TYPE_A, a)))
			return true;
	}
	return false;
}

static bool may_be_cut(const struct engine_recursion *rules, const struct query *q)
{
	return rules->cuts && !(rules->dns64 && q->qtype == DNS_TYPE_PTR);
}

/* ---- A miss ---------------------------------------------------------------------------------- */

static uint16_t recursive_failure(struct engine *e, struct cache_answer *a, uint16_t rcode,
				  int ede_code)
{
	(void)engine_failure(e, a, rcode, ede_code);
	a->flags |= DNS_FLAG_RA;
	return rcode;
}

/* A name that has no place in the public DNS. A DS of our zone may come here: its name exists. */
static bool answer_special(struct engine *e, const struct engine_request *rq, const struct query *q,
			   const struct engine_recursion *rules, struct cache_answer *a)
{
	bool exists = engine_is_ours(e, q->folded, q->qname_bytes, q->qtype);

	if (!rules->special || !special_answer(rules->special, &e->render, q, exists, a))
		return false;
	/* If a rule let only this client or only TCP pass, the answer is not for all. */
	if (e->cache && rules->zone_slot && !exists &&
	    rpz_apply_allows_special(e, q->folded, q->qtype, a)) {
		a->zone_slot = rules->zone_slot;
		a->zone_gen = rules->zone_gen;
		engine_key_set_view(e, VOLLEY_VIEW_RECURSIVE);
		engine_publish(e, a, rq->now_s);
	}
	return true;
}

uint16_t recursion_refuse(struct engine *e, const struct query *q, struct cache_answer *a)
{
	if (!rcu_dereference(e->data->recursion) || !q->rd)
		return engine_failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	engine_count(&e->counters.prohibited);
	return engine_failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
}

uint16_t recursion_not_asked(struct engine *e, struct cache_answer *a)
{
	engine_count(&e->counters.not_asked);
	return recursive_failure(e, a, DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
}

/*
 * True if the client gets the stale answer at once: upstream has failed lately, or it is given no
 * time. In the second case a fresh answer is asked for after the reply. Until it comes, the
 * question counts as failed, so that other clients do not ask upstream as well.
 */
static bool is_stale_at_once(struct engine *e, const struct engine_request *rq,
			     const struct query *q, const struct engine_recursion *rules)
{
	if (failures_is_recent(&e->failures, e->now.key->hash, rq->now_s))
		return true;
	if (rules->stale_wait_ms)
		return false;
	fill_from_query(rq->pending, rules, q);
	fill_refresh(e, rq->pending, e->now.memory, rq->now_ns);
	failures_note(&e->failures, e->now.key->hash, rq->now_s);
	return true;
}

static uint16_t ask_recursive(struct engine *e, const struct engine_request *rq,
			      const struct query *q, const struct engine_recursion *rules,
			      struct recursion_want *want, struct cache_answer *a)
{
	if (e->cache && may_be_cut(rules, q) && is_recursive_cut(e, rq, q, rules, a))
		return DNS_RCODE_NXDOMAIN;
	want->is_unasked = !rq->pending && want->may_wait;
	if (want->is_unasked)
		return DNS_RCODE_NOERROR;
	if (e->now.expired && (!rq->pending || is_stale_at_once(e, rq, q, rules)))
		return answer_stale(e, e->now.expired, rules->stale_ttl_s, rq->now_s, a);
	if (!rq->pending)
		return recursion_not_asked(e, a);
	fill_asked(e, rq, q, rules);
	return engine_no_reply(e, ENGINE_DEFERS);
}

void recursion_turn(struct engine *e, const struct query *q)
{
	uint8_t flags =
		(uint8_t)((q->edns.dnssec_ok ? VOLLEY_KEY_DO : 0) | (q->cd ? VOLLEY_KEY_CD : 0));

	e->now.expired = NULL;
	e->now.is_hurried = false;
	e->now.memory = 0;
	if (e->cache)
		cache_key_init(e->now.key, e->cache, q->folded, q->qname_bytes, q->qtype, q->qclass,
			       flags, VOLLEY_VIEW_RECURSIVE);
}

/* The cached answer for a client whose rule says to pass. */
static bool answer_apart(struct engine *e, const struct engine_request *rq, struct cache_answer *a)
{
	const struct volley_entry *entry;

	if (e->now.standing != ANSWERING_PASSED || !e->now.has_key)
		return false;
	engine_key_set_view(e, VOLLEY_VIEW_RECURSIVE);
	if (cache_lookup(e->cache, e->now.key, rq->now_s, true, &entry) != CACHE_HIT ||
	    !rpz_apply_is_for_client(e, entry))
		return false;
	answer_as_cached(e, entry, rq->now_s, a);
	return true;
}

/* Looks up an alias's target in the cache. If a list made the alias, lists do not apply again, so a
 * cached answer of a policy zone does not count. */
static bool find_recursive_target(struct engine *e, const struct engine_request *rq,
				  const struct query *q, const struct engine_recursion *rules,
				  const struct recursion_want *want, struct cache_answer *a)
{
	return e->cache && recursion_lookup(e, rq, q, rules, a) == CACHE_HIT &&
	       !(want->no_lists && rpz_apply_has_said(e, a));
}

uint16_t recursion_find(struct engine *e, const struct engine_request *rq, const struct query *q,
			const struct engine_client *client, struct recursion_want *want,
			struct cache_answer *a)
{
	const struct engine_recursion *rules = client->recursion;
	uint16_t rcode;

	if (!recursion_asks_for(q->qtype))
		return recursive_failure(e, a, DNS_RCODE_NOTIMP, DNS_EDE_NOT_SUPPORTED);
	if (want->is_target && find_recursive_target(e, rq, q, rules, want, a))
		return a->flags & DNS_RCODE_MASK;
	if (rpz_apply_before(e, rq, q, want->no_lists, &want->alias, a, &rcode))
		return rcode;
	if (want->alias.n_bytes)
		return DNS_RCODE_NOERROR;
	if (answer_apart(e, rq, a))
		return a->flags & DNS_RCODE_MASK;
	if (answer_special(e, rq, q, rules, a))
		return a->flags & DNS_RCODE_MASK;
	if (!q->rd && e->now.expired)
		return answer_stale(e, e->now.expired, rules->stale_ttl_s, rq->now_s, a);
	if (!q->rd)
		return recursive_failure(e, a, DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	return ask_recursive(e, rq, q, rules, want, a);
}

/* ---- A completion ---------------------------------------------------------------------------- */

void recursion_resume(struct engine *e, struct engine_pending *p, const struct engine_times *times)
{
	const struct resolver_question *q = &p->question;
	uint8_t flags;

	p->submit = false;
	if (p->servers.is_asking)
		servers_take(e, p, times);
	flags = (uint8_t)((p->asked.edns.dnssec_ok ? VOLLEY_KEY_DO : 0) |
			  (q->checking_disabled ? VOLLEY_KEY_CD : 0));
	if (e->cache)
		cache_key_init(e->now.key, e->cache, q->name, (uint32_t)name_bytes(q->name),
			       q->qtype, q->qclass, flags, VOLLEY_VIEW_RECURSIVE);
}

/* True if a zone of ours has the name or a policy zone changes the answer, perhaps only since the
 * question was asked. Then the answer is not cached. */
static bool is_spoken_for(struct engine *e, struct engine_pending *p, const struct cache_answer *a)
{
	const struct resolver_question *q = &p->question;
	unsigned int n = (unsigned int)name_bytes(q->name);

	return (engine_is_ours(e, q->name, n, q->qtype) &&
		!engine_is_of_parent(e, q->name, n, q->qtype) &&
		!engine_is_delegated(e, q->name, n, q->qtype)) ||
	       !rpz_apply_allows(e, p, a);
}

static bool is_recursive_answer(uint16_t rcode)
{
	return rcode == DNS_RCODE_NOERROR || rcode == DNS_RCODE_NXDOMAIN ||
	       rcode == DNS_RCODE_YXDOMAIN;
}

/* Withdraws the expired answers to the question of e->now.key, with any DO and CD bits. */
static void withdraw_expired(struct engine *e, uint32_t now_s)
{
	static const uint8_t all = VOLLEY_KEY_DO | VOLLEY_KEY_CD;
	struct volley_key key = e->now.key->first;
	const uint8_t others = (uint8_t)(key.flags & ~all);
	const uint8_t flags[] = { 0, VOLLEY_KEY_DO, VOLLEY_KEY_CD, all };

	for (unsigned int i = 0; i < sizeof(flags); i++) {
		const struct volley_entry *entry;
		struct cache_key other;

		key.flags = others | flags[i];
		cache_key_from(&other, e->cache, &key, cache_key_name(e->now.key));
		if (cache_lookup(e->cache, &other, now_s, false, &entry) == CACHE_EXPIRED)
			(void)cache_withdraw(e->cache, &other); /* perhaps another thread did */
	}
}

static void keep_recursive(struct engine *e, struct engine_pending *p, struct cache_answer *a,
			   uint32_t ttl_s, uint32_t now_s)
{
	uint32_t refresh_s = 0;

	if (!ttl_s && e->cache && p->rules.stale_s &&
	    is_recursive_answer(a->flags & DNS_RCODE_MASK))
		withdraw_expired(e, now_s);
	if (!ttl_s || !e->cache || !p->rules.zone_slot || is_spoken_for(e, p, a))
		return;
	if (p->servers.is_unsure && ttl_s > RECURSION_SERVFAIL_S)
		ttl_s = RECURSION_SERVFAIL_S;
	a->zone_slot = p->rules.zone_slot;
	a->zone_gen = p->rules.zone_gen;
	a->expires_s = now_s + ttl_s;
	a->memory = p->question.memory;
	if (ttl_s >= RECURSION_REFRESH_MIN_S) /* at least a second */
		refresh_s = (ttl_s + RECURSION_REFRESH_PART - 1) / RECURSION_REFRESH_PART;
	if (p->rules.prefetch && (a->flags & DNS_RCODE_MASK) != DNS_RCODE_SERVFAIL)
		a->refresh_s = refresh_s < UINT16_MAX ? (uint16_t)refresh_s : UINT16_MAX;
	engine_publish(e, a, now_s);
}

static bool is_about(const struct message *m, const struct resolver_question *q)
{
	const uint8_t *fixed = m->name + (m->name_end - DNS_HEADER_BYTES);

	return name_equal(m->name, q->name) && wire_load_be16(fixed) == q->qtype &&
	       wire_load_be16(fixed + 2) == q->qclass;
}

/*
 * The resolver's memory counts TTLs by the seconds of another clock, so an answer may live there a
 * second longer than here. True: the completion may be from that second. (An answer that the
 * servers give with a TTL of 0 is in no memory.)
 */
static bool is_last_second(struct engine *e, const struct engine_pending *p, uint32_t now_s)
{
	const struct volley_entry *entry;
	enum cache_verdict verdict;

	if (!p->question.is_known || !e->cache)
		return false;
	verdict = cache_lookup(e->cache, e->now.key, now_s, false, &entry);
	return verdict == CACHE_HIT || /* another worker has published it */
	       (verdict == CACHE_EXPIRED && now_s - entry->expires_s <= RECURSION_LAST_S);
}

/* 0, or an error if the completion cannot be used. */
static int convert_recursive(struct engine *e, const struct engine_pending *p, uint32_t now_s,
			     struct cache_answer *a, uint32_t *ttl_s)
{
	const struct resolver_question *q = &p->question;
	const bool is_bogus = q->security == RESOLVER_BOGUS;
	struct convert_source head, from;
	const struct convert_question question = { q->name, q->qtype, p->asked.edns.dnssec_ok,
						   q->head_bytes ? &head : NULL };
	struct convert_limits limits = {
		.max_ttl_s = is_bogus && p->rules.max_ttl_s > RECURSION_BOGUS_S ?
				     RECURSION_BOGUS_S :
				     p->rules.max_ttl_s,
		.min_ttl_s = p->rules.min_ttl_s,
		.max_negative_ttl_s = is_bogus && p->rules.max_negative_ttl_s > RECURSION_BOGUS_S ?
					      RECURSION_BOGUS_S :
					      p->rules.max_negative_ttl_s,
	};

	if (!limits.min_ttl_s && is_last_second(e, p, now_s))
		limits.min_ttl_s = RECURSION_LAST_S;
	if (!convert_from_wire(&from, q->msg + q->head_bytes, q->msg_bytes - q->head_bytes))
		return ERR_FORMAT;
	if (q->head_bytes && !convert_from_wire(&head, q->msg, q->head_bytes))
		return ERR_FORMAT;
	head.is_head = true;
	if (!is_about(q->head_bytes ? &head.message : &from.message, q))
		return ERR_FORMAT;
	return convert_answer(&e->convert, &from, &question, &limits, a, ttl_s);
}

static uint16_t finish_recursive_with_answer(struct engine *e, const struct engine_request *rq,
					     struct engine_pending *p, struct rpz_alias *alias,
					     struct cache_answer *a, uint32_t ttl_s)
{
	uint16_t rcode;

	a->flags |= DNS_FLAG_QR | DNS_FLAG_RA;
	if (p->question.security == RESOLVER_SECURE)
		a->flags |= DNS_FLAG_AD;
	if (p->question.security == RESOLVER_BOGUS) {
		e->now.ede_code = proto_ede_is_bogus(p->question.ede_code) ? p->question.ede_code :
									     DNS_EDE_DNSSEC_BOGUS;
		a->ede = cache_ede(e->now.ede_code);
	}
	failures_forget(&e->failures, e->now.key->hash);
	if (rpz_apply_answer(e, rq, p, ttl_s, alias, a, &rcode))
		return rcode;
	if (alias->n_bytes)
		return DNS_RCODE_NOERROR;
	keep_recursive(e, p, a, ttl_s, rq->now_s);
	return a->flags & DNS_RCODE_MASK;
}

/* A limit of ours, no memory, or a resolver that stops: the failure says nothing about the name. */
static bool is_recursive_local(int ede_code)
{
	return ede_code == DNS_EDE_NOT_READY || ede_code == DNS_EDE_OTHER;
}

/* How long the failure is cached: so long upstream is not asked again. */
static uint32_t failure_ttl_s(struct engine *e, const struct engine_pending *p, uint32_t now_s)
{
	if (is_last_second(e, p, now_s))
		return RECURSION_LAST_S;
	return p->question.security == RESOLVER_BOGUS ? RECURSION_BOGUS_S : RECURSION_SERVFAIL_S;
}

static uint16_t finish_recursive_with_failure(struct engine *e, struct engine_pending *p,
					      const struct engine_times *times, int ede_code,
					      struct cache_answer *a)
{
	bool goes_on = p->asked.has_client && times->now_ns >= p->question.deadline_ns;
	bool is_silent = times->now_ns >= p->question.deadline_ns ||
			 ede_code == DNS_EDE_NETWORK_ERROR;
	enum failing failing = is_silent ? FAILING_SILENTLY : FAILING_LOUDLY;
	const struct volley_entry *entry = NULL;
	enum cache_verdict verdict = CACHE_MISS;

	if (e->cache)
		verdict = cache_lookup(e->cache, e->now.key, times->now_s, false, &entry);
	if (verdict != CACHE_MISS && !rpz_apply_is_for_client(e, entry))
		verdict = CACHE_MISS;
	if (verdict == CACHE_HIT) { /* another worker has the answer by now */
		answer_as_cached(e, entry, times->now_s, a);
		return a->flags & DNS_RCODE_MASK;
	}
	if (verdict != CACHE_EXPIRED || !may_recursive_be_stale(entry, &p->rules, times->now_s))
		entry = e->cache ? find_other(e, &p->rules, failing, times->now_s) : NULL;
	if (entry) {
		if (!is_recursive_local(ede_code))
			failures_note(&e->failures, e->now.key->hash, times->now_s);
		if (!p->asked.has_client)
			return DNS_RCODE_SERVFAIL;
		p->submit = goes_on;
		return answer_stale(e, entry, p->rules.stale_ttl_s, times->now_s, a);
	}
	(void)recursive_failure(e, a, DNS_RCODE_SERVFAIL, ede_code);
	a->body = e->convert.body; /* it is empty, but must have an address */
	a->ede = cache_ede(ede_code);
	/* the time was short because of a stale entry that is gone now */
	p->submit = goes_on && p->is_hurried;
	if (!is_recursive_local(ede_code) && !p->submit)
		keep_recursive(e, p, a, failure_ttl_s(e, p, times->now_s), times->now_s);
	return DNS_RCODE_SERVFAIL;
}

uint16_t recursion_finish(struct engine *e, const struct engine_request *rq,
			  struct engine_pending *p, struct rpz_alias *alias, struct cache_answer *a)
{
	const struct engine_times times = { rq->now_ns, rq->now_s, rq->wall_s };
	const struct resolver_question *q = &p->question;
	int ede_code = q->ede_code == EDNS_NO_EDE ? DNS_EDE_NO_REACHABLE_AUTHORITY : q->ede_code;
	bool is_usable = q->msg && is_recursive_answer(q->rcode);
	uint16_t rcode = DNS_RCODE_NOERROR;
	uint32_t ttl_s;

	if (is_usable && !convert_recursive(e, p, rq->now_s, a, &ttl_s))
		return finish_recursive_with_answer(e, rq, p, alias, a, ttl_s);
	if (is_usable)
		engine_count(&e->counters.unusable);
	if (rpz_apply_failure(e, rq, p, alias, a, &rcode) || alias->n_bytes)
		return rcode;
	return finish_recursive_with_failure(e, p, &times,
					     is_usable ? DNS_EDE_INVALID_DATA : ede_code, a);
}
