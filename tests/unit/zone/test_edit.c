/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone that is edited again and again, against one that is built anew each time from the records
 * that it should have: the same answers, proofs, properties, differences. Versions are held and
 * dropped in any order; each stays what it was.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/zone/edit_model.h"
#include "tests/unit/zone/same_zone.h"
#include "tests/unit/zone/zone_text.h"

#include "tests/lib/draw.h"
#include "tests/unit/zone/random_owner.h"
#include "tests/unit/engine/signing.h"
#include "zone/changeset.h"
#include "zone/rdprint.h"
#include "zone/edit.h"

#define N_RUNS     60
#define N_PROGRAMS 1000
#define N_EDITS    25
#define N_LINES    40
#define N_HELD     5

/* --- Zones that change ------------------------------------------------------------------------ */

struct text {
	char lines[N_LINES][128];
	unsigned n;
	unsigned serial, minimum;
	enum zone_chain chain;
	bool opt_out;
	unsigned key;
};

static const char *const labels[RANDOM_OWNER_LABELS] = { "*", "a", "b", "c", "aa" };

static void random_line(char *dst)
{
	static const char *const data[] = {
		"A 192.0.2.1",  "A 192.0.2.2", "60 AAAA 2001:db8::1",   "TXT a",
		"NS ns.other.", "NS a",        "NS b\n%s DS 1 13 2 00", "CNAME a",
		"DNAME b",      "MX 1 a",      "TYPE65280 \\# 0",       "TXT b",
	};
	const char *chosen = data[draw(sizeof(data) / sizeof(data[0]))];
	char owner[64];

	random_owner(owner, labels, 4);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	dst += sprintf(dst, "%s ", owner);
	dst += sprintf(dst, chosen, owner);
#pragma GCC diagnostic pop
	strcpy(dst, "\n");
}

static void write_text(FILE *f, const struct text *t)
{
	fprintf(f, "$TTL 300\nz. SOA a host %u 2 3 4 %u\nz. NS a\n", t->serial, t->minimum);
	if (t->key)
		fprintf(f, "z. DNSKEY 256 3 13 %08u\n", t->key);
	for (unsigned i = 0; i < t->n; i++)
		fputs(t->lines[i], f);
}

static struct zone *load(const char *text)
{
	struct zone_error err;
	struct zone *z;

	return load_text(&z, "z", text, &err) ? NULL : z;
}

/* NULL: these lines are no zone. */
static struct zone *load_signed(const struct text *t)
{
	struct signing s = { .chain = t->chain, .opt_out = t->opt_out, .key = t->key };
	struct zone *plain, *z = NULL;
	size_t bytes;
	char *text;

	s.f = open_memstream(&text, &bytes);
	write_text(s.f, t);
	fflush(s.f);
	plain = load(text);
	if (plain) {
		s.z = plain;
		signing_write(&s);
	}
	fclose(s.f);
	if (plain)
		z = load(text);
	zone_free(plain);
	free(text);
	return z;
}

static void remove_line(struct text *t, unsigned i)
{
	memmove(t->lines[i], t->lines[i + 1], (t->n - i - 1) * sizeof(t->lines[0]));
	t->n--;
}

/* To another zone that is one. */
static struct zone *mutate(struct text *t)
{
	struct zone *z = NULL;

	while (!z) {
		struct text next = *t;

		for (unsigned n = 1 + draw(4); n--;) {
			if (next.n && draw(2))
				remove_line(&next, draw(next.n));
			else if (next.n < N_LINES)
				random_line(next.lines[next.n++]);
		}
		next.serial++;
		next.minimum = draw(10) ? next.minimum : draw(600);
		next.key = draw(20) ? next.key : draw(3);
		if (!draw(60))
			next.chain = (enum zone_chain)draw(3);
		if (!draw(60))
			next.opt_out = draw(2);
		z = load_signed(&next);
		if (z)
			*t = next;
	}
	return z;
}

static struct zone *first_zone(struct text *t, unsigned run)
{
	seed = run;
	*t = (struct text){
		.serial = 1, .minimum = 300, .chain = (enum zone_chain)(run % 3), .opt_out = draw(2)
	};
	t->key = t->chain != ZONE_CHAIN_NONE;
	return mutate(t);
}

/* --- From one to the other -------------------------------------------------------------------- */

