/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone that is kept signed for months, by a simulated clock: each step sets the time, as
 * control's loop does, and ticks. After each step the zone that is served is one that validates at
 * that time.
 */
#include "zonemgr/signing.h"

#include <dirent.h>
#include <poll.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "tests/unit/zonemgr/changing.h"
#include "zone/zone_walk.h"
#include "zonemgr/loader.h"

#define HOUR 3600u
#define DAY  86400u
#define TTL  60u /* of DNSKEY */

static struct config_signing policy;

static void remove_keys(void)
{
	char folder[256], path[600];
	struct dirent *e;
	DIR *d;

	storing_path(folder, "keys");
	d = opendir(folder);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

static uint64_t now_s(void)
{
	return zones_time(zones)->wall_s;
}

static void flush(void)
{
	if (zones_time(zones)->ns >= zones_flush_at(zones))
		zones_flush(zones);
}

/* What is signed as a whole is signed by the loader's thread. */
static void finish_load(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };

	while (entry.loading.load) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
		zones_poll(zones);
		flush();
	}
}

/* --- What a validator sees -------------------------------------------------------------------- */

/* The tag of RFC 4034 appendix B. */
static uint16_t tag_of(const struct zone_rdata *dnskey)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < dnskey->len; i++)
		sum += i & 1 ? dnskey->bytes[i] : (uint32_t)dnskey->bytes[i] << 8;
	return (uint16_t)(sum + (sum >> 16));
}

static const struct zone_rrset *dnskeys(void)
{
	const struct zone_node *apex = zone_node_of(entry.zone, storing_name("z.test"));
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(entry.zone, apex, &n);

	for (unsigned int i = 0; i < n; i++)
		if (rrsets[i].type == DNS_TYPE_DNSKEY)
			return &rrsets[i];
	fail_msg("there is no DNSKEY");
	return NULL;
}

static bool is_published(uint16_t tag)
{
	const struct zone_rrset *keys = dnskeys();
	const uint8_t *at = zone_rrset_first(entry.zone, keys);
	struct zone_rdata rd;

	for (unsigned int i = 0; i < keys->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (tag_of(&rd) == tag)
			return true;
	}
	return false;
}

static void assert_signed(const struct zone_node *node, uint16_t type)
{
	struct zone_rrsigs it = zone_rrsigs(entry.zone, node, type);
	struct zone_rdata rd;
	unsigned int n_good = 0;

	while (zone_rrsigs_next(&it, &rd)) {
		uint64_t ends_s = wire_load_be32(rd.bytes + 8);
		uint64_t begins_s = wire_load_be32(rd.bytes + 12);

		if (begins_s <= now_s() && now_s() < ends_s &&
		    is_published(wire_load_be16(rd.bytes + 16)))
			n_good++;
	}
	assert_true(n_good);
}

static void assert_valid(void)
{
	const struct zone_node *node;
	struct zone_walk walk;
	unsigned int n;

	zone_walk_init(&walk, entry.zone);
	while ((node = zone_walk_next(&walk))) {
		const struct zone_rrset *rrsets = zone_node_rrsets(entry.zone, node, &n);

		for (unsigned int i = 0; i < n; i++)
			if (rrsets[i].type != DNS_TYPE_RRSIG)
				assert_signed(node, rrsets[i].type);
	}
}

/* --- Time ------------------------------------------------------------------------------------- */

/* A tick of control, so much later. */
static void move_on(uint64_t seconds)
{
	struct clock_now now = *zones_time(zones);

	now.wall_s += seconds;
	now.ns += seconds * CLOCK_NS_PER_S;
	now.coarse_s += (uint32_t)seconds;
	zones_set_time(zones, &now);
	signing_tick(zones, &entry);
	finish_load();
	flush();
	assert_valid();
}

/* Some ticks a second apart: what is due now has been done. */
static void settle(void)
{
	for (int i = 0; i < 4; i++)
		move_on(1);
}

