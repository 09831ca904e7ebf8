/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For fuzz_xdp.c, which has the maps: a small filter of names, a region of intervals and a shared
 * answer of kind WILDCARD or INTERVAL (xdp/shared.h). Each may be damaged. A second, simpler
 * implementation tells which of them may answer.
 *
 *      root ─ an apex ─ up to three labels of the query's name are known ─ the next one is not
 *                       the last of these is a wildcard's parent, or not
 *
 *      names_lines   │ filter │ head │ 8 levels of 5 lines │
 */
#ifndef VOLLEY_TESTS_FUZZ_XDP_SHARED_H
#define VOLLEY_TESTS_FUZZ_XDP_SHARED_H

#define SHARED_CONTROL_BYTES 13 /* at the end of the input */
#define FILTER_LINES         VOLLEY_DEFAULT_NAMES_LINES
#define LEVEL_LINES          5u
#define REGION_LINES         (1 + VOLLEY_INTERVALS_LEVELS * LEVEL_LINES)
#define ALL_LINES            (FILTER_LINES + REGION_LINES)
#define REGION_ID            77u
#define SHARED_BODY          (UINT8_MAX * 6)
#define SHARED_NAME_MAX      (9 + 256)

/* The answer that is published if the query has no entry of its own. */
enum shared_kind { ROOT_DENIAL, WILDCARD, INTERVAL, INTERVAL_EXPANDED };

/* The octets of control, in their order. */
enum {
	FAR_WILD = 0x04,
	STOPPED = 0x08,
	NO_APEX = 0x10,
	NO_FILTER = 0x20,
	NO_REGIONS = 0x40,
	OTHER_START = 0x80
};
enum { EQUAL_WORD = 0x10, LEAF_MARK = 0x20, ANY_WORDS = 0x40, OTHER_REGION = 0x80 };
enum {
	HAS_INTERVALS = 0x01,
	HAS_SUFFIX = 0x02,
	CUT_SHARED = 0x04,
	NO_ANCHOR = 0x08,
	STALE_ANCHOR = 0x10,
	OTHER_KEY = 0x20,
	OTHER_FILTER = 0x40,
	OTHER_TYPE = 0x80,
};

struct shared_control {
	uint8_t names, n_levels, kind, salt_bytes, level, words, n_pointers, name_min, name_max, at,
		damage, seed, late;
};

/*
 * The last octet: the change that a writer makes while the program runs, and the read of the store
 * before which it makes it. The answer is the last read but one.
 */
enum late { NEVER, LATE_NAME, LATE_POINT, LATE_MARK, LATE_MASK = 3 };
#define LATE_SHIFT  2
#define LATE_REGION 0x10 /* also replaces the region, if that is before the answer's read */
#define ANSWER_READ 2u   /* the read of an interval's answer */

/* The state of one input. */
struct shared_input {
	enum shared_kind kind;
	struct shared_control control;
	struct volley_shared shared;
	const uint8_t *encloser,
		*unknown; /* in the question's folded name; unknown NULL: the name exists */
	unsigned int encloser_bytes, key_bytes;
	uint32_t region_at; /* the line that the zone's denial names */
	uint64_t start;     /* of the key */
	uint8_t body[SHARED_BODY + sizeof(struct volley_shared)];
};

static struct volley_names_line names_lines[ALL_LINES];

/* --- Names ------------------------------------------------------------------------------------ */

static void know(__u64 hash, enum volley_name_mark mark)
{
	struct volley_names_line *line = &names_lines[volley_names_line(hash, FILTER_LINES)];
	__u64 bits = volley_names_bits(hash, mark);

	for (__u32 i = 0; i < VOLLEY_NAMES_N_BITS; i++)
		line->words[VOLLEY_NAMES_BIT(bits, i) >> 6] |= 1ull
							       << (VOLLEY_NAMES_BIT(bits, i) & 63);
}

static void know_marked(__u64 hash, enum volley_name_mark mark)
{
	know(hash, VOLLEY_NAME_MARKED);
	know(hash, mark);
}

