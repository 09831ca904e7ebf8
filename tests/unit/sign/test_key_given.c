/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys that another signer has made: their roles, their plans, and that the parent's DS stays. */
#include "sign/keys.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/err.h"
#include "sign/rollover.h"
#include "tests/lib/must.h"
#include "tests/lib/tmpfolder.h"
#include "tests/unit/sign/sign_lab.h"

#define APEX "given.test"

static char said[1024];

static void remove_files(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s/*", tmpfolder);
	MUST(!system(command));
}

static void write_text(const char *name, const char *format, ...)
{
	char path[512];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	f = fopen(path, "w");
	MUST(f && !fchmod(fileno(f), 0600));
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	fclose(f);
}

/* A key as its maker has it: flags instead of a role. */
struct made {
	unsigned int tag;
	char stem[64];
	char public[1024]; /* in base64 */
};

static void make_key(struct made *made, uint16_t flags, const char *more)
{
	struct sign_keys keys = { .n = 0 };
	struct sign_key *key;
	ldns_key *to = ldns_key_new();
	char path[512];
	FILE *f;

	wire_of(keys.apex, APEX);
	MUST(to && !sign_keys_make(&keys, SIGN_ZSK, SIGN_ECDSAP256SHA256, 0, &key));
	made->tag = sign_key_tag_with(key, flags);
	snprintf(made->stem, sizeof(made->stem), "K" APEX ".+013+%05u", made->tag);
	EVP_EncodeBlock((unsigned char *)made->public, key->dnskey + 4, key->dnskey_bytes - 4);
	snprintf(path, sizeof(path), "%s/%s.private", tmpfolder, made->stem);
	f = fopen(path, "w");
	MUST(f && !fchmod(fileno(f), 0600));
	ldns_key_set_algorithm(to, LDNS_SIGN_ECDSAP256SHA256);
	ldns_key_set_evp_key(to, key->pkey);
	ldns_key_print(f, to);
	ldns_key_free(to);
	fputs(more, f);
	fclose(f);
	sign_keys_fini(&keys);
}

static void write_key(const struct made *made, const char *format)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.key", made->stem);
	write_text(name, format, made->public);
}

static int read_keys(struct sign_keys *keys)
{
	uint8_t apex[256];

	wire_of(apex, APEX);
	*said = 0;
	return sign_keys_read(keys, apex, tmpfolder, said, sizeof(said));
}

/* --- Public files ----------------------------------------------------------------------------- */

static const struct form {
	const char *text;
	enum sign_role role;
} forms[] = {
	{ APEX ". IN DNSKEY 257 3 13 %s\n", SIGN_KSK },
	{ APEX ".\tIN\tDNSKEY\t257 3 13 %s ;{id = 1 (ksk), size = 256b}\n", SIGN_KSK },
	{ APEX ".\tIN\tDNSKEY\t256 3 13 %s ;{id = 1 (zsk), size = 256b}\n", SIGN_ZSK },
	{ "; a key-signing key, DNSKEY 256 \n; Created: 2\n" APEX ". 3600 IN DNSKEY 257 3 13 %s\n",
	  SIGN_KSK },
	{ APEX ".\tIN\t1h\tDNSKEY ( 257 ; flags\n\t3\r\n13 %s )\r\n", SIGN_KSK },
	{ "$TTL 1d\n$ORIGIN " APEX ".\n@ dnskey 257 3 13 %s", SIGN_KSK },
	{ "GIVEN.Test. CLASS1 TYPE48 256 3 ECDSAP256SHA256 %s\n", SIGN_ZSK },
	{ "other.test. IN DNSKEY 256 3 13 AAAA\n" APEX ". in dnskey 257 3 13 %s\n", SIGN_KSK },
};

static void any_form_of_a_record(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct sign_keys keys;
		struct made made;

		remove_files();
		make_key(&made, forms[i].role == SIGN_KSK ? 257 : 256, "");
		write_key(&made, forms[i].text);
		if (read_keys(&keys))
			fail_msg("row %zu: %s", i, said);
		assert_int_equal(keys.n, 1);
		assert_int_equal(keys.keys[0].role, forms[i].role);
		assert_int_equal(keys.keys[0].tag, made.tag);
		sign_keys_fini(&keys);
	}
}

