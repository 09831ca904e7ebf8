/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and their files: ours, and those of other projects' tools. */
#include <errno.h>
#include <sys/stat.h>

#include "tests/unit/sign/sign_lab.h"

#include "sign/signer.h"

static const enum sign_algorithm algorithms[] = { SIGN_RSASHA256, SIGN_ECDSAP256SHA256,
						  SIGN_ECDSAP384SHA384, SIGN_ED25519 };

static char *new_folder(void)
{
	static char folder[32];

	strcpy(folder, "/tmp/keys.XXXXXX");
	assert_non_null(mkdtemp(folder));
	return folder;
}

static void remove_folder(const char *folder)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void signs_as_in_its_file(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++) {
		struct zone *from = zone_of("z", ZONE_HEAD), *z;
		struct sign_options options = lab_options(LAB_NSEC);
		const char *folder = new_folder();
		struct sign_keys keys, read;
		struct sign_key *key;
		char err[512];

		lab_keys(&keys, "z", false);
		sign_keys_forget(&keys, &keys.keys[0]);
		key = lab_key(&keys, SIGN_CSK, algorithms[i]);
		key->cds_s = 1;
		key->ds_seen_s = 2;
		key->retired_s = lab_now() + 3;
		key->removed_s = lab_now() + 4;
		assert_int_equal(sign_key_write(&keys, key, folder), 0);
		assert_int_equal(sign_keys_read(&read, keys.apex, folder, err, sizeof(err)), 0);
		assert_int_equal(read.n, 1);
		assert_int_equal(read.keys[0].role, key->role);
		assert_int_equal(read.keys[0].tag, key->tag);
		assert_memory_equal(read.keys[0].dnskey, key->dnskey, key->dnskey_bytes);
		assert_memory_equal(&read.keys[0].created_s, &key->created_s,
				    sizeof(*key) - offsetof(struct sign_key, created_s));
		z = lab_sign(from, NULL, &read, &options, lab_now());
		lab_judge(z, lab_now());
		zone_free(z);
		zone_free(from);
		sign_keys_fini(&keys);
		sign_keys_fini(&read);
		remove_folder(folder);
	}
}

/* A key that was read from a file must also be able to sign. */
static void reads_those_of_bind(void **state)
{
	static const char *const names[] = { "RSASHA256", "ECDSAP256SHA256", "ECDSAP384SHA384",
					     "ED25519" };
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct zone *from = zone_of("z", ZONE_HEAD), *z;
		struct sign_options options = lab_options(LAB_NSEC3);
		const char *folder = new_folder();
		char command[256], err[512];
		struct sign_keys keys;
		uint8_t apex[256];

		snprintf(command, sizeof(command),
			 "cd %s && dnssec-keygen -q -a %s -f KSK z >log && "
			 "dnssec-keygen -q -a %s z >log && chmod 600 *",
			 folder, names[i], names[i]);
		lab_run(command, folder);
		wire_of(apex, "z");
		assert_int_equal(sign_keys_read(&keys, apex, folder, err, sizeof(err)), 0);
		assert_int_equal(keys.n, 2);
		assert_int_not_equal(keys.keys[0].role, keys.keys[1].role);
		z = lab_sign(from, NULL, &keys, &options, lab_now() + 60);
		lab_judge(z, lab_now() + 60);
		zone_free(z);
		zone_free(from);
		sign_keys_fini(&keys);
		remove_folder(folder);
	}
}

