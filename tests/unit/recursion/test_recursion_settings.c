/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the keys of recursion, and the effect of a change of each key. */
#include "recursion/recursion_settings.h"

#include <string.h>
#include <unistd.h>

#include "config/words.h"
#include "recursion/recursion_keys.h"
#include "resolver/forward.h"
#include "tests/lib/must.h"
#include "tests/unit/config/configtext.h"

#define FORWARD "allow: [192.0.2.0/24]\n  forward: [192.0.2.1]\n"
#define STUB    FORWARD "  stubs: [{zone: lan, address: 192.0.2.2}]\n" /* by libunbound */
#define ZONES   FORWARD "  forward-zones: [{zone: lan, address: 192.0.2.2}]\n"
#define DNS64   FORWARD "  dns64: true\n"
#define PRIVATE STUB "  private-address: [10.0.0.0/8]\n"
#define ROOT    "zones:\n  - name: .\n    file: root.zone\n"
#define RPZ     FORWARD "  rpz: [{name: a, file: a}]\n"

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct config *configure(const char *recursion)
{
	char text[512];

	snprintf(text, sizeof(text), LISTEN "recursion:\n  %s", recursion);
	return load_good(text);
}

/* --- One row a key ---------------------------------------------------------------------------- */

static const struct recursion_key *find_key(const char *key)
{
	for (size_t i = 0; i < recursion_n_keys; i++)
		if (!strcmp(recursion_keys[i].key, key))
			return &recursion_keys[i];
	return NULL;
}

/* The rows are the keys of the schema, in its order, with the same fields. */
static void test_each_key_has_a_row(void **state)
{
	static const char above[] = "recursion.";
	size_t n = 0;

	(void)state;
	for (unsigned int i = 0; words_key_at(i); i++) {
		const struct words_key *word = words_key_at(i);
		const struct recursion_key *key;

		if (strncmp(word->path, above, strlen(above)) != 0)
			continue;
		key = find_key(word->path + strlen(above));
		if (!key)
			fail_msg("%s: no row in recursion_keys.c", word->path);
		n++;
		if (key->field == WORDS_NO_FIELD)
			continue;
		if (key->field != word->field || key->config.at != word->at)
			fail_msg("%s: another field than in words_recursion.c", word->path);
	}
	assert_int_equal(n, recursion_n_keys);
}

/* --- The effect of a change ------------------------------------------------------------------- */

