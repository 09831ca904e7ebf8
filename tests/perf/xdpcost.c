// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xdpcost [--entries N,...] [--kinds N] [--tails N] [--mib N] [--repeat N] [--rounds N] [--cpu N]
 * [--json FILE]
 *
 * The cost of the XDP program: ns per packet by BPF_PROG_TEST_RUN, for the installed object over a
 * cache that is filled through cache/. front.bpf.c runs before each program, also before the
 * reflector and the empty program: it draws a random name and makes the frame a query again. So the
 * differences between columns are those of the programs.
 *
 *   for each cache (entries x kind of answer): fill
 *     for each query (IPv4, IPv6, with OPT, without; of the first kind also with COOKIE and NSID,
 *     and limited):
 *       empty, reflect, miss, hit, deny, wild, nsec, nsec3: in turns, `rounds` times, some ms each
 *
 * `deny` asks for names that do not exist, which the driver denies (xdp/deny.h), `wild` for names
 * for which a wildcard stands, `nsec` and `nsec3` for names that do not exist in a signed zone,
 * with DO (tests/lib/sharedzones.h). A signed zone has as many names as the cache has entries, at
 * most a million, and the cache has the denial of each interval after the entries. Queries draw
 * from as many names, so each meets another interval. The filter has the names of the cache and of
 * these zones, and NSEC3's owners. `wild` is measured without options and limits, `nsec` and
 * `nsec3` with OPT alone, all for the first kind of answer.
 *
 * A query with options is measured in the same rounds as one with OPT alone: "options" is the extra
 * cost of a hit above the reflector. The cookie is one of ours, and comes back unchanged.
 *
 * A query with rate limits is measured in the same way: `far` is one client far below its limit,
 * `near` one client near it, `near, any` random clients of all addresses, each near its limit. The
 * other rows have no limits.
 *
 * It prints medians; from `deny` on they are above the reflector. For these and for a hit it also
 * prints the difference of the least times: the cost while no other work ran, since a disturbance
 * only adds time.
 *
 * The cache is as large as its entries need, or has --mib MiB, to find the cost of a mostly empty
 * index.
 *
 * Before the measurement each case runs once and is checked: the counted reason, the action, the
 * first octets of the resulting frame.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <jansson.h>
#include <linux/bpf.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/wire.h"
#include "cache/cache.h"
#include "dns/cookie.h"
#include "dns/proto.h"
#include "limits/limiter.h"
#include "shield/name_filter.h"
#include "tests/lib/bpfmaps.h"
#include "tests/lib/knownname.h"
#include "tests/lib/sharedzones.h"
#include "tests/perf/front.h"
#include "tests/perf/median.h"
#include "tests/perf/query.h"
#include "tests/perf/stock.h"
#include "tests/perf/xdpcost_options.h"
#include "front.skel.h" /* after front.h, whose struct it holds */
#include "reflect.skel.h"

#define N_KINDS       (sizeof(stock_kinds) / sizeof(stock_kinds[0]))
#define FRAME_CAP     2048
#define NAMES_IN_LINE 32u        /* 2 octets for each */
#define OTHERS        0x8000000u /* names from this number on are in no cache and no zone */
#define ASKED         0x4000000u /* the number of a name in no zone, and of no query */
#define HITS_MIN      0.99       /* of the draws that must be right: a bucket may overflow */

/* Only the first kind gets more entries than this: the others may have 1,200 octets each. */
#define LARGE_ENTRIES_MAX 1000000u

/* The part of a query behind its question. */
enum tail {
	TAIL_NONE,
	TAIL_OPT,
	TAIL_COOKIE,
	TAIL_COOKIE_NSID,
	/* OPT alone, and rate limits: */
	TAIL_LIMIT_FAR,
	TAIL_LIMIT_NEAR,
	TAIL_LIMIT_ANY,
	N_TAILS
};
static const char *const tail_names[N_TAILS] = { "no",  "yes",  "cookie",   "+nsid",
						 "far", "near", "near, any" };