/* Adds the root, which is an apex, and no other name. */
static void know_root(void)
{
	memset(names_lines, 0, sizeof(names_lines));
	know(volley_names_hash(0), VOLLEY_NAME_EXISTS);
	know_marked(volley_names_hash(0), VOLLEY_NAME_APEX);
}

static __u64 suffix_of(const uint8_t *name)
{
	return names_hash_of(state.names.keys, name, (unsigned int)name_bytes(name));
}

static unsigned int n_known(const struct shared_input *in)
{
	return in->control.names & 3;
}

/* Adds the root and the suffixes of `name` up to control's number of labels, with control's
 * marks. */
static void know_some(struct shared_input *in, const struct query *q)
{
	unsigned int n = name_n_labels(q->folded), known = n_known(in);

	know_root();
	if (in->control.names & NO_APEX)
		memset(names_lines, 0, sizeof(names_lines));
	if (in->control.names & FAR_WILD && known)
		know_marked(volley_names_hash(0), VOLLEY_NAME_WILD);
	if (in->control.names & STOPPED)
		know_marked(volley_names_hash(0), VOLLEY_NAME_STOP);
	know(volley_names_hash(0), VOLLEY_NAME_EXISTS);
	for (unsigned int k = 0; k <= known && k <= n; k++) {
		in->encloser = name_skip_labels(q->folded, n - k);
		know(suffix_of(in->encloser), VOLLEY_NAME_EXISTS);
	}
	in->encloser_bytes = (unsigned int)name_bytes(in->encloser);
	in->unknown = n > known ? name_skip_labels(q->folded, n - known - 1) : NULL;
	if (in->kind != INTERVAL)
		know_marked(suffix_of(in->encloser), VOLLEY_NAME_WILD);
}

/* --- The region ------------------------------------------------------------------------------- */

/* The point of the unknown name. */
static uint64_t point_of(const struct volley_intervals_head *head, const uint8_t *name)
{
	struct nsec3_params params = { .salt_bytes = (uint8_t)head->salt_bytes };
	struct nsec3_label hash;
	uint64_t point = 0;

	if (head->kind == VOLLEY_INTERVALS_NSEC)
		return volley_intervals_label_point(name + 1, name[0] < 8 ? name[0] : 8);
	if (head->kind != VOLLEY_INTERVALS_NSEC3 || head->salt_bytes > VOLLEY_INTERVALS_SALT)
		return 0;
	memcpy(params.salt, head->salt, head->salt_bytes);
	nsec3_hash(&params, name, &hash);
	for (unsigned int i = 1; i <= 13; i++) {
		uint64_t digit = hash.label[i] >= 'a' ? hash.label[i] - 'a' + 10u :
							hash.label[i] - (unsigned)'0';

		point = i < 13 ? point << 5 | digit : point << 4 | digit >> 1;
	}
	return point;
}

static uint64_t word_of(const struct shared_control *c, uint64_t point, size_t i)
{
	uint64_t any = volley_hash_mix(c->seed + i * 256 + 1);
	uint64_t distance = any % 7 + !(c->words & EQUAL_WORD);

	if (i % 8 >= (c->words & 15u))
		return 0;
	if (c->words & LEAF_MARK && i % 8 == 7)
		return VOLLEY_INTERVALS_MARK;
	if (c->words & ANY_WORDS)
		return any;
	return any >> 63 ? point + distance : point - distance;
}