static void begin_signed_now(void)
{
	char folder[256], err[512];
	struct zone_error why;
	struct signing_work w;
	struct zone *z;

	begin();
	storing_path(folder, "");
	folder[strlen(folder) - 1] = 0;
	entry.signing = signing_new(entry.apex, &policy, folder, now_s(), err, sizeof(err));
	MUST(entry.signing);
	MUST(!signing_work_init(&w, entry.signing, now_s()));
	MUST(!sign_all(file, NULL, &w.keys, &w.options, w.now_s, 2, 1, NULL, &z, &why));
	signing_work_fini(&w);
	make_due(z);
	MUST(!zones_publish(zones));
}

static void begin_signed(void)
{
	begin_signed_now();
	settle();
}

static int set_up(void **state)
{
	(void)state;
	policy = (struct config_signing){ .single_key = true,
					  .signature_s = 14 * DAY,
					  .refresh_s = 7 * DAY,
					  .dnskey_ttl_s = TTL,
					  .propagation_s = HOUR,
					  .parent_ttl_s = DAY,
					  .parent_propagation_s = HOUR };
	return 0;
}

static void end_signed(void)
{
	signing_free(entry.signing);
	entry.signing = NULL;
	remove_keys();
	end();
}

/* --- Keys, as people see them ----------------------------------------------------------------- */

/* The time `what` of the key with this tag; 0: it has none, or there is no such key any more. */
static uint64_t key_time(uint16_t tag, const char *what)
{
	json_t *report = signing_report_keys(entry.signing), *key;
	uint64_t at = 0;
	size_t i;

	MUST(report);
	json_array_foreach(json_object_get(report, "keys"), i, key)
		if (json_integer_value(json_object_get(key, "tag")) == tag)
			at = (uint64_t)json_integer_value(json_object_get(key, what));
	json_decref(report);
	return at;
}

/* The i-th key of that role in the order of their making. */
static uint16_t key_of(const char *role, size_t nth)
{
	json_t *report = signing_report_keys(entry.signing), *key;
	json_int_t tag = -1;
	size_t i;

	MUST(report);
	json_array_foreach(json_object_get(report, "keys"), i, key)
		if (!strcmp(json_string_value(json_object_get(key, "role")), role) && !nth--)
			tag = json_integer_value(json_object_get(key, "tag"));
	json_decref(report);
	assert_true(tag >= 0);
	return (uint16_t)tag;
}

static bool is_there(uint16_t tag)
{
	return key_time(tag, "created_at");
}

static size_t n_ds(void)
{
	json_t *report = signing_report_ds(entry.signing, now_s());
	size_t n = json_array_size(json_object_get(report, "ds"));

	json_decref(report);
	return n;
}

/* --- Signatures ------------------------------------------------------------------------------- */

static void renewed_before_they_end(void **state)
{
	uint32_t serial;

	(void)state;
	begin_signed();
	for (unsigned int round = 0; round < 8; round++) {
		serial = zone_serial(entry.zone);
		for (unsigned int hour = 0; hour < 8 * 24; hour++)
			move_on(HOUR);
		assert_true(zone_serial(entry.zone) > serial);
		assert_true(signing_first_end(entry.signing) > now_s() + 6 * DAY);
	}
	end_signed();
}

static void not_renewed_before_it_is_time(void **state)
{
	uint32_t serial;

	(void)state;
	begin_signed();
	serial = zone_serial(entry.zone);
	for (unsigned int hour = 0; hour < 6 * 24; hour++)
		move_on(HOUR);
	assert_int_equal(zone_serial(entry.zone), serial);
	end_signed();
}

/* volleyd was down for longer than signatures hold: at the first tick, not a day later. */
static void renewed_at_once_where_they_have_ended(void **state)
{
	struct clock_now now;

	(void)state;
	begin_signed();
	now = *zones_time(zones);
	now.wall_s += 40 * DAY;
	zones_set_time(zones, &now);
	for (unsigned int i = 0; i < 10 && signing_first_end(entry.signing) < now_s(); i++) {
		now.wall_s++;
		now.ns += CLOCK_NS_PER_S;
		zones_set_time(zones, &now);
		signing_tick(zones, &entry);
		finish_load();
		flush();
	}
	settle();
	assert_true(signing_first_end(entry.signing) > now_s() + 7 * DAY);
	end_signed();
}