enum target { EMPTY, REFLECT, MISS, HIT, DENY, WILD, NSEC, NSEC3, N_TARGETS };
static const char *const target_names[N_TARGETS] = { "empty", "reflect", "miss", "hit",
						     "deny",  "wild",    "nsec", "nsec3" };

/* The names to ask for: names in the cache, names that are not, and names below the apexes of
 * sharedzones.h. */
enum asked { ASK_STOCK, ASK_OTHERS, ASK_WILD, ASK_NSEC, ASK_NSEC3, N_ASKED };

/* The measured programs, and the memory of Volley's program. */
struct bench {
	struct bpfmaps maps;
	struct cache *cache;
	struct reflect_bpf *reflect;
	/* all names in the cache; its id is 0 except while denials are measured */
	struct names names;
	uint32_t n_signed; /* names of each signed zone */
	uint32_t names_id;
	const struct options *options;
	json_t *rows;
};

/* One kind of query, for each target. */
struct row {
	const struct stock_kind *kind;
	uint32_t n_entries, n_signed;
	bool ipv6;
	enum tail tail;
	uint8_t options[64];
	size_t n_options;
	bool any_client;
	struct volley_rrl *rrl;
	struct volley_names_state *names;
	uint32_t names_id;
	struct asked_query {
		struct front_bpf *front;
		uint8_t frame[FRAME_CAP];
		size_t frame_bytes;
	} asked[N_ASKED];
	uint32_t ns[N_TARGETS][ROUNDS_CAP];
};

static const uint8_t secret[16] = "0123456789abcde";
static const uint8_t nsid[] = { 0, 3, 0, 4, 'n', 's', '0', '1' };

static const uint8_t to_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 0x53 };
static const uint8_t from_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
static const uint8_t to4[16] = { 192, 0, 2, 53 };
static const uint8_t from4[16] = { 192, 0, 2, 1 };
static const uint8_t to6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 0x53 };
static const uint8_t from6[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };

/* --- The cache -------------------------------------------------------------------------------- */

/* As volleyd does for a server with a cookie secret and server.nsid. */
static void configure_options(struct volley_state *state)
{
	struct volley_options *o = &state->options[0];

	*o = (struct volley_options){ .n_secrets = 1, .nsid_bytes = sizeof(nsid) };
	memcpy(o->secrets[0], secret, sizeof(secret));
	memcpy(o->nsid, nsid, sizeof(nsid));
	for (size_t i = 0; i < sizeof(nsid); i += 2)
		o->nsid_sum += nsid[i] | (uint64_t)nsid[i + 1] << 8;
	state->wall_ns = clock_wall_ahead_ns();
	state->option_up_mask = 1u << DNS_OPTION_COOKIE | 1u << DNS_OPTION_NSID;
}

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

static void add_name(struct names *names, const uint8_t *name, uint32_t bytes)
{
	uint64_t hash = names_hash_of(names->states[0]->keys, name, bytes);
	struct volley_names_line *line = &names->lines[volley_names_line(hash, names->n_lines)];
	uint64_t bits = volley_names_bits(hash, VOLLEY_NAME_EXISTS);

	for (uint32_t i = 0; i < VOLLEY_NAMES_N_BITS; i++)
		line->words[VOLLEY_NAMES_BIT(bits, i) >> 6] |= 1ull
							       << (VOLLEY_NAMES_BIT(bits, i) & 63);
}

/* The zone of the stock, which has these names, and its denial: an SOA whose owner is a compression
 * pointer. */