static void lay_region(const struct shared_input *in)
{
	const struct shared_control *c = &in->control;
	struct volley_intervals_head *head = (void *)&names_lines[FILTER_LINES];
	unsigned int damaged = c->level >> 3;
	uint64_t point;

	head->id = c->words & OTHER_REGION ? REGION_ID + 1 : REGION_ID;
	head->n_levels = c->n_levels;
	head->kind = c->kind;
	head->salt_bytes = c->salt_bytes;
	for (uint8_t i = 0; i < VOLLEY_INTERVALS_SALT; i++)
		head->salt[i] = i < c->salt_bytes ? (uint8_t)(i + c->seed) : 0;
	for (uint32_t i = 0; i < VOLLEY_INTERVALS_LEVELS; i++)
		head->level_at[i] = FILTER_LINES + 1 + i * LEVEL_LINES;
	if (damaged)
		head->level_at[c->level & 7] = damaged & 16 ? UINT32_MAX - damaged :
							      ALL_LINES - 8 + damaged;
	point = in->unknown ? point_of(head, in->unknown) : 0;
	for (size_t i = 0; i < (REGION_LINES - 1) * (size_t)VOLLEY_INTERVALS_WORDS; i++)
		names_lines[FILTER_LINES + 1 + i / VOLLEY_INTERVALS_WORDS]
			.words[i % VOLLEY_INTERVALS_WORDS] = word_of(c, point, i);
}

/* The leaf of the point, or NULL: there is no such line. */
static const struct volley_names_line *leaf_of(const struct volley_intervals_head *head,
					       uint64_t point)
{
	uint32_t n_levels = head->n_levels ? head->n_levels : 1, node = 0, line = head->level_at[0];

	if (n_levels > VOLLEY_INTERVALS_LEVELS)
		n_levels = VOLLEY_INTERVALS_LEVELS;
	for (uint32_t level = 1; level < n_levels && line < ALL_LINES; level++) {
		uint32_t child = 0;

		for (size_t i = 0; i < VOLLEY_INTERVALS_WORDS; i++)
			child += names_lines[line].words[i] <= point;
		node = node * VOLLEY_INTERVALS_CHILDREN + child;
		line = head->level_at[level] + node;
	}
	return line < ALL_LINES ? &names_lines[line] : NULL;
}

/* The start of the unknown name's interval. False: no answer may be sent. */
static bool find_start(const struct shared_input *in, uint64_t *start)
{
	const struct volley_intervals_head *head;
	const struct volley_names_line *leaf;
	uint64_t point;

	*start = 0;
	if (!in->unknown || in->region_at >= ALL_LINES)
		return false;
	head = (const void *)&names_lines[in->region_at];
	if (head->id != REGION_ID)
		return false;
	point = point_of(head, in->unknown);
	leaf = point && ~point ? leaf_of(head, point) : NULL;
	if (!leaf || leaf->words[VOLLEY_INTERVALS_WORDS - 1] == VOLLEY_INTERVALS_MARK)
		return false;
	for (size_t i = 0; i < VOLLEY_INTERVALS_WORDS; i++) {
		if (leaf->words[i] == point)
			return false;
		if (leaf->words[i] < point && leaf->words[i] > *start)
			*start = leaf->words[i];
	}
	return true;
}

/* --- The answer ------------------------------------------------------------------------------- */

static void shared_read(struct shared_input *in, const uint8_t *control, uint8_t kind)
{
	const struct shared_control *c = &in->control;

	in->kind = kind;
	memcpy(&in->control, control, sizeof(in->control));
	in->shared = (struct volley_shared){ .n_pointers = c->n_pointers,
					     .name_min = c->name_min,
					     .name_max = c->name_max,
					     .intervals_id = c->damage & HAS_INTERVALS };
	for (size_t i = 0; i < VOLLEY_SHARED_POINTERS; i++)
		in->shared.pointers[i] = (uint16_t)((c->seed & 31u) + i * (2u + c->seed / 32u));
	in->region_at = c->at == UINT8_MAX ? UINT32_MAX : FILTER_LINES + c->at;
}

/* The name in its key: the prefix before the base, and the base. */
static void shared_name(struct shared_input *in, uint8_t name[static SHARED_NAME_MAX])
{
	uint8_t *at = name;

	if (in->kind == WILDCARD) {
		*at++ = 1;
		*at++ = '*';
	} else {
		*at++ = sizeof(in->start);
		for (int bits = 56; bits >= 0; bits -= 8)
			*at++ = (uint8_t)(in->start >> bits);
	}
	memcpy(at, in->encloser, in->encloser_bytes);
	if (in->control.damage & OTHER_KEY)
		name[1] ^= 1;
	in->key_bytes = (unsigned int)(at - name) + in->encloser_bytes;
}