static bool has(const struct zone *z, const uint8_t *owner, const struct zone_rrset *rrset,
		const struct zone_rdata *rd)
{
	const struct zone_node *node = zone_node_of(z, owner);
	const struct zone_rrset *own = node ? zone_node_rrset(z, node, rrset->type) : NULL;
	const uint8_t *at = own ? zone_rrset_first(z, own) : NULL;

	for (unsigned i = 0; own && own->ttl == rrset->ttl && i < own->n; i++) {
		struct zone_rdata other;

		at = zone_rdata_next(at, &other);
		if (other.len == rd->len && !memcmp(other.bytes, rd->bytes, rd->len))
			return true;
	}
	return false;
}

#define N_STEPS 4096

struct step {
	uint8_t owner[256];
	uint32_t ttl;
	uint16_t type;
	struct zone_rdata rd;
	bool add;
};

/* What @z has and @other has not. */
static unsigned put_steps(struct step *steps, unsigned n, const struct zone *z,
			  const struct zone *other, bool add)
{
	const struct zone_node *node;
	struct zone_walk walk;

	zone_walk_init(&walk, z);
	while ((node = zone_walk_next(&walk))) {
		unsigned n_rrsets;
		const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n_rrsets);
		struct step step = { .add = add };

		zone_node_owner(z, node, step.owner);
		for (unsigned i = 0; i < n_rrsets; i++) {
			const uint8_t *at = zone_rrset_first(z, &rrsets[i]);

			step.type = rrsets[i].type;
			step.ttl = rrsets[i].ttl;
			for (unsigned k = 0; k < rrsets[i].n; k++) {
				at = zone_rdata_next(at, &step.rd);
				assert_true(n < N_STEPS);
				if (!has(other, step.owner, &rrsets[i], &step.rd))
					steps[n++] = step;
			}
		}
	}
	return n;
}

static void shuffle(struct step *steps, unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = draw(i);
		struct step step = steps[k];

		steps[k] = steps[i - 1];
		steps[i - 1] = step;
	}
}

static void take_step(struct zone_edit *e, const struct step *s)
{
	if (s->add)
		assert_int_equal(
			zone_edit_add(e, s->owner, s->type, s->ttl, s->rd.bytes, s->rd.len), 0);
	else
		assert_int_equal(zone_edit_remove(e, s->owner, s->type, s->rd.bytes, s->rd.len), 0);
}

/* Edits @from to the content of @to; removals first, each half in any order, as a signer would. */
static struct zone *edit_to(struct zone *from, const struct zone *to, struct changeset *net)
{
	struct step *steps = calloc(N_STEPS, sizeof(*steps));
	unsigned n_removed = put_steps(steps, 0, from, to, false);
	unsigned n = put_steps(steps, n_removed, to, from, true);
	struct zone_error err;
	struct zone_edit *e;
	struct zone *z;
	int rc;

	shuffle(steps, n_removed);
	shuffle(steps + n_removed, n - n_removed);
	assert_int_equal(zone_edit_begin(&e, from), 0);
	for (unsigned i = 0; i < n; i++)
		take_step(e, &steps[i]);
	free(steps);
	rc = zone_edit_finish(e, &z, net, &err);
	if (rc)
		fail_msg("%d: %s", rc, err.sentence);
	return z;
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static void assert_same(const struct zone *a, const struct zone *b)
{
	struct same s = { .a = a, .b = b };

	if (!same_zones(&s))
		fail_msg("%s", s.why);
}

static char *dumped(const struct zone *z)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	assert_int_equal(zone_dump(z, f, NULL), 0);
	fclose(f);
	return text;
}

static void assert_same_dump(const struct zone *a, const struct zone *b)
{
	char *text_a = dumped(a), *text_b = dumped(b);

	assert_string_equal(text_a, text_b);
	free(text_a);
	free(text_b);
}

#define N_CHANGES 4096

struct report {
	struct {
		uint8_t owner[256], below[256];
		enum zone_change_kind kind;
		bool negatives, subtree, soa, ns;
	} at[N_CHANGES];
	unsigned n;
};

static int collect(void *context, const struct zone_change *c)
{
	struct report *r = context;

	assert_true(r->n < N_CHANGES);
	memcpy(r->at[r->n].owner, c->owner, c->owner_bytes);
	if (c->subtree)
		memcpy(r->at[r->n].below, c->below, c->below_bytes);
	r->at[r->n].kind = c->kind;
	r->at[r->n].negatives = c->negatives;
	r->at[r->n].subtree = c->subtree;
	r->at[r->n].soa = c->soa;
	r->at[r->n].ns = c->ns;
	r->n++;
	return 0;
}