/* The need is written here once more, so that a wrong one in the table is seen. */
static const struct change_row {
	const char *key;
	const char *before, *after; /* below recursion */
	enum recursion_need need;
} change_rows[] = {
#define NOTHING RECURSION_NOTHING
#define FLUSH   RECURSION_FLUSH
#define RESTART RECURSION_RESTART
#define BOTH    RECURSION_BOTH
	{ "allow", FORWARD, "allow: [\"::/0\"]\n  forward: [192.0.2.1]\n", NOTHING },
	{ "forward", FORWARD, "allow: [192.0.2.0/24]\n  forward: [192.0.2.2]\n", BOTH },
	{ "forward", FORWARD, "allow: [192.0.2.0/24]\n", BOTH },
	{ "forward-first", FORWARD, FORWARD "  forward-first: true\n", BOTH },
	{ "transport", FORWARD, FORWARD "  transport: tcp\n", RESTART },
	{ "transport", STUB, STUB "  transport: tcp\n", RESTART },
	{ "tls-bundle", FORWARD, FORWARD "  tls-bundle: nowhere\n", RESTART },
	{ "stubs", FORWARD, STUB, BOTH },
	{ "stubs[].zone", STUB, FORWARD "  stubs: [{zone: a, address: 192.0.2.2}]\n", BOTH },
	{ "stubs[].address", STUB, FORWARD "  stubs: [{zone: lan, address: 192.0.2.3}]\n", BOTH },
	{ "stubs[].first", STUB,
	  FORWARD "  stubs: [{zone: lan, address: 192.0.2.2, first: true}]\n", BOTH },
	{ "stubs[].transport", STUB,
	  FORWARD "  stubs: [{zone: lan, address: 192.0.2.2, transport: tcp}]\n", BOTH },
	{ "forward-zones", FORWARD, ZONES, BOTH },
	{ "forward-zones", STUB, ZONES, BOTH },
	{ "forward-zones[].zone", ZONES,
	  FORWARD "  forward-zones: [{zone: a, address: 192.0.2.2}]\n", BOTH },
	{ "forward-zones[].address", ZONES,
	  FORWARD "  forward-zones: [{zone: lan, address: 192.0.2.3}]\n", BOTH },
	{ "forward-zones[].first", ZONES,
	  FORWARD "  forward-zones: [{zone: lan, address: 192.0.2.2, first: true}]\n", BOTH },
	{ "forward-zones[].transport", ZONES,
	  FORWARD "  forward-zones: [{zone: lan, address: 192.0.2.2, transport: tcp}]\n", BOTH },
	{ "do-ip4", "allow: [192.0.2.0/24]\n", "allow: [192.0.2.0/24]\n  do-ip4: false\n", BOTH },
	{ "do-ip6", STUB, STUB "  do-ip6: false\n", BOTH },
	{ "do-ip6", FORWARD, FORWARD "  do-ip6: false\n", NOTHING },
	{ "outgoing-interface", STUB, STUB "  outgoing-interface: [192.0.2.53]\n", RESTART },
	{ "outgoing-interface", FORWARD, FORWARD "  outgoing-interface: [192.0.2.53]\n", BOTH },
	{ "root-hints", FORWARD, FORWARD "  root-hints: nowhere\n", RESTART },
	{ "root-hints", STUB, STUB "  root-hints: nowhere\n", RESTART },
	{ "trust-anchor", FORWARD, FORWARD "  trust-anchor: nowhere\n", BOTH },
	{ "trust-anchor", STUB, STUB "  trust-anchor: nowhere\n", BOTH },
	{ "auto-trust-anchor", FORWARD, FORWARD "  auto-trust-anchor: nowhere\n", BOTH },
	{ "auto-trust-anchor", STUB, STUB "  auto-trust-anchor: nowhere\n", BOTH },
	{ "domain-insecure", FORWARD, FORWARD "  domain-insecure: [lan]\n", BOTH },
	{ "root-key-sentinel", STUB, STUB "  root-key-sentinel: false\n", BOTH },
	{ "qname-minimisation", FORWARD, FORWARD "  qname-minimisation: false\n", RESTART },
	{ "qname-minimisation", STUB, STUB "  qname-minimisation: false\n", RESTART },
	{ "qname-minimisation-strict", STUB, STUB "  qname-minimisation-strict: true\n", BOTH },
	{ "aggressive-nsec", FORWARD, FORWARD "  aggressive-nsec: false\n", RESTART },
	{ "caps-for-id", FORWARD, FORWARD "  caps-for-id: false\n", RESTART },
	{ "caps-for-id", STUB, STUB "  caps-for-id: true\n", RESTART },
	{ "caps-exempt", FORWARD, FORWARD "  caps-exempt: [lan]\n", RESTART },
	{ "harden-glue", STUB, STUB "  harden-glue: false\n", BOTH },
	{ "harden-glue", FORWARD, FORWARD "  harden-glue: false\n", NOTHING },
	{ "harden-referral-path", STUB, STUB "  harden-referral-path: true\n", BOTH },
	{ "harden-below-nxdomain", FORWARD, FORWARD "  harden-below-nxdomain: false\n", NOTHING },
	{ "harden-below-nxdomain", STUB, STUB "  harden-below-nxdomain: false\n", NOTHING },
	{ "harden-dnssec-stripped", STUB, STUB "  harden-dnssec-stripped: false\n", BOTH },
	{ "harden-algo-downgrade", STUB, STUB "  harden-algo-downgrade: true\n", BOTH },
	{ "harden-unverified-glue", STUB, STUB "  harden-unverified-glue: true\n", BOTH },
	{ "harden-unknown-additional", STUB, STUB "  harden-unknown-additional: true\n", BOTH },
	{ "private-address", FORWARD, FORWARD "  private-address: [10.0.0.0/8]\n", BOTH },
	{ "private-address", STUB, PRIVATE, BOTH },
	{ "private-domain", PRIVATE, PRIVATE "  private-domain: [lan]\n", BOTH },
	{ "dns64", FORWARD, DNS64, BOTH },
	{ "dns64", STUB, STUB "  dns64: true\n", BOTH },
	{ "dns64-prefix", DNS64, DNS64 "  dns64-prefix: \"2001:db8::/96\"\n", BOTH },
	{ "dns64-synthall", DNS64, DNS64 "  dns64-synthall: true\n", BOTH },
	{ "query-localhost", FORWARD, FORWARD "  query-localhost: true\n", RESTART },
	{ "root-copy", "allow: [192.0.2.0/24]\n", "allow: [192.0.2.0/24]\n  root-copy: true\n" ROOT,
	  RESTART },
	{ "threads", FORWARD, FORWARD "  threads: 2\n", RESTART },
	{ "max-outstanding", FORWARD, FORWARD "  max-outstanding: 99\n", RESTART },
	{ "memory-max", FORWARD, FORWARD "  memory-max: 128M\n", RESTART },
	{ "max-per-client", FORWARD, FORWARD "  max-per-client: 99\n", RESTART },
	{ "upstream-timeout", FORWARD, FORWARD "  upstream-timeout: 1s\n", RESTART },
	{ "max-query-restarts", STUB, STUB "  max-query-restarts: 5\n", BOTH },
	{ "max-query-restarts", FORWARD, FORWARD "  max-query-restarts: 5\n", NOTHING },
	{ "max-global-quota", STUB, STUB "  max-global-quota: 50\n", BOTH },
	{ "outbound-msg-retry", FORWARD, FORWARD "  outbound-msg-retry: 2\n", RESTART },
	{ "target-fetch-policy", STUB, STUB "  target-fetch-policy: \"0 0\"\n", BOTH },
	{ "query-timeout", FORWARD, FORWARD "  query-timeout: 1s\n", NOTHING },
	{ "max-ttl", FORWARD, FORWARD "  max-ttl: 5\n", FLUSH },
	{ "max-ttl", STUB, STUB "  max-ttl: 5\n", BOTH },
	{ "min-ttl", FORWARD, FORWARD "  min-ttl: 5\n", FLUSH },
	{ "min-ttl", STUB, STUB "  min-ttl: 5\n", BOTH },
	{ "max-negative-ttl", FORWARD, FORWARD "  max-negative-ttl: 5\n", BOTH },
	{ "serve-stale", FORWARD, FORWARD "  serve-stale: 1s\n", NOTHING },
	{ "stale-client-timeout", FORWARD, FORWARD "  stale-client-timeout: 1s\n", NOTHING },
	{ "stale-reply-ttl", FORWARD, FORWARD "  stale-reply-ttl: 1s\n", NOTHING },
	{ "stale-reply-ttl", STUB, STUB "  stale-reply-ttl: 1s\n", NOTHING },
	{ "prefetch", FORWARD, FORWARD "  prefetch: false\n", NOTHING },
	{ "local-data", FORWARD, FORWARD "  local-data: [\"a A 192.0.2.1\"]\n", NOTHING },
	{ "rpz", FORWARD, RPZ, NOTHING },
	{ "rpz[].name", RPZ, FORWARD "  rpz: [{name: b, file: a}]\n", NOTHING },
	{ "rpz[].file", RPZ, FORWARD "  rpz: [{name: a, file: b}]\n", NOTHING },
	{ "rpz[].zone", RPZ, FORWARD "  rpz: [{zone: a}]\nzones: [{name: a, file: a}]\n", NOTHING },
	{ "rpz[].ede", RPZ, FORWARD "  rpz: [{name: a, file: a, ede: filtered}]\n", NOTHING },
	{ "special-names", FORWARD, FORWARD "  special-names: false\n", FLUSH },
	{ "special-names-off", FORWARD, FORWARD "  special-names-off: [test]\n", FLUSH },
#undef NOTHING
#undef FLUSH
#undef RESTART
#undef BOTH
};