/* The pattern with pointers in it, if they have room. */
static void shared_body(const struct shared_input *in, uint8_t *body, unsigned int n,
			unsigned int longer)
{
	for (size_t i = 0; i < n; i++)
		body[i] = entry_pattern(i);
	for (unsigned int i = 0; i < in->shared.n_pointers && i < VOLLEY_SHARED_POINTERS; i++) {
		uint8_t *at = body + in->shared.pointers[i];

		if (in->shared.pointers[i] + 2u > n)
			continue;
		at[0] = (uint8_t)((0xc00c + longer) >> 8);
		at[1] = (uint8_t)(0x0c + longer);
	}
}

static void shared_put(const struct entry *e, uint32_t *location)
{
	uint32_t next;
	uint64_t hash = entry_hash(&memory, e);

	*entry_slot(&memory, hash, hash & 1, hash >> 1 & 7) =
		entry_write(&memory, e, *location, &next);
	*location = next;
}

/* Publishes the denial of the root, which names the region of intervals. */
static void publish_anchor(const struct shared_input *in, struct entry e, uint32_t *location)
{
	const struct volley_shared shared = { .intervals_at = in->region_at,
					      .intervals_id = REGION_ID };

	if (in->control.damage & NO_ANCHOR)
		return;
	e.name = (const uint8_t *)"";
	e.kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, NAMES_ID);
	e.qtype = 0;
	e.body = (const void *)&shared;
	e.full_bytes = sizeof(shared);
	e.short_bytes = 0;
	e.zone_gen = in->control.damage & STALE_ANCHOR ? ENTRY_ZONE_GEN + 1 : 0;
	shared_put(&e, location);
}

/* `e` is the entry for a question for the root; its body has n octets. */
static void shared_publish_all(struct shared_input *in, const struct query *q, struct entry e,
			       uint16_t n, uint32_t location)
{
	uint8_t name[SHARED_NAME_MAX];
	bool other_filter = in->control.damage & OTHER_FILTER;
	uint32_t id = NAMES_ID ^ other_filter;

	know_some(in, q);
	lay_region(in);
	state.names.id = in->control.names & NO_FILTER ? 0 : NAMES_ID;
	state.names.intervals_id = in->control.names & NO_REGIONS ? 0 : 1;
	if (in->kind != WILDCARD)
		publish_anchor(in, e, &location);
	(void)find_start(in, &in->start);
	in->start ^= (uint64_t)(in->control.names & OTHER_START) << 8;
	shared_name(in, name);
	if (in->key_bytes > DNS_NAME_MAX)
		return;
	in->shared.suffixes[VOLLEY_SHARED_SUFFIXES - 1] =
		in->control.damage & HAS_SUFFIX && in->unknown ? suffix_of(in->unknown) : 0;
	shared_body(in, in->body, n, 0);
	memcpy(in->body + n, &in->shared, sizeof(in->shared));
	e.name = name;
	e.kind = VOLLEY_SHARED_KIND(
		in->kind == WILDCARD ? VOLLEY_KEY_WILDCARD : VOLLEY_KEY_INTERVAL, id);
	e.qclass = VOLLEY_SHARED_CLASS(id);
	e.qtype = in->kind == INTERVAL ? 0 : q->qtype ^ (in->control.damage & OTHER_TYPE);
	e.body = in->body;
	e.short_bytes = n;
	e.full_bytes = (uint16_t)(n + sizeof(in->shared) - !!(in->control.damage & CUT_SHARED));
	shared_put(&e, &location);
}

/* --- While the program runs ------------------------------------------------------------------- */

static const struct shared_input *running; /* NULL: nothing is added */
static unsigned int n_reads;               /* of the store */