static struct report *report_of(const struct zone *a, const struct zone *b)
{
	struct report *r = calloc(1, sizeof(*r));

	assert_int_equal(zone_diff(a, b, collect, r), 0);
	return r;
}

/* Between two versions the same is reported as between two images of the same content. */
static void assert_same_diff(const struct zone *a, const struct zone *b, const struct zone *image_a,
			     const struct zone *image_b)
{
	struct report *r = report_of(a, b), *want = report_of(image_a, image_b);

	assert_int_equal(r->n, want->n);
	assert_memory_equal(r, want, sizeof(*r));
	free(r);
	free(want);
}

/* A change set leads from the content before to that after, on whatever zone has it. */
static void assert_applies(const struct changeset *net, struct zone *image, const struct zone *to)
{
	struct zone_error err;
	struct zone_edit *e;
	struct zone *z;
	int rc;

	assert_int_equal(net->serial_from, zone_serial(image));
	assert_int_equal(net->serial_to, zone_serial(to));
	assert_int_equal(zone_edit_begin(&e, image), 0);
	rc = zone_edit_apply(e, net, &err);
	if (rc)
		fail_msg("%s", err.sentence);
	assert_int_equal(zone_edit_finish(e, &z, NULL, &err), 0);
	assert_same(z, to);
	zone_unref(z);
	/* A second time it cannot be applied: it is for that serial number only. */
	assert_int_equal(zone_edit_begin(&e, (struct zone *)to), 0);
	assert_int_equal(zone_edit_apply(e, net, &err), ERR_ZONE);
	zone_edit_cancel(e);
}

static void assert_compacts(const struct zone *z, const struct zone *image)
{
	struct zone_error err;
	struct zone *compact;

	assert_int_equal(zone_compact(z, NULL, &compact, &err), 0);
	assert_int_equal(zone_overlay_names(compact), 0);
	assert_same(compact, image);
	zone_unref(compact);
}

/* --- The series ------------------------------------------------------------------------------- */

/* Versions that someone holds, each with an image of what it must stay. */
struct held {
	struct zone *z, *image;
};

static void let_go(struct held *h)
{
	if (h->z && draw(4) == 0)
		assert_same(h->z, h->image);
	zone_unref(h->z);
	zone_unref(h->image);
	*h = (struct held){ 0 };
}

static void compare_all(const struct held *now, const struct held *before,
			const struct held held[N_HELD], const struct changeset *net)
{
	const struct held *some = &held[draw(N_HELD)];

	assert_same(now->z, now->image);
	assert_same_diff(before->z, now->z, before->image, now->image);
	if (some->z) {
		assert_same_diff(some->z, now->z, some->image, now->image);
		assert_same_diff(now->z, some->z, now->image, some->image);
	}
	if (draw(4) == 0)
		assert_applies(net, before->image, now->image);
	if (draw(8) == 0)
		assert_same_dump(now->z, now->image);
	if (draw(8) == 0)
		assert_compacts(now->z, now->image);
}

static void series(unsigned run)
{
	struct held held[N_HELD] = { 0 }, now;
	struct text t;

	now.image = first_zone(&t, run);
	now.z = zone_ref(now.image);
	for (unsigned i = 0; i < N_EDITS; i++) {
		struct held before = now, *place = &held[draw(N_HELD)];
		struct changeset net = { 0 };

		now.image = mutate(&t);
		now.z = edit_to(before.z, now.image, &net);
		compare_all(&now, &before, held, &net);
		changeset_fini(&net);
		let_go(place);
		*place = before;
	}
	for (unsigned i = 0; i < N_HELD; i++)
		let_go(&held[i]);
	let_go(&now);
}

static void test_series(void **state)
{
	(void)state;
	for (unsigned run = 0; run < N_RUNS; run++)
		series(run);
}

/* Any edits, those that lead to no zone among them. */
static void test_programs(void **state)
{
	uint8_t ops[512];

	(void)state;
	for (unsigned run = 0; run < N_PROGRAMS; run++) {
		seed = run;
		for (unsigned i = 0; i < sizeof(ops); i++)
			ops[i] = (uint8_t)draw(256);
		model_run(ops, sizeof(ops), UINT_MAX);
	}
}

/* What is below a cut is in the chain without being touched when the cut goes, and out when it
 * comes. */