static const struct fault {
	const char *text; /* of the .key file; NULL: none */
	uint16_t flags;   /* for the tag in the name */
	const char *says;
} faults[] = {
	{ "", 257, "no DNSKEY record of this zone" },
	{ "; " APEX ". IN DNSKEY 257 3 13 %s\n", 257, "no DNSKEY record of this zone" },
	{ "other.test. IN DNSKEY 257 3 13 %s\n", 257, "no DNSKEY record of this zone" },
	{ APEX ". IN DNSKEY 257 3 13 AAAA\n", 257, "not of the private key beside it" },
	{ APEX ". IN DNSKEY 257 3 15 %s\n", 257, "not of the private key beside it" },
	{ APEX ". IN DNSKEY 257 3 13\n", 257, "malformed" },
	{ APEX ". IN DNSKEY 1 3 13 %s\n", 257, "256 or 257, not 1" },
	{ APEX ". IN DNSKEY 256 3 13 %s\n", 257, "rename it" },
	{ NULL, 258, "its name has another tag" },
};

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct sign_keys keys;
		struct made made;

		remove_files();
		make_key(&made, faults[i].flags, "");
		if (faults[i].text)
			write_key(&made, faults[i].text);
		assert_true(read_keys(&keys) < 0);
		if (!strstr(said, faults[i].says) || !strstr(said, made.stem))
			fail_msg("row %zu: %s", i, said);
	}
}

static void without_a_public_file_the_name_tells(void **state)
{
	struct sign_keys keys;
	struct made made;

	(void)state;
	for (unsigned int sep = 0; sep < 2; sep++) {
		remove_files();
		make_key(&made, (uint16_t)(256 + sep), "");
		assert_int_equal(read_keys(&keys), 0);
		assert_int_equal(keys.keys[0].role, sep ? SIGN_KSK : SIGN_ZSK);
		assert_int_equal(keys.keys[0].tag, made.tag);
		sign_keys_fini(&keys);
	}
}

/* Without its flag it would have another tag, and count as one that is still trusted. */
static void a_revoked_key_is_left_out(void **state)
{
	struct sign_keys keys;
	struct made made;

	(void)state;
	for (unsigned int has_file = 0; has_file < 2; has_file++) {
		remove_files();
		make_key(&made, 385, "");
		if (has_file)
			write_key(&made, APEX ". IN DNSKEY 385 3 13 %s\n");
		make_key(&made, 257, "");
		assert_int_equal(read_keys(&keys), 0);
		assert_int_equal(keys.n, 1);
		assert_int_equal(keys.keys[0].tag, made.tag);
		sign_keys_fini(&keys);
	}
}

/* --- Plans ------------------------------------------------------------------------------------ */

static const struct rollover_policy policy = { .single_key = true,
					       .algorithm = SIGN_ECDSAP256SHA256,
					       .dnskey_ttl_s = 3600,
					       .zone_ttl_s = 3600 };

/* Reads and adopts; the result of the first step. */
static int begin(struct sign_keys *keys, uint64_t now_s)
{
	struct rollover_actions actions;
	uint64_t next_s;

	MUST(!read_keys(keys));
	(void)key_given_adopt(keys, now_s, said, sizeof(said));
	return rollover_step(keys, &policy, now_s, &actions, &next_s);
}

static const struct sign_key *key_of(const struct sign_keys *keys, unsigned int tag)
{
	for (size_t i = 0; i < keys->n; i++)
		if (keys->keys[i].tag == tag)
			return &keys->keys[i];
	fail_msg("there is no key %u", tag);
	return NULL;
}

static void a_single_key_signs_all(void **state)
{
	static const char *const times[] = {
		"", "Publish: 20200101000000\nActivate: 20200101000000\n",
		"Publish: 20990101000000\nActivate: 20990101000000\n"
	};
	struct sign_keys keys;
	struct made made;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		remove_files();
		make_key(&made, 257, times[i]);
		assert_int_equal(begin(&keys, lab_now()), 0);
		assert_int_equal(keys.n, 1);
		assert_int_equal(keys.keys[0].role, SIGN_CSK);
		assert_true(sign_key_signs(&keys.keys[0], DNS_TYPE_A, lab_now()));
		assert_true(sign_key_signs(&keys.keys[0], DNS_TYPE_DNSKEY, lab_now()));
		sign_keys_fini(&keys);
	}
}

static void each_key_without_times_is_used(void **state)
{
	struct made ksk[2], zsk[2];
	struct sign_keys keys;
	unsigned int n_signs = 0;

	(void)state;
	remove_files();
	for (unsigned int i = 0; i < 2; i++) {
		make_key(&ksk[i], 257, "");
		make_key(&zsk[i], 256, "");
	}
	assert_int_equal(begin(&keys, lab_now()), 0);
	assert_int_equal(keys.n, 4);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(sign_key_signs(key_of(&keys, ksk[i].tag), DNS_TYPE_DNSKEY, lab_now()));
		assert_true(sign_key_is_published(key_of(&keys, zsk[i].tag), lab_now()));
		n_signs += sign_key_signs(key_of(&keys, zsk[i].tag), DNS_TYPE_A, lab_now());
	}
	assert_int_equal(n_signs, 1);
	sign_keys_fini(&keys);
}

