/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Edits whose memory ends, at each place where it can: nothing is lost, and the zone is as before.
 * And what is kept while an old version is held: what it shows, not what came and went since. The
 * linker leads the allocations of the zone here (see the Makefile).
 */
#include <errno.h>

#include "tests/unit/zone/same_zone.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/changeset.h"
#include "zone/edit.h"

static long left = -1; /* allocations that succeed yet; < 0: all */
static long n_blocks;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t n);
void __wrap_free(void *p);

static bool ends(void)
{
	if (left < 0)
		return false;
	if (!left)
		return true;
	left--;
	return false;
}

static void *counted(void *old, void *p)
{
	n_blocks += !old && p;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return ends() ? NULL : counted(NULL, __real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return ends() ? NULL : counted(NULL, __real_calloc(n, bytes));
}

void *__wrap_realloc(void *p, size_t n)
{
	return ends() ? NULL : counted(p, __real_realloc(p, n));
}

void *__wrap_reallocarray(void *p, size_t n, size_t bytes)
{
	return ends() ? NULL : counted(p, __real_reallocarray(p, n, bytes));
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
	return ends() ? NULL : counted(NULL, __real_aligned_alloc(align, n));
}

void __wrap_free(void *p)
{
	n_blocks -= p != NULL;
	__real_free(p);
}

#define ZONE_TEXT                                                                     \
	ZONE_HEAD "a A 192.0.2.1\nb.a A 192.0.2.1\n*.c TXT x\nd.e.f TXT x\ng TXT x\n" \
		  "h.g TXT x\ni NS ns\nj.i A 192.0.2.1\n"

static const uint8_t *wire(const char *name)
{
	return (const uint8_t *)name;
}

/* What is there already, or not any more, is none of the errors that are looked for. */
static int unless_known(int rc)
{
	return rc == 1 || rc == ERR_NOT_FOUND ? 0 : rc;
}

static int add_all(struct zone_edit *e, uint32_t serial)
{
	uint8_t soa[] = "\2ns\1z\0\1h\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5";
	static const char *const added[] = { "\1k\1l\1m\1z", "\1a\1z",       "\1*\1n\1z",
					     "\1b\1a\1z",    "\1d\1e\1f\1z", "\1j\1i\1z" };
	int rc = zone_edit_remove_rrset(e, wire("\1z"), DNS_TYPE_SOA);

	wire_store_be32(soa + sizeof(soa) - 1 - 20, serial);
	if (!rc)
		rc = zone_edit_add(e, wire("\1z"), DNS_TYPE_SOA, 300, soa, sizeof(soa) - 1);
	for (unsigned i = 0; !rc && i < sizeof(added) / sizeof(added[0]); i++)
		rc = unless_known(zone_edit_add(e, wire(added[i]), DNS_TYPE_TXT, 300 + serial,
						wire("\1z"), 2));
	return rc;
}

/* All that an edit can do. Returns the first error. */
static int edit_all(struct zone_edit *e, uint32_t serial)
{
	int rc = add_all(e, serial);

	if (!rc)
		rc = zone_edit_remove_name(e, wire("\1d\1e\1f\1z"));
	if (!rc)
		rc = unless_known(zone_edit_remove_rrset(e, wire("\1g\1z"), DNS_TYPE_TXT));
	if (!rc)
		rc = unless_known(
			zone_edit_remove(e, wire("\1i\1z"), DNS_TYPE_NS, wire("\2ns\1z"), 6));
	if (!rc)
		rc = zone_edit_remove_name(e, wire("\1k\1l\1m\1z"));
	return rc;
}

/* 0, or -ENOMEM: then there is nothing. */
static int edit(struct zone *z, uint32_t serial, struct zone **out)
{
	struct changeset net = { 0 };
	struct zone_error err;
	struct zone_edit *e;
	int rc = zone_edit_begin(&e, z);

	*out = NULL;
	if (rc)
		return rc;
	rc = edit_all(e, serial);
	if (rc)
		zone_edit_cancel(e);
	else
		rc = zone_edit_finish(e, out, &net, &err);
	changeset_fini(&net);
	return rc;
}

static void assert_same(const struct zone *a, const struct zone *b)
{
	struct same s = { .a = a, .b = b };

	if (!same_zones(&s))
		fail_msg("%s", s.why);
}

/* From an image, and from a version with an overlay. */
static void test_ends_anywhere(void **state)
{
	struct zone *image = zone_of("z", ZONE_TEXT), *z[2], *again, *want;
	long n_failures = 0, n_before;

	(void)state;
	z[0] = zone_of("z", ZONE_TEXT);
	assert_int_equal(edit(z[0], 8, &z[1]), 0);
	assert_int_equal(edit(image, 8, &want), 0);
	n_before = n_blocks;
	for (unsigned i = 0; i < 2; i++) {
		for (long n = 0, rc = -ENOMEM; rc; n++) {
			left = n;
			rc = edit(z[i ? 0 : 1], 9, &again);
			left = -1;
			assert_true(rc == 0 || rc == -ENOMEM);
			n_failures += rc != 0;
			zone_unref(again);
			assert_int_equal(n_blocks, n_before);
			assert_same(z[0], image);
			assert_same(z[1], want);
		}
	}
	assert_true(n_failures > 20);
	zone_unref(z[1]);
	zone_unref(z[0]);
	zone_unref(want);
	zone_unref(image);
}

/* What comes and goes again while the first version is held leaves only the names that changed. */
static void test_old_version_holds_little(void **state)
{
	struct zone *first = zone_of("z", ZONE_TEXT), *z = zone_ref(first), *old;
	static const uint8_t owner[] = "\1x\1z";
	long n_before = n_blocks;
	struct zone_error err;
	struct zone_edit *e;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		const uint8_t rdata[] = { 2, (uint8_t)(i >> 8), (uint8_t)i };

		old = z;
		assert_int_equal(zone_edit_begin(&e, old), 0);
		if (i)
			assert_int_equal(zone_edit_remove_name(e, owner), 0);
		assert_int_equal(zone_edit_add(e, owner, DNS_TYPE_TXT, 300, rdata, 3), 0);
		assert_int_equal(zone_edit_finish(e, &z, NULL, &err), 0);
		zone_unref(old);
	}
	/* One list of names for each; beside these a few blocks of the overlay. */
	assert_in_range(n_blocks - n_before, 1000, 1020);
	zone_unref(first);
	assert_in_range(n_blocks - n_before, 0, 20);
	zone_unref(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_anywhere),
		cmocka_unit_test(test_old_version_holds_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