static int open_denials(struct bench *b, const struct stock_kind *kind, uint32_t n_entries)
{
	static const uint8_t apex[] = "\5bench\4test", soa[] = "\xc0\x0c\0\6\0\1\0\0\x0e\x10\0\x1c"
							       "\2ns\xc0\x0c\2me\xc0\x0c";
	struct volley_shared denial = {
		.n_pointers = 3, .pointers = { 0, 15, 20 }, .name_min = 1, .name_max = 255
	};
	uint8_t name[256] = { 0 }, body[sizeof(soa) - 1 + 20 + sizeof(denial)] = { 0 };
	struct cache_answer answer = { .body = body, .nscount = 1, .flags = 0x8403 };
	struct volley_key first = { .name_bytes = sizeof(apex) };
	struct cache_writer *writer;
	struct cache_key key;
	int err;

	err = names_begin(&b->names, no_grace, NULL);
	if (err)
		return err;
	names_add_apex(&b->names, apex, sizeof(apex));
	for (uint32_t i = 0; i < n_entries; i++)
		add_name(&b->names, name, stock_name(name, kind, i));
	b->names_id = names_id(&b->names);
	first.qclass = __builtin_bswap16(VOLLEY_SHARED_CLASS(b->names_id));
	first.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, b->names_id);
	memcpy(body, soa, sizeof(soa) - 1);
	memcpy(body + sizeof(soa) - 1 + 20, &denial, sizeof(denial));
	answer.full_bytes = sizeof(body);
	answer.short_bytes = sizeof(body) - sizeof(denial);
	answer.expires_s = VOLLEY_NEVER;
	err = cache_writer_new(&writer, b->cache);
	if (err)
		return err;
	cache_zone_prepare(b->cache, apex, sizeof(apex), stock_digest, &answer.zone_slot,
			   &answer.zone_gen);
	cache_key_from(&key, b->cache, &first, apex);
	err = cache_publish(writer, &key, &answer, clock_coarse_s());
	cache_writer_free(writer);
	return err;
}

/* Sets up the filter by the map's size, with the lines for intervals behind it. */
static void open_names(struct bench *b)
{
	uint32_t n_intervals = b->n_signed ? sharedzones_lines(b->n_signed) : 0;

	names_init(&b->names, b->maps.names, b->maps.names_lines - n_intervals,
		   &cache_state(b->cache)->names);
	names_init_intervals(&b->names, n_intervals);
}

/*
 * Whether the filter has a false mark at an apex, which its random keys cause at one in some 1,000:
 * then a worker gets all queries of that zone, and there is nothing to measure.
 */
static bool has_wrong_mark(const struct bench *b)
{
	static const uint8_t apex[] = "\5bench\4test";
	bool is_wrong = names_may_exist(&b->names, apex, VOLLEY_NAME_STOP) ||
			names_may_exist(&b->names, apex, VOLLEY_NAME_WILD);

	for (int i = 0; b->n_signed && i < N_SHAREDZONES; i++) {
		is_wrong |= names_may_exist(&b->names, sharedzone_apexes[i], VOLLEY_NAME_STOP);
		is_wrong |= i != SHAREDZONE_WILD &&
			    names_may_exist(&b->names, sharedzone_apexes[i], VOLLEY_NAME_WILD);
	}
	return is_wrong;
}

/* -EAGAIN: try again with another filter. */
static int open_cache(struct bench *b, const struct stock_kind *kind, uint32_t n_entries)
{
	const uint32_t n_most = n_entries < LARGE_ENTRIES_MAX ? n_entries : LARGE_ENTRIES_MAX;
	struct cache_sizes sizes;
	uint64_t bytes = b->options->cache_bytes;
	bool adopted;
	int err;

	b->n_signed = kind == &stock_kinds[0] ? n_most : 0;
	if (!bytes)
		bytes = stock_budget(kind, n_entries);
	err = cache_sizes_plan(&sizes, bytes + sharedzones_cache_bytes(b->n_signed), 0);
	sizes.n_names_lines = (n_entries + 3 * b->n_signed) / NAMES_IN_LINE + 1;
	if (b->n_signed)
		sizes.n_names_lines += sharedzones_lines(b->n_signed);
	if (!err)
		err = bpfmaps_open(&b->maps, &sizes);
	if (err)
		return err;
	err = cache_new(&b->cache, &b->maps.memory, &adopted);
	if (err) {
		bpfmaps_close(&b->maps);
		return err;
	}
	stock_configure(cache_state(b->cache));
	configure_options(cache_state(b->cache));
	open_names(b);
	err = stock_fill(b->cache, kind, n_entries);
	if (!err)
		err = open_denials(b, kind, n_entries);
	if (!err && b->n_signed)
		err = sharedzones_publish(b->cache, &b->names, front_label, b->n_signed, ASKED);
	return !err && has_wrong_mark(b) ? -EAGAIN : err;
}