/* A .state file of BIND tells a KSK from a CSK, also if the ZSK is not there. */
static void the_state_of_bind_tells_the_role(void **state)
{
	struct sign_keys keys;
	struct made made;
	char name[80];

	(void)state;
	for (unsigned int is_csk = 0; is_csk < 2; is_csk++) {
		remove_files();
		make_key(&made, 257, "Publish: 20200101000000\nActivate: 20200101000000\n");
		snprintf(name, sizeof(name), "%s.state", made.stem);
		write_text(name, "; state\nAlgorithm: 13\nKSK: yes\nZSK: %s\n",
			   is_csk ? "yes" : "no");
		assert_int_equal(begin(&keys, lab_now()), 0);
		assert_int_equal(key_of(&keys, made.tag)->role, is_csk ? SIGN_CSK : SIGN_KSK);
		sign_keys_fini(&keys);
	}
}

/* Else a new KSK would be made, which the parent does not know. */
static void the_end_that_another_signer_planned(void **state)
{
	struct made ksk, zsk;
	struct sign_keys keys;

	(void)state;
	remove_files();
	make_key(&ksk, 257,
		 "Publish: 20200101000000\nActivate: 20200101000000\nInactive: 20990101000000\n"
		 "Delete: 20990201000000\n");
	make_key(&zsk, 256, "Publish: 20200101000000\nActivate: 20200101000000\n");
	assert_int_equal(begin(&keys, lab_now()), 0);
	assert_non_null(strstr(said, "Inactive"));
	assert_int_equal(key_of(&keys, ksk.tag)->retired_s, 0);
	for (size_t i = 0; i < keys.n; i++)
		assert_true(keys.keys[i].role != SIGN_KSK || keys.keys[i].tag == ksk.tag);
	sign_keys_fini(&keys);
}

static void no_new_key_beside_given_ones(void **state)
{
	struct sign_keys keys;
	struct made made;

	(void)state;
	remove_files();
	make_key(&made, 256, ""); /* a ZSK alone */
	assert_int_equal(begin(&keys, lab_now()), -ENOKEY);
	assert_int_equal(keys.n, 1);
	sign_keys_fini(&keys);
	remove_files();
	make_key(&made, 257,
		 "Publish: 20200101000000\nActivate: 20200101000000\n"
		 "Delete: 20210101000000\n");
	assert_int_equal(begin(&keys, lab_now()), -ENOKEY);
	sign_keys_fini(&keys);
}

static void keys_in_another_form(void **state)
{
	static const char *const names[] = {
		"K" APEX ".+013+00001.key",
		"Kgiven.TEST.+013+00001.key",
		"0123456789abcdef0123456789abcdef01234567.pem",
		"keys/0123456789abcdef0123456789abcdef01234567.pem",
	};
	struct sign_keys keys;
	char folder[300];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		remove_files();
		snprintf(folder, sizeof(folder), "%s/keys", tmpfolder);
		MUST(!mkdir(folder, 0700));
		write_text(names[i], "x\n");
		assert_int_equal(read_keys(&keys), -ENOKEY);
		assert_non_null(strstr(said, names[i]));
	}
	remove_files();
	write_text("K" APEX ".uk.+013+00001.key", "of another zone\n");
	write_text("server.pem", "of no zone\n");
	assert_int_equal(read_keys(&keys), 0);
	assert_int_equal(keys.n, 0);
}

/* What is written is ours: it is read again without guessing. */
static void written_keys_are_ours(void **state)
{
	struct made single, other;
	struct sign_keys keys;

	(void)state;
	remove_files();
	make_key(&single, 257, "");
	assert_int_equal(begin(&keys, lab_now()), 0);
	assert_int_equal(sign_key_write(&keys, &keys.keys[0], tmpfolder), 0);
	sign_keys_fini(&keys);
	make_key(&other, 256, "Publish: 20200101000000\n");
	assert_int_equal(begin(&keys, lab_now()), 0);
	assert_int_equal(key_of(&keys, single.tag)->role, SIGN_CSK);
	assert_int_equal(key_of(&keys, single.tag)->origin, SIGN_OURS);
	assert_int_equal(key_of(&keys, other.tag)->role, SIGN_ZSK);
	sign_keys_fini(&keys);
	remove_files();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_form_of_a_record),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(without_a_public_file_the_name_tells),
		cmocka_unit_test(a_revoked_key_is_left_out),
		cmocka_unit_test(a_single_key_signs_all),
		cmocka_unit_test(each_key_without_times_is_used),
		cmocka_unit_test(the_state_of_bind_tells_the_role),
		cmocka_unit_test(the_end_that_another_signer_planned),
		cmocka_unit_test(no_new_key_beside_given_ones),
		cmocka_unit_test(keys_in_another_form),
		cmocka_unit_test(written_keys_are_ours),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
