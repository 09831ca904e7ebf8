/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/config_wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALIGNMENT 8u

static const char *const texts[] = { "192.0.2.1", "", "2001:db8::1@853#name.example", NULL };
static const struct resolver_stub stubs[] = {
	{ .zone = "lan.", .address = "192.0.2.9", .is_forward = true, .first = true },
	{ .zone = "example.", .address = "::1@5353", .prime = true, .transport = RESOLVER_TLS },
};
static const struct resolver_option options[] = { { "a:", "yes" }, { "b:", "" } };

/* Each member has a value that the others do not have. */
static struct resolver_config make_config(void)
{
	struct resolver_config c = RESOLVER_CONFIG_INIT;

	c.n_threads = 3;
	c.root_hints = "/etc/hints";
	c.forwards = texts;
	c.forward_first = true;
	c.transport = RESOLVER_TCP;
	c.tls_bundle = "/etc/bundle";
	c.stubs = stubs;
	c.n_stubs = 2;
	c.trust_anchor_file = "/etc/anchor";
	c.auto_trust_anchor_file = "/var/anchor";
	c.insecure = &texts[2];
	c.caps_exempt = &texts[1];
	c.private_addresses = texts;
	c.dns64_prefix = "64:ff9b::/96";
	c.outgoing_interfaces = &texts[2];
	c.port_first = 1024;
	c.port_last = 65535;
	c.msg_cache_bytes = 1ULL << 40;
	c.tuning = options;
	c.n_tuning = 1;
	c.options = options;
	c.n_options = 2;
	return c;
}

static size_t write_config(uint8_t **out, const struct resolver_config *config)
{
	size_t n = config_wire_write(NULL, 0, config);

	*out = malloc(n);
	assert_non_null(*out);
	assert_int_equal(config_wire_write(*out, n, config), n);
	return n;
}

static void what_is_read_writes_the_same(void **state)
{
	struct resolver_config config = make_config(), read;
	uint8_t *octets, *again;
	size_t n = write_config(&octets, &config), n_again;
	void *memory;

	(void)state;
	assert_int_equal(config_wire_read(&read, &memory, octets, n), 0);
	assert_int_equal(read.n_threads, 3);
	assert_string_equal(read.forwards[2], texts[2]);
	assert_string_equal(read.forwards[1], "");
	assert_null(read.forwards[3]);
	assert_null(read.tls_relay);
	assert_null(read.root_copy);
	assert_int_equal(read.transport, RESOLVER_TCP);
	assert_int_equal(read.n_stubs, 2);
	assert_string_equal(read.stubs[1].address, "::1@5353");
	assert_true(read.stubs[0].is_forward && read.stubs[0].first && !read.stubs[0].prime);
	assert_int_equal(read.stubs[1].transport, RESOLVER_TLS);
	assert_int_equal(read.n_options, 2);
	assert_string_equal(read.options[0].value, "yes");
	assert_int_equal(read.msg_cache_bytes, 1ULL << 40);
	n_again = write_config(&again, &read);
	assert_int_equal(n_again, n);
	assert_memory_equal(again, octets, n);
	free(again);
	free(memory);
	free(octets);
}

static void see_member(uint8_t *is_seen, size_t at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		assert_false(is_seen[at + i]);
		is_seen[at + i] = 1;
	}
}

/* A new member without a row in the table leaves a gap that is no padding: padding begins at no
 * multiple of ALIGNMENT, and is shorter. */
static void each_member_is_sent(void **state)
{
	uint8_t is_seen[sizeof(struct resolver_config)] = { 0 };
	size_t gap = 0;

	(void)state;
#define SEE(kind, name)                                             \
	see_member(is_seen, offsetof(struct resolver_config, name), \
		   sizeof(((const struct resolver_config *)0)->name));
	RESOLVER_CONFIG_MEMBERS(SEE)
#undef SEE
	for (size_t i = 0; i < sizeof(is_seen); i++) {
		gap = is_seen[i] ? 0 : gap + 1;
		if (gap == ALIGNMENT || (gap && (i + 1 - gap) % ALIGNMENT == 0))
			fail_msg("offset %zu of struct resolver_config is not in the table", i);
	}
}

static void octets_that_are_cut_are_refused(void **state)
{
	struct resolver_config config = make_config(), read;
	uint8_t *octets;
	size_t n = write_config(&octets, &config);
	void *memory;

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *part = malloc(cut + 1);

		memcpy(part, octets, cut);
		assert_int_equal(config_wire_read(&read, &memory, part, cut), -EPROTO);
		free(part);
	}
	free(octets);
}

/* Whatever an octet is, nothing outside of the block is touched: AddressSanitizer looks. */
static void no_octet_does_harm(void **state)
{
	struct resolver_config config = make_config(), read;
	uint8_t *octets;
	size_t n = write_config(&octets, &config);
	void *memory;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (int bit = 0; bit < 8; bit++) {
			octets[i] ^= (uint8_t)(1 << bit);
			if (!config_wire_read(&read, &memory, octets, n))
				free(memory);
			octets[i] ^= (uint8_t)(1 << bit);
		}
	}
	free(octets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_writes_the_same),
		cmocka_unit_test(each_member_is_sent),
		cmocka_unit_test(octets_that_are_cut_are_refused),
		cmocka_unit_test(no_octet_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