/* --- Keys ------------------------------------------------------------------------------------- */

static void zsk_rolls_over_by_its_lifetime(void **state)
{
	uint16_t old, new;
	uint64_t begun_s;

	(void)state;
	policy.single_key = false;
	policy.zsk_lifetime_s = 30 * DAY;
	begin_signed();
	begun_s = now_s();
	old = key_of("zsk", 0);
	while (now_s() < begun_s + 29 * DAY)
		move_on(HOUR);
	assert_int_equal(key_of("zsk", 0), old);
	while (is_there(old) && !key_time(old, "retired_at") && now_s() < begun_s + 40 * DAY)
		move_on(HOUR);
	new = key_of("zsk", 1);
	/* The new one signs when caches know it, the old one goes when they have none of its
	 * signatures. */
	assert_true(key_time(new, "active_at") >= key_time(new, "published_at") + TTL + HOUR);
	assert_true(key_time(old, "retired_at") >= begun_s + 29 * DAY);
	begun_s = now_s();
	while (is_there(old) && now_s() < begun_s + 10 * DAY)
		move_on(HOUR / 4);
	assert_false(is_there(old));
	assert_true(now_s() >= begun_s + HOUR);
	assert_false(is_published(old));
	assert_true(is_published(new));
	end_signed();
}

/* A new CSK waits for its DS, however long that takes, and the old one stays. */
static void csk_waits_for_its_ds(void **state)
{
	uint16_t old, new;
	char err[256];
	uint64_t seen_s;

	(void)state;
	begin_signed();
	old = key_of("csk", 0);
	assert_int_equal(signing_rollover(entry.signing, "csk", now_s(), err, sizeof(err)), 0);
	settle();
	new = key_of("csk", 1);
	assert_int_equal(signing_ds_seen(entry.signing, now_s(), err, sizeof(err)), -EAGAIN);
	assert_int_equal(signing_rollover(entry.signing, "csk", now_s(), err, sizeof(err)),
			 -EALREADY);
	for (unsigned int day = 0; day < 60; day++)
		move_on(DAY);
	assert_true(is_published(old) && is_published(new));
	assert_true(n_ds() >= 1);
	seen_s = now_s();
	assert_int_equal(signing_ds_seen(entry.signing, seen_s, err, sizeof(err)), 0);
	while (is_there(old) && now_s() < seen_s + 10 * DAY)
		move_on(HOUR / 2);
	assert_false(is_there(old) || is_published(old));
	/* The parent's old DS was in caches. */
	assert_true(now_s() >= seen_s + DAY + HOUR);
	end_signed();
}

/* The policy changes in the second in which the first keys were made: it is followed all the
 * same. */
static void other_keys_within_the_same_second(void **state)
{
	(void)state;
	begin_signed_now();
	for (int i = 0; i < 5; i++)
		move_on(0);
	policy.algorithm = CONFIG_SIGN_ED25519;
	signing_set_policy(entry.signing, &policy);
	for (int i = 0; i < 5; i++)
		move_on(0);
	settle();
	assert_true(is_there(key_of("csk", 1)));
	end_signed();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(renewed_before_they_end, set_up),
		cmocka_unit_test_setup(not_renewed_before_it_is_time, set_up),
		cmocka_unit_test_setup(renewed_at_once_where_they_have_ended, set_up),
		cmocka_unit_test_setup(zsk_rolls_over_by_its_lifetime, set_up),
		cmocka_unit_test_setup(csk_waits_for_its_ds, set_up),
		cmocka_unit_test_setup(other_keys_within_the_same_second, set_up),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return failed;
}