/* Settings that are written in another way, and are the same. */
static const struct change_row same_rows[] = {
	{ "nothing", FORWARD, FORWARD, RECURSION_NOTHING },
	{ "nothing", STUB, STUB, RECURSION_NOTHING },
	{ "the letter case of before", FORWARD, FORWARD "  caps-for-id: true\n",
	  RECURSION_NOTHING },
	{ "the transport of before", STUB,
	  FORWARD "  stubs: [{zone: lan, address: 192.0.2.2, transport: udp}]\n",
	  RECURSION_NOTHING },
	{ "the prefix of before", DNS64, DNS64 "  dns64-prefix: \"64:ff9b::/96\"\n",
	  RECURSION_NOTHING },
};

/* The settings, with the configuration that they point into. */
struct made {
	struct config *config;
	struct recursion_settings settings;
};

static void made_open(struct made *made, const char *recursion, uint64_t engine_digest)
{
	made->config = configure(recursion);
	assert_int_equal(recursion_settings_make(&made->settings, &made->config->recursion,
						 engine_digest),
			 0);
}

static void made_close(struct made *made)
{
	recursion_settings_fini(&made->settings);
	config_free(made->config);
}

static enum recursion_need need_of(const struct made *from, const struct made *to)
{
	const struct recursion_settings *a = &from->settings, *b = &to->settings;