static void others_may_not_read_them(void **state)
{
	const char *folder = new_folder();
	struct sign_keys keys;
	struct sign_key *key;
	char path[128], err[512];
	uint8_t apex[256];
	struct stat st;

	(void)state;
	wire_of(apex, "example.com");
	lab_keys(&keys, "example.com", false);
	key = &keys.keys[0];
	assert_int_equal(sign_key_write(&keys, key, folder), 0);
	snprintf(path, sizeof(path), "%s/Kexample.com.+013+%05u.private", folder, key->tag);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(chmod(path, 0640), 0);
	sign_keys_fini(&keys);
	assert_int_equal(sign_keys_read(&keys, apex, folder, err, sizeof(err)), -EPERM);
	assert_non_null(strstr(err, "chmod 600"));
	assert_int_equal(truncate(path, 30), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_true(sign_keys_read(&keys, apex, folder, err, sizeof(err)) < 0);
	assert_int_equal(sign_keys_read(&keys, apex, path, err, sizeof(err)), -ENOTDIR);
	assert_non_null(strstr(err, ".private: Not a directory")); /* keys may exist somewhere */
	remove_folder(folder);
}

/* Whatever the last writing has left beside the key file. */
static void leftovers_give_nothing_away(void **state)
{
	static const struct {
		const char *suffix;
		unsigned int mode;
	} rows[] = { { "private", 0600 }, { "key", 0644 } };
	const char *folder = new_folder();
	struct sign_keys keys, read;
	char path[128], err[512];
	struct stat st;
	FILE *f;

	(void)state;
	lab_keys(&keys, "z", false);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/Kz.+013+%05u.%s.new", folder, keys.keys[0].tag,
			 rows[i].suffix);
		f = fopen(path, "w");
		assert_non_null(f);
		for (unsigned int line = 0; line < 1000; line++)
			fprintf(f, "what was left\n");
		fclose(f);
		assert_int_equal(chmod(path, 0666), 0);
	}
	assert_int_equal(sign_key_write(&keys, &keys.keys[0], folder), 0);
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/Kz.+013+%05u.%s", folder, keys.keys[0].tag,
			 rows[i].suffix);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, rows[i].mode);
		assert_in_range(st.st_size, 100, 2000);
	}
	assert_int_equal(sign_keys_read(&read, keys.apex, folder, err, sizeof(err)), 0);
	assert_int_equal(read.n, 1);
	sign_keys_fini(&read);
	sign_keys_fini(&keys);
	remove_folder(folder);
}

static void ds_is_that_of_others(void **state)
{
	char command[256], want[256] = "", *at;
	const char *folder = new_folder();
	uint8_t ds[SIGN_DS_BYTES];
	struct sign_keys keys;
	FILE *f;

	(void)state;
	lab_keys(&keys, "example.com", false);
	assert_int_equal(sign_key_write(&keys, &keys.keys[0], folder), 0);
	assert_int_equal(sign_key_ds(&keys, &keys.keys[0], ds), 0);
	snprintf(command, sizeof(command), "dnssec-dsfromkey -2 %s/*.key", folder);
	f = popen(command, "r");
	assert_non_null(fgets(want, sizeof(want), f));
	pclose(f);
	at = strstr(want, " 13 2 ") + 6;
	for (unsigned int i = 0; i < 32; i++, at += 2) {
		char octet[3] = { at[0], at[1], 0 };

		assert_int_equal(strtoul(octet, NULL, 16), ds[4 + i]);
	}
	sign_keys_fini(&keys);
	remove_folder(folder);
}

static void signatures_that_hold_stay(void **state)
{
	struct zone *from = zone_of("z", ZONE_HEAD "a A 192.0.2.1\n");
	struct zone *more = zone_of("z", ZONE_HEAD "a A 192.0.2.1\na AAAA 2001:db8::1\n"), *z,
		    *next;
	struct sign_options options = lab_options(LAB_NSEC);
	struct sign_keys keys;
	struct zone_rrsigs old, new;
	struct zone_rdata a, b;
	uint8_t name[256];

	(void)state;
	lab_keys(&keys, "z", true);
	z = lab_sign(from, NULL, &keys, &options, lab_now());
	next = lab_sign(more, z, &keys, &options, lab_now());
	wire_of(name, "a.z");
	old = zone_rrsigs(z, zone_node_of(z, name), DNS_TYPE_A);
	new = zone_rrsigs(next, zone_node_of(next, name), DNS_TYPE_A);
	assert_true(zone_rrsigs_next(&old, &a) && zone_rrsigs_next(&new, &b));
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.bytes, b.bytes, a.len);
	lab_judge(next, lab_now());
	zone_free(next);
	next = lab_sign(more, z, &keys, &options, lab_now() + options.signature_s);
	new = zone_rrsigs(next, zone_node_of(next, name), DNS_TYPE_A);
	assert_true(zone_rrsigs_next(&new, &b));
	assert_memory_not_equal(a.bytes, b.bytes, a.len);
	zone_free(next);
	zone_free(z);
	zone_free(from);
	zone_free(more);
	sign_keys_fini(&keys);
}