static void test_cut_in_chain(void **state)
{
	static const char text[] = "$TTL 300\n@ SOA a h 1 2 3 4 5\n@ NS a\n@ NSEC a NS SOA NSEC\n"
				   "a NSEC @ NS NSEC\nb.a A 192.0.2.1\n%s";
	static const uint8_t owner[] = "\1a\1z";
	struct zone *open_image, *closed_image, *z[3];
	char with_cut[256];
	struct zone_error err;
	struct zone_edit *e;

	(void)state;
	snprintf(with_cut, sizeof(with_cut), text, "a NS a\n");
	z[0] = zone_of("z", with_cut);
	closed_image = zone_of("z", with_cut);
	snprintf(with_cut, sizeof(with_cut), text, "");
	open_image = zone_of("z", with_cut);
	assert_true(zone_chains_agree(closed_image, closed_image));
	assert_false(zone_chains_agree(open_image, open_image));
	assert_int_equal(zone_edit_begin(&e, z[0]), 0);
	assert_int_equal(zone_edit_remove_rrset(e, owner, DNS_TYPE_NS), 0);
	assert_int_equal(zone_edit_finish(e, &z[1], NULL, &err), 0);
	assert_same(z[1], open_image);
	assert_int_equal(zone_edit_begin(&e, z[1]), 0);
	assert_int_equal(zone_edit_add(e, owner, DNS_TYPE_NS, 300, owner, sizeof(owner)), 0);
	assert_int_equal(zone_edit_finish(e, &z[2], NULL, &err), 0);
	assert_same(z[2], closed_image);
	for (unsigned i = 0; i < 3; i++)
		zone_unref(z[i]);
	zone_unref(open_image);
	zone_unref(closed_image);
}

/* --- Change sets of one RRset ----------------------------------------------------------------- */

#define N_MANY 3000u

static const uint8_t many[] = "\1a\1z";

static void put_address(struct changeset *set, enum changeset_op op, uint32_t address, uint32_t ttl)
{
	uint8_t rdata[4] = { (uint8_t)(address >> 24), (uint8_t)(address >> 16),
			     (uint8_t)(address >> 8), (uint8_t)address };
	const struct changeset_record r = { .owner = many,
					    .rdata = rdata,
					    .ttl = ttl,
					    .type = DNS_TYPE_A,
					    .rdata_bytes = sizeof(rdata),
					    .op = (uint8_t)op };

	assert_int_equal(changeset_put(set, &r), 0);
}

/* A zone with @n addresses at a.z, the first of them @from. */
static struct zone *zone_with_many(uint32_t from, unsigned n)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);
	struct zone *z;

	fprintf(f, "$TTL 300\n@ SOA a h 1 2 3 4 5\n@ NS a\nb A 192.0.2.1\n");
	for (uint32_t i = from; i < from + n; i++)
		fprintf(f, "a A 10.%u.%u.%u\n", i >> 16, i >> 8 & 255, i & 255);
	fclose(f);
	z = zone_of("z", text);
	free(text);
	return z;
}

/* In no order: half of them go, as many come. */
static void test_many_of_one_rrset(void **state)
{
	struct zone *from = zone_with_many(0, N_MANY), *to = zone_with_many(N_MANY / 2, N_MANY), *z;
	struct changeset set = { 0 };
	struct zone_error err;
	struct zone_edit *e;

	(void)state;
	for (unsigned i = 0; i < N_MANY / 2; i++)
		put_address(&set, CHANGESET_REMOVE, 0x0a000000 + i * 7 % (N_MANY / 2), 300);
	for (unsigned i = 0; i < N_MANY / 2; i++)
		put_address(&set, CHANGESET_ADD, 0x0a000000 + N_MANY + i * 7 % (N_MANY / 2), 300);
	assert_int_equal(zone_edit_begin(&e, from), 0);
	assert_int_equal(zone_edit_apply(e, &set, &err), 0);
	assert_int_equal(zone_edit_finish(e, &z, NULL, &err), 0);
	assert_same(z, to);
	changeset_fini(&set);
	zone_unref(z);
	zone_unref(from);
	zone_unref(to);
}

/* Of a.z, which has 10.0.0.0 to 10.0.0.3 with TTL 300, record by record: +address, -address,
 * /TTL. */