static void close_cache(struct bench *b)
{
	names_fini(&b->names);
	cache_free(b->cache);
	bpfmaps_close(&b->maps);
	b->cache = NULL;
}

/* --- The fronts ------------------------------------------------------------------------------- */

static int set_targets(struct front_bpf *front, const struct bench *b)
{
	int fds[FRONT_TARGETS] = { bpf_program__fd(front->progs.empty),
				   bpf_program__fd(b->reflect->progs.reflect), b->maps.prog_fd };

	for (uint32_t i = 0; i < FRONT_TARGETS; i++) {
		if (bpf_map_update_elem(bpf_map__fd(front->maps.targets), &i, &fds[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Draws `n` names from number `first` on. */
static int open_front(struct asked_query *q, const struct bench *b, const struct row *row,
		      uint32_t first, uint32_t n)
{
	struct front_bpf *front = front_bpf__open();
	int err;

	if (!front)
		return -errno;
	front->rodata->config.frame_bytes = (uint32_t)q->frame_bytes;
	front->rodata->config.name_offset = (uint32_t)query_dns_offset(row->ipv6) + 12;
	front->rodata->config.tail_offset =
		(uint32_t)(q->frame_bytes - (row->tail ? 11 + row->n_options : 0));
	front->rodata->config.first = first;
	front->rodata->config.n = n;
	front->rodata->config.ipv6 = row->ipv6;
	if (row->any_client)
		front->rodata->config.source_offset = ETH_HLEN + (row->ipv6 ? 8 : 12);
	memcpy(front->data->frame, q->frame, q->frame_bytes);
	err = front_bpf__load(front);
	if (!err)
		err = set_targets(front, b);
	if (err) {
		front_bpf__destroy(front);
		return err;
	}
	q->front = front;
	return 0;
}

/* A cookie that is good for half an hour, and an empty NSID. */
static void make_options(struct row *row)
{
	uint8_t *cookie = row->options + 4;

	if (row->tail != TAIL_COOKIE && row->tail != TAIL_COOKIE_NSID)
		return;
	wire_store_be16(row->options, DNS_OPTION_COOKIE);
	wire_store_be16(row->options + 2, COOKIE_BYTES);
	memcpy(cookie, "client-8", COOKIE_CLIENT_BYTES);
	cookie_make(cookie, cookie, row->ipv6 ? from6 : from4, row->ipv6 ? 16 : 4,
		    (uint32_t)clock_wall_s(), secret);
	row->n_options = 4 + COOKIE_BYTES;
	if (row->tail < TAIL_COOKIE_NSID)
		return;
	wire_store_be16(row->options + row->n_options, DNS_OPTION_NSID);
	wire_store_be16(row->options + row->n_options + 2, 0);
	row->n_options += 4;
}

static bool has_target(const struct row *row, enum target target)
{
	if (target < WILD)
		return true;
	return row->n_signed && (row->tail == TAIL_OPT || (target == WILD && !row->tail));
}

/* Makes the frame, and opens the program that draws names for it. */
static int open_asked(struct row *row, const struct bench *b, enum asked asked)
{
	static const uint32_t firsts[N_ASKED] = { 0, OTHERS, OTHERS, OTHERS, OTHERS };
	struct asked_query *q = &row->asked[asked];
	uint8_t name[256];
	struct perf_query query = { .ipv6 = row->ipv6,
				    .edns = row->tail,
				    .qtype = 1,
				    .name = name,
				    .options = row->options,
				    .n_options = row->n_options,
				    .dnssec_ok = asked >= ASK_NSEC,
				    .from_port = 12345,
				    .id = 0x1234 };

	stock_name(name, row->kind, 0);
	if (asked >= ASK_WILD)
		memcpy(name + SHAREDZONE_LABEL_BYTES, sharedzone_apexes[asked - ASK_WILD],
		       SHAREDZONE_APEX_BYTES);
	memcpy(query.to_mac, to_mac, ETH_ALEN);
	memcpy(query.from_mac, from_mac, ETH_ALEN);
	memcpy(query.to, row->ipv6 ? to6 : to4, 16);
	memcpy(query.from, row->ipv6 ? from6 : from4, 16);
	q->frame_bytes = query_frame(q->frame, FRONT_FRAME_MAX, &query);
	return open_front(q, b, row, firsts[asked],
			  asked >= ASK_WILD ? row->n_signed : row->n_entries);
}

static enum asked asked_by(enum target target)
{
	return target >= WILD                   ? ASK_WILD + (target - WILD) :
	       target == MISS || target == DENY ? ASK_OTHERS :
						  ASK_STOCK;
}

static int open_row(struct row *row, const struct bench *b)
{
	int err = 0;

	make_options(row);
	for (int t = 0; !err && t < N_TARGETS; t++)
		if (has_target(row, t) && !row->asked[asked_by(t)].front)
			err = open_asked(row, b, asked_by(t));
	return err;
}

static void close_row(struct row *row)
{
	for (int i = 0; i < N_ASKED; i++)
		front_bpf__destroy(row->asked[i].front);
}

static struct front_bpf *front_of(const struct row *row, enum target target)
{
	return row->asked[asked_by(target)].front;
}

static const struct bpf_program *front_program(const struct row *row, enum target target)
{
	const struct front_bpf *front = front_of(row, target);

	switch (target) {
	case EMPTY:
		return front->progs.front_empty;
	case REFLECT:
		return front->progs.front_reflect;
	default:
		return front->progs.front_volley;
	}
}

/* --- Measuring -------------------------------------------------------------------------------- */

/*
 * Sets the limits of this row. Test runs send more than any client may get. So `far` means that the
 * first stage holds all load back, and `near` that it holds none back; then an answer is such a
 * small part of the limit that all are sent.
 */
static int set_limits(const struct row *row)
{
	const bool is_on = row->tail >= TAIL_LIMIT_FAR;
	const struct limiter_config limits = { .answers = is_on ? LIMITER_ANSWERS_MAX : 0,
					       .slip = 2,
					       .n_readers = 1 };
	int err = limiter_configure(row->rrl, &limits);

	row->rrl->near_cost = row->tail == TAIL_LIMIT_FAR ? UINT64_MAX : 0;
	if (is_on)
		row->rrl->answer_cost = 1;
	return err;
}

static int run(const struct row *row, enum target target, uint32_t repeat, uint8_t out[FRAME_CAP],
	       uint32_t *action, uint32_t *ns)
{
	const struct asked_query *q = &row->asked[asked_by(target)];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = q->frame,
		    .data_size_in = (uint32_t)q->frame_bytes, .data_out = out,
		    .data_size_out = FRAME_CAP, .repeat = (int)repeat);
	int err = set_limits(row);

	if (err)
		return err;
	row->names->id = target >= DENY ? row->names_id : 0;
	front_of(row, target)->bss->home = 0; /* each run has its own memory */
	err = bpf_prog_test_run_opts(bpf_program__fd(front_program(row, target)), &opts);
	*action = opts.retval;
	*ns = opts.duration;
	return err;
}

/* The reason that the program must count for this row. */
static enum volley_reason expected(const struct row *row, enum target target)
{
	if (target == MISS)
		return VOLLEY_UP_MISS;
	if (target == WILD)
		return VOLLEY_HIT_WILDCARD;
	if (target >= DENY)
		return VOLLEY_HIT_DENIED;
	return row->kind->message_bytes > 512 && !row->tail ? VOLLEY_HIT_TRUNCATED :
							      VOLLEY_HIT_FULL;
}

static int complain(const struct row *row, enum target target, const char *what)
{
	fprintf(stderr, "xdpcost: %s, %u entries, %s, OPT %s, %s: %s\n", row->kind->name,
		row->n_entries, row->ipv6 ? "IPv6" : "IPv4", tail_names[row->tail],
		target_names[target], what);
	return -EPROTO;
}

/* A test run that checks the result before the measurement; it also warms the caches. */
static int check(const struct bench *b, const struct row *row, enum target target)
{
	static const uint32_t actions[] = { XDP_PASS, XDP_TX };
	struct volley_cpu before, after;
	uint8_t out[FRAME_CAP] = { 0 };
	enum volley_reason reason;
	uint32_t action, ns;
	double share;
	int err;

	err = bpfmaps_counters(&b->maps, &before);
	if (!err)
		err = run(row, target, b->options->repeat, out, &action, &ns);
	if (!err)
		err = bpfmaps_counters(&b->maps, &after);
	if (err)
		return err;
	if (target >= MISS) {
		reason = expected(row, target);
		share = (double)(after.reasons[reason] - before.reasons[reason]) /
			b->options->repeat;
		if (target >= HIT && row->n_options)
			share = fmin(share, (double)(after.cookies_good - before.cookies_good) /
						    b->options->repeat);
		if (target >= HIT && row->tail > TAIL_LIMIT_FAR)
			share = fmin(share, (double)(after.rrl_judged - before.rrl_judged) /
						    b->options->repeat);
		return share < HITS_MIN ? complain(row, target, "it did something else") : 0;
	}
	if (action != actions[target] ||
	    (out[query_dns_offset(row->ipv6) + 2] & 0x80) != (target == REFLECT ? 0x80 : 0))
		return complain(row, target, "not what it should return");
	return 0;
}

static int check_all(const struct bench *b, const struct row *row)
{
	int err = 0;

	for (int t = 0; !err && t < N_TARGETS; t++)
		if (has_target(row, t))
			err = check(b, row, (enum target)t);
	return err;
}

static int measure_round(const struct bench *b, struct row *row, unsigned int round)
{
	uint8_t out[FRAME_CAP];
	uint32_t action;
	int err = 0;

	for (int t = 0; !err && t < N_TARGETS; t++)
		if (has_target(row, t))
			err = run(row, (enum target)t, b->options->repeat, out, &action,
				  &row->ns[t][round]);
	return err;
}

/* `plain`, unless NULL, is measured in the same rounds. */
static int measure(const struct bench *b, struct row *row, struct row *plain)
{
	int err = check_all(b, row);

	if (!err && plain)
		err = check_all(b, plain);
	for (unsigned int i = 0; !err && i < b->options->rounds; i++) {
		err = measure_round(b, row, i);
		if (!err && plain)
			err = measure_round(b, plain, i);
	}
	return err;
}

/* Median of `target`, less `base` in the same round if there is one. */
static double median_ns(const struct row *row, int target, int base, unsigned int rounds)
{
	double values[ROUNDS_CAP];

	for (unsigned int i = 0; i < rounds; i++)
		values[i] = (double)row->ns[target][i] - (base < 0 ? 0 : row->ns[base][i]);
	return median(values, rounds);
}

static double least_ns(const struct row *row, enum target target, unsigned int rounds)
{
	uint32_t least = UINT32_MAX;

	for (unsigned int i = 0; i < rounds; i++)
		least = row->ns[target][i] < least ? row->ns[target][i] : least;
	return least;
}

/* The extra cost of a hit above the reflector, relative to `plain`: the median of all rounds. */
static double options_ns(const struct row *row, const struct row *plain, unsigned int rounds)
{
	double values[ROUNDS_CAP];

	for (unsigned int i = 0; i < rounds; i++)
		values[i] = (double)row->ns[HIT][i] - row->ns[REFLECT][i] -
			    ((double)plain->ns[HIT][i] - plain->ns[REFLECT][i]);
	return median(values, rounds);
}

/* The same for the least times. */
static double options_least_ns(const struct row *row, const struct row *plain, unsigned int rounds)
{
	return least_ns(row, HIT, rounds) - least_ns(row, REFLECT, rounds) -
	       (least_ns(plain, HIT, rounds) - least_ns(plain, REFLECT, rounds));
}

/* --- Output ----------------------------------------------------------------------------------- */

static void report_options(json_t *record, const struct row *row, const struct row *plain,
			   unsigned int rounds)
{
	double more = options_ns(row, plain, rounds), least = options_least_ns(row, plain, rounds);

	printf(" %8.0f %6.0f", more, least);
	json_object_set_new(record, "options_ns", json_real(more));
	json_object_set_new(record, "options_least_ns", json_real(least));
}

/* A shared answer above the reflector: the median, and the difference of the least times. */
static void report_shared(json_t *record, const struct row *row, enum target target,
			  unsigned int rounds)
{
	double above = median_ns(row, target, REFLECT, rounds);
	double least = least_ns(row, target, rounds) - least_ns(row, REFLECT, rounds);
	char key[64];

	if (!has_target(row, target)) {
		printf(" %7s %6s", "-", "-");
		return;
	}
	printf(" %7.0f %6.0f", above, least);
	snprintf(key, sizeof(key), "%s_above_reflect_ns", target_names[target]);
	json_object_set_new(record, key, json_real(above));
	snprintf(key, sizeof(key), "%s_above_reflect_least_ns", target_names[target]);
	json_object_set_new(record, key, json_real(least));
}

static void report(struct bench *b, const struct row *row, const struct row *plain)
{
	unsigned int rounds = b->options->rounds;
	double ns[N_TARGETS], above = median_ns(row, HIT, REFLECT, rounds);
	double least = least_ns(row, HIT, rounds) - least_ns(row, REFLECT, rounds);
	json_t *record;

	for (int t = 0; t < N_TARGETS; t++)
		ns[t] = median_ns(row, t, -1, rounds);
	printf("%9u  %-31s %s %-9s %7.0f %8.0f %6.0f %6.0f  %11.0f %13.0f %6.0f", row->n_entries,
	       row->kind->name, row->ipv6 ? "IPv6" : "IPv4", tail_names[row->tail], ns[EMPTY],
	       ns[REFLECT], ns[MISS], ns[HIT], median_ns(row, MISS, REFLECT, rounds), above, least);
	record = json_pack("{s:I, s:I, s:s, s:b, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
			   "entries", (json_int_t)row->n_entries, "signed_names",
			   (json_int_t)row->n_signed, "kind", row->kind->name, "ipv6", row->ipv6,
			   "edns", row->tail != TAIL_NONE, "empty_ns", ns[EMPTY], "reflect_ns",
			   ns[REFLECT], "miss_ns", ns[MISS], "hit_ns", ns[HIT],
			   "miss_above_reflect_ns", median_ns(row, MISS, REFLECT, rounds),
			   "hit_above_reflect_ns", above, "hit_above_reflect_least_ns", least);
	for (int t = DENY; t < N_TARGETS; t++)
		report_shared(record, row, t, rounds);
	json_object_set_new(record, "tail", json_string(tail_names[row->tail]));
	if (plain)
		report_options(record, row, plain, rounds);
	puts("");
	fflush(stdout);
	json_array_append_new(b->rows, record);
}

static int bench_row(struct bench *b, const struct stock_kind *kind, uint32_t n_entries,
		     unsigned int i)
{
	const bool has_plain = i % N_TAILS > TAIL_OPT;
	struct row *rows = calloc(2, sizeof(*rows)), *plain = has_plain ? &rows[1] : NULL;
	int err;

	if (!rows)
		return -ENOMEM;
	for (int k = 0; k < 2; k++) {
		rows[k].kind = kind;
		rows[k].n_entries = n_entries;
		rows[k].n_signed = b->n_signed;
		rows[k].ipv6 = i / N_TAILS;
		rows[k].tail = k ? TAIL_OPT : (enum tail)(i % N_TAILS);
		rows[k].any_client = i % N_TAILS == TAIL_LIMIT_ANY;
		rows[k].rrl = b->maps.limiter.rrl;
		rows[k].names = b->names.states[0];
		rows[k].names_id = b->names_id;
	}
	err = open_row(&rows[0], b);
	if (!err && plain)
		err = open_row(plain, b);
	if (!err)
		err = measure(b, &rows[0], plain);
	if (!err)
		report(b, &rows[0], plain);
	close_row(&rows[0]);
	close_row(&rows[1]);
	free(rows);
	return err;
}

static int bench_cache(struct bench *b, const struct stock_kind *kind, uint32_t n_entries)
{
	int err = open_cache(b, kind, n_entries);

	while (err == -EAGAIN) {
		close_cache(b);
		err = open_cache(b, kind, n_entries);
	}
	if (err)
		return err;
	for (unsigned int i = 0; !err && i < 2 * N_TAILS; i++)
		if (i % N_TAILS < b->options->n_tails &&
		    (kind == &stock_kinds[0] || i % N_TAILS <= TAIL_OPT))
			err = bench_row(b, kind, n_entries, i);
	close_cache(b);
	return err;
}

static int bench_all(struct bench *b)
{
	const struct options *o = b->options;
	int err = 0;

	printf("%9s  %-31s %-4s %-9s %7s %8s %6s %6s  %11s %13s %6s", "entries", "kind", "IP",
	       "OPT", "empty", "reflect", "miss", "hit", "miss-reflect", "hit-reflect", "least");
	for (int t = DENY; t < N_TARGETS; t++)
		printf(" %7s %6s", target_names[t], "least");
	printf(" %8s %6s\n", "options", "least");
	for (size_t k = 0; k < N_KINDS && k < o->n_kinds; k++) {
		for (unsigned int i = 0; !err && i < o->n_entries; i++) {
			if (k && o->entries[i] > LARGE_ENTRIES_MAX)
				continue;
			err = bench_cache(b, &stock_kinds[k], o->entries[i]);
		}
	}
	return err;
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		perror("xdpcost: sched_setaffinity");
}

int main(int argc, char **argv)
{
	struct options options = OPTIONS_INIT;
	struct bench bench = { .options = &options };
	int err;

	if (parse_options(&options, argc, argv)) {
		fprintf(stderr,
			"usage: xdpcost [--entries N,...] [--kinds N] [--tails N] [--mib N] "
			"[--repeat N] "
			"[--rounds N] [--cpu N] [--json FILE]\n");
		return 2;
	}
	pin(options.cpu);
	bench.rows = json_array();
	bench.reflect = reflect_bpf__open_and_load();
	err = bench.reflect ? bench_all(&bench) : -errno;
	if (!err && options.json)
		err = json_dump_file(bench.rows, options.json, JSON_INDENT(1)) ? -EIO : 0;
	reflect_bpf__destroy(bench.reflect);
	json_decref(bench.rows);
	if (err)
		fprintf(stderr, "xdpcost: %s\n", strerror(-err));
	return err ? 1 : 0;
}