#define AHEAD_S (10 * 86400u)

/* Keys and signatures were made by a clock that was ten days ahead. Now the clock is right, and
 * nothing waits ten days. */
static void made_by_a_clock_that_was_ahead(void **state)
{
	struct zone *from = zone_of("z", ZONE_HEAD "a A 192.0.2.1\n"), *early, *z;
	struct sign_options options = lab_options(LAB_NSEC);
	struct sign_span span;
	struct sign_keys keys;

	(void)state;
	lab_keys(&keys, "z", true);
	for (size_t i = 0; i < keys.n; i++) {
		struct sign_key *key = &keys.keys[i];

		key->created_s = key->published_s = key->active_s = lab_now() + AHEAD_S;
		assert_true(sign_key_is_published(key, lab_now()));
		assert_true(sign_key_signs(key, DNS_TYPE_DNSKEY, lab_now()) ||
			    key->role == SIGN_ZSK);
		key->active_s++; /* when it was made, its begin was planned for later */
		assert_false(sign_key_signs(key, DNS_TYPE_DNSKEY, lab_now()));
		key->active_s--;
	}
	early = lab_sign(from, NULL, &keys, &options, lab_now() + AHEAD_S);
	span = sign_span(early, lab_now());
	assert_true(span.begin_s > lab_now() && span.end_s > span.begin_s);
	assert_false(sign_span_has(&span, lab_now()));
	z = lab_sign(from, early, &keys, &options, lab_now());
	span = sign_span(z, lab_now());
	assert_true(sign_span_has(&span, lab_now()));
	span = sign_span_of_soa(z, lab_now());
	assert_true(sign_span_has(&span, lab_now()));
	lab_judge(z, lab_now());
	zone_free(z);
	zone_free(early);
	zone_free(from);
	sign_keys_fini(&keys);
}

/* The same in an edit, as a tick makes it: only signatures that begin too late are made anew, and
 * all of these. */
static void renewed_when_the_clock_is_right(void **state)
{
	struct zone *from = zone_of("z", ZONE_HEAD "a A 192.0.2.1\n"), *early, *z;
	struct sign_options options = lab_options(LAB_NSEC);
	struct zone_error err;
	struct zone_edit *edit;
	struct sign_keys keys;
	size_t at = 0, n;

	(void)state;
	lab_keys(&keys, "z", true);
	early = lab_sign(from, NULL, &keys, &options, lab_now() + AHEAD_S);
	assert_int_equal(zone_edit_begin(&edit, early), 0);
	assert_int_equal(sign_renew(edit, early, &keys, &options, lab_now(), &at, 1000, &n, &err),
			 0);
	assert_true(n > 0);
	assert_int_equal(zone_edit_finish(edit, &z, NULL, &err), 0);
	lab_judge(z, lab_now());
	assert_int_equal(zone_edit_begin(&edit, z), 0);
	assert_int_equal(sign_renew(edit, z, &keys, &options, lab_now(), &at, 1000, &n, &err), 0);
	assert_int_equal(n, 0);
	zone_edit_cancel(edit);
	zone_free(z);
	zone_free(early);
	zone_free(from);
	sign_keys_fini(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_as_in_its_file),
		cmocka_unit_test(reads_those_of_bind),
		cmocka_unit_test(others_may_not_read_them),
		cmocka_unit_test(ds_is_that_of_others),
		cmocka_unit_test(signatures_that_hold_stay),
		cmocka_unit_test(made_by_a_clock_that_was_ahead),
		cmocka_unit_test(renewed_when_the_clock_is_right),
		cmocka_unit_test(leftovers_give_nothing_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
