/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the table and the fields that they name: they fit, and are copied and freed by them.
 */
#include "config/fields.h"

#include "base/log.h"
#include "config/value.h"
#include "dns/proto.h"
#include "xdp/block.h"
#include "tests/unit/config/configtext.h"

/* Keys whose values need a function of their own. */
static const char *const by_hand[] = {
	"server.cookies.secret", /* into an array, beside those of files */
	"server.cookies.secret-files",
	"cache.names", /* in lines, not octets */
	"cache.intervals",
	"include",            /* config/document.h */
	"keys[].secret-file", /* read into the field of keys[].secret */
	"zones[].template",
	"recursion.dns64",      /* the prefix says it */
	"recursion.rpz[].zone", /* into the field of the name */
	"query-log.journal",    /* no file says it */
};

static bool is_by_hand(const char *path)
{
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++)
		if (!strcmp(by_hand[i], path))
			return true;
	return false;
}

/* A row without a field, whose value nobody would read. */
static void test_each_key_has_a_field(void **state)
{
	const struct words_key *key;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		if (key->type != WORDS_MAP &&
		    (key->field == WORDS_NO_FIELD) != is_by_hand(key->path))
			fail_msg("%s has %s field", key->path,
				 key->field == WORDS_NO_FIELD ? "no" : "a");
}

static bool is_number(const struct words_key *key)
{
	return key->field == WORDS_FIELD_NUMBER && key->type != WORDS_BITS;
}

/* No value that its bounds allow, and no default, is cut in its field. */
static void test_bounds_fit_the_fields(void **state)
{
	const struct words_key *key;
	uint64_t value;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		unsigned int bits = 8u * key->n_bytes;
		uint64_t most = key->max;

		if (!is_number(key) || bits >= 64)
			continue;
		for (const char *c = key->choices; c; c = strchr(c + 1, '|'))
			most = key->type == WORDS_CHOICES ? 2 * most + 1 :
							    (most ? most : key->min - 1) + 1;
		if (most >> bits)
			fail_msg("%s: %llu is too much for %u bits", key->path,
				 (unsigned long long)most, bits);
		if (key->fallback && key->type != WORDS_CHOICES)
			assert_int_equal(value_read_number(key, key->fallback, &value), 0);
	}
}

/* A number and the count of an array in one struct do not overlap: no two rows have one field. */
static void test_no_two_rows_have_one_field(void **state)
{
	const struct words_key *a, *b;

	(void)state;
	for (unsigned int i = 0; (a = words_key_at(i)); i++)
		for (unsigned int k = 0; k < i && (b = words_key_at(k)); k++) {
			const char *dot_a = strrchr(a->path, '.'), *dot_b = strrchr(b->path, '.');

			if (a->field && b->field && dot_a && dot_b && a->at == b->at &&
			    dot_a - a->path == dot_b - b->path &&
			    !strncmp(a->path, b->path, (size_t)(dot_a - a->path)))
				fail_msg("%s and %s have one field", a->path, b->path);
		}
}

/* All kinds of fields, copied into zeroed memory and freed. */
static void test_copies_are_deep(void **state)
{
	struct config *from = load_good(
		LISTEN "  nsid: 0x0102\n  allow: [10.0.0.0/8]\n  control-cores: [0, 1]\n"
		       "  version: text\nmetrics: {listen: 127.0.0.1@9253}\n"
		       "dpdk: {options: [a, b]}\nrecursion: {special-names-off: [test]}\n"
		       "interfaces: [{name: a, cores: [0]}, {name: b, device: c, port: dpdk}]\n");
	struct config *to = calloc(1, sizeof(*to));
	const struct words_child *interfaces;
	struct words_level level;

	(void)state;
	words_level_of(&level, "server");
	for (unsigned int i = 0; i < level.n; i++)
		assert_true(fields_copy_one(&level, &level.children[i], to, from));
	words_level_top(&level);
	interfaces = words_level_find(&level, "interfaces");
	assert_true(fields_copy_one(&level, interfaces, to, from));
	assert_ptr_not_equal(to->listen, from->listen);
	assert_memory_equal(to->listen, from->listen, sizeof(*to->listen));
	assert_int_equal(to->n_nsid, 2);
	assert_memory_equal(to->nsid, "\1\2", 2);
	assert_int_equal(to->control_cores[1], 1);
	assert_string_equal(to->version, "text");
	assert_int_equal(to->n_interfaces, 2);
	assert_string_equal(to->interfaces[1].name, "b");
	assert_string_equal(to->interfaces[1].device, "c");
	assert_ptr_not_equal(to->interfaces[1].device, from->interfaces[1].device);
	assert_int_equal(to->interfaces[0].n_cores, 1);
	config_free(from);
	fields_free(&level, to);
	assert_null(to->interfaces);
	assert_int_equal(to->n_interfaces, 0);
	assert_null(to->version);
	free(to);
}

