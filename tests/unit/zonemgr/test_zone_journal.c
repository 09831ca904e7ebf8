/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes that the journal has no room for, and those of a signer: what is left of them, and who
 * else is refused or told.
 */
#include <dirent.h>
#include <poll.h>

#include "tests/unit/zonemgr/changing.h"
#include "zonemgr/load_steps.h"
#include "zonemgr/loader.h"
#include "zonemgr/signing.h"
#include "zonemgr/zonefile.h"

/* --- The journal is full ---------------------------------------------------------------------- */

static void not_journaled_not_made(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	assert_int_equal(change_hugely(), 0);
	assert_int_equal(change("add f A 192.0.2.6"), 0); /* builds on it */
	zones_flush(zones);
	assert_int_equal(n_told, 3);
	assert_int_equal(told[0], 0);
	assert_int_equal(told[1], -ENOSPC);
	assert_int_equal(told[2], -ENOSPC);
	assert_non_null(strstr(sentence_text(&entry.stored.error), "zone flush z.test"));
	assert_int_equal(zone_serial(entry.zone), 2);
	assert_true(has("d.z.test") && !has("huge.z.test") && !has("f.z.test"));
	assert_replays(1);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
	assert_int_equal(told[3], 0);
	assert_int_equal(sentence_is_set(&entry.stored.error), 0);
	assert_int_equal(zone_serial(entry.zone), 3);
	assert_true(has("e.z.test") && !has("huge.z.test"));
	assert_replays(2);
	end();
}

/* What one zone cannot have is no reason to refuse another one's, before it or behind it. */
static void each_zone_for_itself(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change_of(&other, "add d A 192.0.2.4"), 0);
	assert_int_equal(change_hugely(), 0);
	assert_int_equal(change_of(&other, "add e A 192.0.2.5"), 0);
	zones_flush(zones);
	assert_true(!told[0] && told[1] == -ENOSPC && !told[2]);
	assert_int_equal(zone_serial(other.zone), 3);
	assert_int_equal(zone_serial(entry.zone), 1);
	assert_true(sentence_is_set(&entry.stored.error) && !sentence_is_set(&other.stored.error));
	end();
}

/* A refused version that somebody held would make the next edit a copy of the whole zone, without
 * overlay. */
static void no_copy_behind_a_refusal(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	assert_int_equal(change_hugely(), 0);
	zones_flush_journal(zones);
	assert_int_equal(n_told, 0);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	assert_int_equal(zone_overlay_names(entry.edited), 3); /* d, e, and the apex */
	zones_flush(zones);
	assert_true(!told[0] && told[1] == -ENOSPC && !told[2]);
	assert_true(has("d.z.test") && has("e.z.test") && !has("huge.z.test"));
	assert_replays(2);
	end();
}