static const struct {
	const char *name;
	struct {
		char op;
		uint8_t address;
		uint16_t ttl;
	} records[4];
	const char *why; /* NULL: it can be applied */
} sets[] = {
	{ "new ones", { { '+', 9, 300 }, { '+', 8, 300 } }, NULL },
	{ "the same twice", { { '+', 8, 300 }, { '+', 9, 300 }, { '+', 8, 300 } }, "there already" },
	{ "one that is there", { { '+', 8, 300 }, { '+', 2, 300 } }, "there already" },
	{ "the first is there, with another TTL", { { '+', 2, 60 }, { '+', 8, 60 } }, NULL },
	{ "the second is there, with another TTL",
	  { { '+', 8, 60 }, { '+', 2, 60 } },
	  "there already" },
	{ "two TTLs", { { '+', 8, 60 }, { '+', 2, 70 } }, NULL },
	{ "all go", { { '-', 3, 0 }, { '-', 0, 0 }, { '-', 2, 0 }, { '-', 1, 0 } }, NULL },
	{ "one goes twice", { { '-', 3, 0 }, { '-', 0, 0 }, { '-', 3, 0 } }, "is not there" },
	{ "one that is not there", { { '-', 3, 0 }, { '-', 8, 0 } }, "is not there" },
	{ "gone and there again",
	  { { '-', 3, 0 }, { '-', 2, 0 }, { '+', 3, 60 }, { '+', 2, 60 } },
	  NULL },
};

static struct zone *one_by_one(struct zone *base, const struct changeset *set)
{
	struct changeset_record r;
	struct zone_error err;
	struct zone_edit *e;
	struct zone *z;
	size_t at = 0;

	assert_int_equal(zone_edit_begin(&e, base), 0);
	while (changeset_next(set, &at, &r))
		assert_int_equal(
			r.op == CHANGESET_ADD ?
				zone_edit_add(e, r.owner, r.type, r.ttl, r.rdata, r.rdata_bytes) :
				zone_edit_remove(e, r.owner, r.type, r.rdata, r.rdata_bytes),
			0);
	assert_int_equal(zone_edit_finish(e, &z, NULL, &err), 0);
	return z;
}

static void test_sets_of_one_rrset(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct zone *base = zone_with_many(0, 4), *together, *each;
		struct changeset set = { 0 };
		struct zone_error err;
		struct zone_edit *e;

		print_message("  %s\n", sets[i].name);
		for (unsigned k = 0; k < 4 && sets[i].records[k].op; k++)
			put_address(&set,
				    sets[i].records[k].op == '+' ? CHANGESET_ADD : CHANGESET_REMOVE,
				    0x0a000000 + sets[i].records[k].address,
				    sets[i].records[k].ttl);
		assert_int_equal(zone_edit_begin(&e, base), 0);
		assert_int_equal(zone_edit_apply(e, &set, &err), sets[i].why ? ERR_ZONE : 0);
		if (sets[i].why) {
			assert_non_null(strstr(err.sentence, sets[i].why));
			zone_edit_cancel(e);
		} else {
			assert_int_equal(zone_edit_finish(e, &together, NULL, &err), 0);
			each = one_by_one(base, &set);
			assert_same(together, each);
			zone_unref(together);
			zone_unref(each);
		}
		changeset_fini(&set);
		zone_unref(base);
	}
}

/* One by one they copy the RRset each time: more than an edit with a limit may. */
static void test_limit_of_copies(void **state)
{
	struct zone *from = zone_with_many(0, N_MANY);
	struct changeset set = { 0 };
	struct zone_error err;
	struct zone_edit *e;

	(void)state;
	for (unsigned i = 0; i < 100; i++) /* each with a TTL of its own */
		put_address(&set, CHANGESET_ADD, 0x0a000000 + N_MANY + i, 300 + i);
	assert_int_equal(zone_edit_begin(&e, from), 0);
	zone_edit_limit(e, 50u * 6 * N_MANY);
	assert_int_equal(zone_edit_apply(e, &set, &err), ERR_LIMIT);
	zone_edit_cancel(e);
	assert_int_equal(zone_edit_begin(&e, from), 0);
	zone_edit_limit(e, 110u * 6 * N_MANY);
	assert_int_equal(zone_edit_apply(e, &set, &err), 0);
	zone_edit_cancel(e);
	changeset_fini(&set);
	zone_unref(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_of_one_rrset), cmocka_unit_test(test_limit_of_copies),
		cmocka_unit_test(test_sets_of_one_rrset), cmocka_unit_test(test_programs),
		cmocka_unit_test(test_cut_in_chain),      cmocka_unit_test(test_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