/* The last word of a choice, and the enumerator that it stands for. */
static const struct choice_row {
	const char *path, *last;
	uint64_t value;
} choice_rows[] = {
	{ "policy.block[].action", "allow", VOLLEY_BLOCK_ALLOW },
	{ "server.any", "full", ENGINE_ANY_FULL },
	{ "server.tls.min-version", "TLSv1.3", CONFIG_TLS_1_3 },
	{ "interfaces[].xdp", "off", CONFIG_XDP_OFF },
	{ "interfaces[].port", "socket", CONFIG_PORT_SOCKET },
	{ "interfaces[].zero-copy", "off", CONFIG_ZERO_COPY_OFF },
	{ "interfaces[].return-path", "fib", CONFIG_RETURN_FIB },
	{ "dpdk.huge-pages", "off", CONFIG_HUGE_OFF },
	{ "log.level", "debug", LOG_LEVEL_DEBUG },
	{ "log.format", "json", LOG_JSON },
	{ "recursion.transport", "tls", RESOLVER_TLS },
	{ "recursion.stubs[].transport", "tcp", RESOLVER_TCP },
	{ "recursion.forward-zones[].transport", "tls", RESOLVER_TLS },
	{ "recursion.rpz[].ede", "prohibited", DNS_EDE_PROHIBITED },
	{ "query-log.format", "json", true },
	{ "keys[].algorithm", "hmac-md5", TSIG_N_ALGORITHMS - 1 },
	{ "remotes[].tls", "strict", CONFIG_TLS_STRICT },
	{ "signing[].algorithm", "rsasha256", CONFIG_N_SIGN_ALGORITHMS - 1 },
	{ "signing[].keys", "csk", true },
	{ "signing[].denial", "nsec3", CONFIG_DENIAL_NSEC3 },
	{ "zones[].driver-denials", "off", CONFIG_DENIALS_OFF },
	{ "zones[].zonemd", "require", CONFIG_ZONEMD_REQUIRE },
	{ "zones[].serial", "date", CONFIG_SERIAL_DATE },
	{ "zones[].catalog", "produce", CONFIG_CATALOG_PRODUCE },
};

/* The words stand in the table, and the enumerators in a header: a word that one of them lacks
 * moves the last one. */
static void test_choices_are_in_the_order_of_their_enums(void **state)
{
	const struct words_key *key;
	unsigned int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(choice_rows) / sizeof(choice_rows[0]); i++) {
		const struct choice_row *row = &choice_rows[i];
		const char *last;
		uint64_t value;

		key = words_find_key(row->path);
		assert_non_null(key);
		last = strrchr(key->choices, '|') + 1;
		if (strcmp(last, row->last) != 0)
			fail_msg("%s ends with %s, not with %s", row->path, last, row->last);
		assert_int_equal(value_read_number(key, last, &value), 0);
		if (value != row->value)
			fail_msg("%s: %s is read as %llu, its enumerator is %llu", row->path, last,
				 (unsigned long long)value, (unsigned long long)row->value);
	}
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		n += key->type == WORDS_CHOICE;
	assert_int_equal(n, sizeof(choice_rows) / sizeof(choice_rows[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_key_has_a_field),
		cmocka_unit_test(test_choices_are_in_the_order_of_their_enums),
		cmocka_unit_test(test_bounds_fit_the_fields),
		cmocka_unit_test(test_no_two_rows_have_one_field),
		cmocka_unit_test(test_copies_are_deep),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