static unsigned int late_at(const struct shared_input *in)
{
	return in->control.late >> LATE_SHIFT & 3;
}

static void add_late(const struct shared_input *in)
{
	const struct volley_intervals_head *head = (const void *)&names_lines[FILTER_LINES];
	enum late what = in->control.late & LATE_MASK;

	if (!in->unknown)
		return;
	if (in->control.late & LATE_REGION && late_at(in) <= ANSWER_READ)
		names_lines[FILTER_LINES].words[0] &= ~(__u64)UINT32_MAX; /* its head's id */
	if (what == LATE_NAME)
		know(suffix_of(in->unknown), VOLLEY_NAME_EXISTS);
	for (size_t i = FILTER_LINES + 1; what > LATE_NAME && i < ALL_LINES; i++)
		names_lines[i].words[VOLLEY_INTERVALS_WORDS - 1] =
			what == LATE_MARK ? VOLLEY_INTERVALS_MARK : point_of(head, in->unknown);
}

/* The program's bpf_map_lookup_elem(). */
static void *lookup(const void *map, const void *key)
{
	if (map == &volley_store && running && n_reads++ == late_at(running))
		add_late(running);
	return native_lookup(map, key);
}

/* Whether the answer was read after the change. */
static bool is_late(const struct shared_input *in)
{
	unsigned int answer_at = in->kind == WILDCARD ? 0 : ANSWER_READ;

	if (in->control.late & LATE_REGION && in->kind != WILDCARD && late_at(in) <= answer_at)
		return true;
	return in->control.late & LATE_MASK && late_at(in) <= answer_at &&
	       (in->kind != WILDCARD || (in->control.late & LATE_MASK) == LATE_NAME);
}

/* --- What may be answered --------------------------------------------------------------------- */

static void check_intervals(const struct shared_input *in, const struct query *q)
{
	uint64_t start;

	must(q->edns.dnssec_ok, "a proof that was not asked for");
	must(!(in->control.names & NO_REGIONS), "a region while there are none");
	must(!(in->control.damage & (NO_ANCHOR | STALE_ANCHOR)), "by the intervals of no zone");
	must(find_start(in, &start) && start == in->start, "by another interval");
}

static void check_shared(const struct shared_input *in, const struct query *q,
			 const struct pkt_answer *a, uint16_t n)
{
	static uint8_t body[SHARED_BODY];
	unsigned int pointers = in->shared.n_pointers;
	const uint8_t not_names = STOPPED | NO_APEX | NO_FILTER;

	must(!!in->unknown, "what exists");
	must(!is_late(in),
	     "what may be of a newer version than what the filter and the region said");
	must(volley_is_cached_type(q->qtype), "to a transfer");
	must(!(in->control.names & not_names), "in no zone, below a cut, or by no filter");
	must(in->kind != INTERVAL || !(in->control.names & FAR_WILD && n_known(in)),
	     "below a wildcard");
	must(!(in->control.damage & (HAS_INTERVALS | HAS_SUFFIX | CUT_SHARED)),
	     "by what is none, or is not for it");
	must(!(in->control.damage & (OTHER_KEY | OTHER_FILTER)), "by another key");
	must(in->kind == INTERVAL || !(in->control.damage & OTHER_TYPE), "of another type");
	must(q->qname_bytes >= in->shared.name_min && q->qname_bytes <= in->shared.name_max,
	     "of another length");
	must(pointers <= VOLLEY_SHARED_POINTERS, "with too many pointers");
	must(!pointers || in->shared.pointers[pointers - 1] + 2u <= n, "with pointers outside");
	if (in->kind != WILDCARD)
		check_intervals(in, q);
	must(a->body_bytes == n, "the shared answer's length");
	shared_body(in, body, n, (unsigned int)q->qname_bytes - in->key_bytes);
	must(!memcmp(a->body, body, n), "the shared answer's octets");
	must(a->nscount == 1 && !a->ancount, "the shared answer's counts");
}

#endif