	return (strcmp(a->text, b->text) ? RECURSION_RESTART : 0) |
	       (memcmp(a->digest, b->digest, sizeof(a->digest)) ? RECURSION_FLUSH : 0);
}

/* What the table says. With another one that asks, both are needed. */
static enum recursion_need stated_need(const struct recursion_key *key, const struct made *from,
				       const struct made *to)
{
	bool was_unbound = !forward_suits(&from->settings.resolver);

	if (forward_suits(&to->settings.resolver) == was_unbound)
		return RECURSION_BOTH;
	return key->needs | (was_unbound ? key->needs_unbound : 0);
}

static void check_change(const struct change_row *row, const struct recursion_key *key)
{
	struct made from, to;

	made_open(&from, row->before, 1);
	made_open(&to, row->after, 1);
	if (need_of(&from, &to) != row->need)
		fail_msg("%s: needs %d, not %d: %s", row->key, need_of(&from, &to), row->need,
			 row->after);
	if (key && stated_need(key, &from, &to) != row->need)
		fail_msg("%s: its row says %d: %s", row->key, stated_need(key, &from, &to),
			 row->after);
	made_close(&to);
	made_close(&from);
}

static void test_a_change_needs_what_its_row_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(change_rows); i++) {
		const struct recursion_key *key = find_key(change_rows[i].key);

		if (!key)
			fail_msg("%s is no key", change_rows[i].key);
		check_change(&change_rows[i], key);
	}
	for (size_t i = 0; i < N_ROWS(same_rows); i++)
		check_change(&same_rows[i], NULL);
}

static void test_each_key_is_changed_here(void **state)
{
	(void)state;
	for (size_t i = 0; i < recursion_n_keys; i++) {
		size_t k = 0;

		while (k < N_ROWS(change_rows) &&
		       strcmp(change_rows[k].key, recursion_keys[i].key) != 0)
			k++;
		if (k == N_ROWS(change_rows))
			fail_msg("%s is in the table and not in this test", recursion_keys[i].key);
	}
}

/* Other answers of the engine flush, too, but the resolver stays. */
static void test_another_engine(void **state)
{
	struct made from, to;

	(void)state;
	made_open(&from, FORWARD, 1);
	made_open(&to, FORWARD, 2);
	assert_int_equal(need_of(&from, &to), RECURSION_FLUSH);
	made_close(&to);
	made_close(&from);
}

/* --- The options of libunbound ---------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *option;
	const char *value; /* NULL: it is not set */
} option_rows[] = {
	{ "", "do-ip4:", "yes" },
	{ "  do-ip4: false\n  stubs: []\n", "do-ip4:", "no" },
	{ "", "qname-minimisation:", "yes" },
	{ "", "cache-max-ttl:", "86400" },
	{ "  min-ttl: 7\n", "cache-min-ttl:", "7" },
	{ "", "max-query-restarts:", "11" },
	{ "", "max-global-quota:", NULL },
	{ "  max-global-quota: 50\n", "max-global-quota:", "50" },
	{ "", "harden-unverified-glue:", NULL },
	{ "  harden-unverified-glue: true\n", "harden-unverified-glue:", "yes" },
	{ "", "target-fetch-policy:", NULL },
	{ "  target-fetch-policy: \"0 0\"\n", "target-fetch-policy:", "0 0" },
	{ "", "private-domain:", NULL },
	{ "  private-address: [10.0.0.0/8]\n  private-domain: [lan]\n", "private-domain:", "lan." },
};