/* A zone whose file is never written ends before it has all, and goes on when it has been. */
static void one_zone_leaves_room(void **state)
{
	char label[16];
	unsigned n = 0;

	(void)state;
	begin();
	do {
		n_told = 0;
		snprintf(label, sizeof(label), "l%u", n++);
		assert_int_equal(change_much(&entry, label, 100), 0);
		zones_flush(zones);
	} while (!told[0]);
	assert_int_equal(told[0], -ENOSPC);
	assert_in_range(entry.stored.unwritten_bytes, STORE_MAX_BYTES_MIN / 4,
			STORE_MAX_BYTES_MIN / 2);
	n_told = 0;
	assert_int_equal(change_much(&other, "l", 500), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_in_range(other.stored.unwritten_bytes, 500 * 256, 500 * 512);
	know_file(entry.zone);
	assert_int_equal(change_much(&entry, label, 100), 0);
	zones_flush(zones);
	assert_int_equal(told[1], 0);
	assert_in_range(entry.stored.unwritten_bytes, 100 * 256, 100 * 512);
	end();
}

/* One is in the journal, but not served yet, when the next one finds that full. */
static void what_is_journaled_stays(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush_journal(zones);
	assert_int_equal(change_hugely(), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_int_equal(told[1], -ENOSPC);
	assert_true(has("d.z.test") && !has("huge.z.test"));
	assert_replays(1);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
	assert_replays(2);
	end();
}

/* The same, but that one is served by a publish of all, and other content behind it. */
static void what_was_served_does_not_come_back(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	assert_int_equal(zones_set_settings(zones, 7), 0);
	assert_true(has("d.z.test"));
	make_due(zone_of("z.test", ZONE_HEAD));
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(change_hugely(), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_int_equal(told[1], -ENOSPC);
	assert_int_equal(zone_serial(entry.zone), 7);
	assert_false(has("d.z.test"));
	end();
}

/* That a file could not be written is true until it has been. */
static void the_word_of_a_file_stays(void **state)
{
	(void)state;
	begin();
	sentence_set(&entry.stored.error, "z.zone: is on no disk");
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_string_equal(sentence_text(&entry.stored.error), "z.zone: is on no disk");
	end();
}

static void a_primary_is_served_all_the_same(void **state)
{
	char primary[] = "p", *primaries[] = { primary, NULL };

	(void)state;
	begin();
	said.primaries = (void *)primaries;
	assert_int_equal(change_hugely(), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_true(has("huge.z.test"));
	assert_true(sentence_is_set(&entry.stored.error));
	said.primaries = NULL;
	end();
}

/* A change behind other settings needs another generation of the cache: one. */
static void changed_with_other_settings(void **state)
{
	const struct volley_zone *slot;
	uint32_t last_gen;

	(void)state;
	begin();
	slot = &memory.zones[entry.published.slot];
	last_gen = slot->last_gen;
	ask_for("c.z.test");
	madezones_env(zones)->settings_digest = 7;
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_true(has("d.z.test"));
	assert_false(is_cached("c.z.test"));
	assert_int_equal(slot->last_gen, last_gen + 1);
	assert_int_equal(slot->gen, slot->last_gen);
	assert_int_equal(zone_set_get(published.set, entry.apex, entry.apex_len)->cache_gen,
			 slot->gen);
	end();
}

/* --- Beside a signer -------------------------------------------------------------------------- */

static void remove_all_in(const char *name)
{
	char folder[256], path[600];
	struct dirent *e;
	DIR *d;

	storing_path(folder, name);
	d = opendir(folder);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

static void serve_signed(void)
{
	struct zone_error why;
	struct signing_work w;
	struct zone *z;

	MUST(!signing_work_init(&w, entry.signing, BEGUN_S));
	MUST(!sign_all(file, NULL, &w.keys, &w.options, w.now_s, 2, 1, NULL, &z, &why));
	signing_work_fini(&w);
	make_due(z);
	MUST(!zones_publish(zones));
}

static void begin_signing(void)
{
	const struct config_signing policy = {
		.single_key = true, .signature_s = 1000, .refresh_s = 2000, .dnskey_ttl_s = 60
	};
	char folder[256], err[512];

	storing_path(folder, "");
	folder[strlen(folder) - 1] = 0;
	entry.signing = signing_new(entry.apex, &policy, folder, BEGUN_S, err, sizeof(err));
	MUST(entry.signing);
}

/* Signatures are being renewed: the change is made, and waits to be served. */
static void begin_renewal(void)
{
	begin_signing();
	serve_signed();
	signing_tick(zones, &entry);
	assert_true(madezones_has_made(zones));
	assert_int_equal(zone_serial(entry.edited), 3);
}

/* What the signer is told last is told to somebody who is still there: ASan would tell. */
static void a_zone_goes_with_a_renewal(void **state)
{
	(void)state;
	begin();
	begin_renewal();
	zones_forget_made(zones, &entry);
	signing_free(entry.signing); /* as zones_entry_free() */
	entry.signing = NULL;
	zones_flush(zones);
	assert_false(madezones_has_made(zones));
	assert_int_equal(zone_serial(entry.zone), 2);
	remove_all_in("keys");
	end();
}

static void a_policy_goes_with_a_renewal(void **state)
{
	(void)state;
	begin();
	begin_renewal();
	signing_end(&entry);
	assert_null(entry.signing);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_true(n_told == 1 && !told[0]);
	assert_true(has("d.z.test"));
	remove_all_in("keys");
	end();
}

/* --- A signed version whose journal does not fit ---------------------------------------------- */

static struct load *ended_load;

static void on_load_ended(struct load *load)
{
	ended_load = load;
}

/* Its file has serial 5, and 9 was served; the change between them is of another zone. */
static void break_journal(void)
{
	struct store_zone known = { .serial = 9, .file_serial = 5 };
	struct store_batch *batch;
	struct zone_error why;
	struct signing_work w;
	struct zone *z;
	char err[256];

	MUST(!signing_work_init(&w, entry.signing, BEGUN_S));
	MUST(!sign_all(file, NULL, &w.keys, &w.options, w.now_s, 5, 1, NULL, &z, &why));
	signing_work_fini(&w);
	MUST(!zonefile_write(z, signing_file(entry.signing), NULL, err, sizeof(err)));
	zone_digest(z, known.file_digest);
	zone_unref(z);
	MUST(!store_begin(madezones_env(zones)->store, &batch));
	MUST(!store_put_zone(batch, entry.apex, &known));
	MUST(!storing_append(batch, entry.apex, 5, 9, 10));
	MUST(!store_commit(batch));
	zone_digest(file, entry.content_digest);
}

static struct load *load_signed(const char *content)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };
	struct load *load = load_new("z.test.", tmpfolder_file, NULL, on_load_ended, NULL);
	FILE *f = fopen(tmpfolder_file, "w");

	MUST(load && f && fputs(content, f) >= 0 && !fclose(f));
	load->store = madezones_env(zones)->store;
	load->source = LOAD_SIGNED_FILE;
	memcpy(load->content_digest, entry.content_digest, ZONE_DIGEST_LEN);
	memcpy(load->file_digest, entry.stored.known.file_digest, ZONE_DIGEST_LEN);
	load->signing = calloc(1, sizeof(*load->signing));
	MUST(load->signing && !signing_work_init(load->signing, entry.signing, BEGUN_S));
	ended_load = NULL;
	loader_start(loader, load);
	while (!ended_load) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
	}
	unlink(tmpfolder_file);
	return ended_load;
}

/* What was acknowledged is not left out without a word; other content ends it, with a newer serial
 * number. */
static void a_signed_zone_and_its_journal(void **state)
{
	static char policy[] = "p";
	struct load *load;

	(void)state;
	begin();
	begin_signing();
	said.signing = policy;
	break_journal();
	load = load_signed(text);
	assert_int_equal(load->code, ERR_ZONE);
	assert_non_null(strstr(load->err->sentence, "behind serial 5"));
	assert_non_null(strstr(load->err->sentence, "other content"));
	load_free(load);
	load = load_signed(ZONE_HEAD);
	assert_int_equal(load->code, 0);
	assert_true(load->gives_up_journal);
	assert_int_equal(zone_serial(load->zone), 10);
	load_free(load);
	signing_free(entry.signing);
	said.signing = NULL;
	remove_all_in("keys");
	remove_all_in("signed");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_journaled_not_made),
		cmocka_unit_test(each_zone_for_itself),
		cmocka_unit_test(no_copy_behind_a_refusal),
		cmocka_unit_test(one_zone_leaves_room),
		cmocka_unit_test(what_is_journaled_stays),
		cmocka_unit_test(what_was_served_does_not_come_back),
		cmocka_unit_test(the_word_of_a_file_stays),
		cmocka_unit_test(a_primary_is_served_all_the_same),
		cmocka_unit_test(changed_with_other_settings),
		cmocka_unit_test(a_zone_goes_with_a_renewal),
		cmocka_unit_test(a_policy_goes_with_a_renewal),
		cmocka_unit_test(a_signed_zone_and_its_journal),
	};
	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return rc;
}