static const char *find_option(const struct resolver_config *r, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < r->n_tuning; i++)
		if (!strcmp(r->tuning[i].name, name)) {
			assert_null(value);
			value = r->tuning[i].value;
		}
	return value;
}

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(option_rows); i++) {
		char text[512];
		const char *value;
		struct made made;

		snprintf(text, sizeof(text), "allow: [192.0.2.0/24]\n%s", option_rows[i].text);
		made_open(&made, text, 1);
		value = find_option(&made.settings.resolver, option_rows[i].option);
		if (!value != !option_rows[i].value ||
		    (value && strcmp(value, option_rows[i].value) != 0))
			fail_msg("%s is %s after %s", option_rows[i].option,
				 value ? value : "not set", text);
		made_close(&made);
	}
}

/* Each text of a list is an option. */
static void test_options_of_a_list(void **state)
{
	struct made made;
	size_t n = 0;

	(void)state;
	made_open(&made, PRIVATE "  private-domain: [a, b, c]\n", 1);
	for (size_t i = 0; i < made.settings.resolver.n_tuning; i++)
		n += !strcmp(made.settings.resolver.tuning[i].name, "private-domain:");
	assert_int_equal(n, 3);
	made_close(&made);
}

/* --- Values that depend on more than a key ---------------------------------------------------- */

static const struct {
	const char *name;
	const char *text;
	bool caps_for_id;
} case_rows[] = {
	{ "forwarding", FORWARD, true },
	{ "forwarding, off", FORWARD "  caps-for-id: false\n", false },
	{ "forwarding, validated", FORWARD "  trust-anchor: nowhere\n", false },
	{ "a stub", STUB, false },
	{ "from the root", "allow: [192.0.2.0/24]\n", false },
	{ "from the root, on", "allow: [192.0.2.0/24]\n  caps-for-id: true\n", true },
};

/* Letter case is random by default where our own forwarder asks. */
static void test_letter_case_by_default(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(case_rows) / sizeof(case_rows[0]); i++) {
		struct config *config = configure(case_rows[i].text);
		struct recursion_settings s;

		assert_int_equal(recursion_settings_make(&s, &config->recursion, 1), 0);
		if (s.resolver.caps_for_id != case_rows[i].caps_for_id)
			fail_msg("%s", case_rows[i].name);
		recursion_settings_fini(&s);
		config_free(config);
	}
}

/* A file that is written anew under its name is read anew. */
static void test_a_file_that_changes(void **state)
{
	char path[256], text[512];
	struct recursion_settings s[3];
	struct config *config;
	FILE *out;

	(void)state;
	snprintf(path, sizeof(path), "%s/anchor", tmpfolder);
	snprintf(text, sizeof(text), FORWARD "  trust-anchor: %s\n", path);
	config = configure(text);
	for (int i = 0; i < 3; i++) {
		if (i < 2) {
			out = fopen(path, "w");
			MUST(out && fprintf(out, "%*s", i + 1, "") >= 0 && !fclose(out));
		}
		assert_int_equal(recursion_settings_make(&s[i], &config->recursion, 1), 0);
	}
	assert_string_not_equal(s[0].text, s[1].text);
	assert_string_equal(s[1].text, s[2].text);
	assert_memory_not_equal(s[0].digest, s[1].digest, sizeof(s[0].digest));
	for (int i = 0; i < 3; i++)
		recursion_settings_fini(&s[i]);
	unlink(path);
	config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_key_has_a_row),
		cmocka_unit_test(test_a_change_needs_what_its_row_says),
		cmocka_unit_test(test_each_key_is_changed_here),
		cmocka_unit_test(test_another_engine),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_options_of_a_list),
		cmocka_unit_test(test_letter_case_by_default),
		cmocka_unit_test(test_a_file_that_changes),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
