/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations read back: as trees, with defaults, as YAML, and compared. */
#include "config/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "configtext.h"

static const uint8_t hash_key[SIPHASH_KEY_BYTES] = "any key will do";

static json_t *read_tree(const char *text, const uint8_t *key)
{
	json_t *tree;

	assert_int_equal(settings_read(&tree, text, strlen(text), key), 0);
	return tree;
}

static void assert_json(const json_t *value, const char *want)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static const char *const secrets = LISTEN
	"  cookies:\n    secret: 000102030405060708090a0b0c0d0e0f\n"
	"keys:\n  - {name: a., secret: c2VjcmV0IG9mIHRoZSB0ZXN0cw==}\n"
	"remotes:\n  - {name: r, address: [192.0.2.1], tls-pin: x}\n";

static void test_reads_a_tree_without_secrets(void **state)
{
	json_t *tree = read_tree(secrets, NULL);

	(void)state;
	assert_json(
		tree,
		"{\"server\":{\"listen\":[\"192.0.2.53\"],\"cookies\":{\"secret\":\"(secret)\"}},"
		"\"keys\":[{\"name\":\"a.\",\"secret\":\"(secret)\"}],"
		"\"remotes\":[{\"name\":\"r\",\"address\":[\"192.0.2.1\"],\"tls-pin\":\"x\"}]}");
	json_decref(tree);
}

static void test_no_key_and_no_map(void **state)
{
	json_t *tree = read_tree("", NULL);

	(void)state;
	assert_json(tree, "{}");
	json_decref(tree);
	assert_int_equal(settings_read(&tree, "word", 4, NULL), -EINVAL);
	assert_null(tree);
	assert_int_equal(settings_read(&tree, "a: [b", 5, NULL), -EINVAL);
	assert_null(tree);
}

static const json_t *find(const json_t *tree, const char *path)
{
	char word[64];

	while (tree && *path) {
		size_t len = strcspn(path, ".[");

		snprintf(word, sizeof(word), "%.*s", (int)len, path);
		if (len)
			tree = json_object_get(tree, word);
		path += len;
		if (*path == '[') {
			tree = json_array_get(tree, strtoul(path + 1, NULL, 10));
			path = strchr(path, ']') + 1;
		}
		path += *path == '.';
	}
	return tree;
}

/* Each key of the table with a default, and no list above it, is there. */
static void test_every_default_is_filled_in(void **state)
{
	json_t *tree = read_tree(LISTEN, NULL), *origins;
	const struct words_key *key;

	(void)state;
	assert_int_equal(settings_fill(tree, &origins), 0);
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		if (!key->fallback || strstr(key->path, "[]"))
			continue;
		if (!find(tree, key->path))
			fail_msg("%s is not there", key->path);
		assert_json(json_object_get(origins, key->path), "\"default\"");
	}
	assert_json(find(tree, "server.listen"), "[\"192.0.2.53\"]");
	assert_null(json_object_get(origins, "server.listen"));
	json_decref(tree);
	json_decref(origins);
}

static void test_zones_have_what_their_template_says(void **state)
{
	json_t *tree = read_tree(
		LISTEN "templates:\n- {name: t, ixfr: false, notify: [r]}\n"
		       "zones:\n- {name: a., template: t}\n- {name: b., template: t, ixfr: true}\n",
		NULL);
	json_t *origins;

	(void)state;
	assert_int_equal(settings_fill(tree, &origins), 0);
	assert_json(find(tree, "zones[0].ixfr"), "\"false\"");
	assert_json(find(tree, "zones[0].notify"), "[\"r\"]");
	assert_json(json_object_get(origins, "zones[0].ixfr"), "\"template t\"");
	assert_json(find(tree, "zones[1].ixfr"), "\"true\"");
	assert_null(json_object_get(origins, "zones[1].ixfr"));
	assert_json(json_object_get(origins, "zones[1].journal-size"), "\"default\"");
	assert_json(find(tree, "zones[1].name"), "\"b.\"");
	json_decref(tree);
	json_decref(origins);
}

/* The template "default" is that of a zone that names none. It does not apply to templates. */
static void test_zones_without_a_template_have_the_default_one(void **state)
{
	json_t *tree = read_tree(
		LISTEN
		"templates:\n- {name: default, ixfr: false}\n- {name: t}\n"
		"zones:\n- {name: a.}\n- {name: b., template: t}\n- {name: c., ixfr: true}\n",
		NULL);
	json_t *origins;

	(void)state;
	assert_int_equal(settings_fill(tree, &origins), 0);
	assert_json(find(tree, "zones[0].ixfr"), "\"false\"");
	assert_json(json_object_get(origins, "zones[0].ixfr"), "\"template default\"");
	assert_json(json_object_get(origins, "zones[1].ixfr"), "\"default\"");
	assert_json(find(tree, "zones[2].ixfr"), "\"true\"");
	assert_json(json_object_get(origins, "templates[1].ixfr"), "\"default\"");
	json_decref(tree);
	json_decref(origins);
}

/* What is written is read as the same tree. */
static void test_yaml_is_read_as_the_same(void **state)
{
	static const char text[] = LISTEN
		"  nsid: \"a: #\\\"\\\\ b\"\n  identity: \"null\"\n  allow: [\"::/0\", "
		"\"2001:db8::1\"]\n"
		"zones:\n- name: \"*\"\n  file: \"- x\"\n  groups: [{group: a, template: t}, "
		"{template: u}]\n"
		"- name: b\n  notify: []\nrecursion:\n  local-data: [\"a. TXT \\\"x\\\"\"]\n";
	json_t *tree = read_tree(text, NULL), *again;
	char *yaml;
	size_t n;
	FILE *out = open_memstream(&yaml, &n);

	(void)state;
	settings_put_yaml(out, tree, NULL);
	assert_int_equal(fclose(out), 0);
	again = read_tree(yaml, NULL);
	assert_true(json_equal(tree, again));
	free(yaml);
	json_decref(tree);
	json_decref(again);
}

static void test_yaml_tells_origins(void **state)
{
	json_t *tree = read_tree("log:\n  level: info\nzones:\n- name: a\n  ixfr: true\n", NULL);
	json_t *origins =
		json_pack("{s:s, s:s}", "log.level", "default", "zones[0].ixfr", "template t");
	char *yaml;
	size_t n;
	FILE *out = open_memstream(&yaml, &n);

	(void)state;
	settings_put_yaml(out, tree, origins);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(yaml, "log:\n  level: info # default\nzones:\n  - name: a\n"
				  "    ixfr: true # template t\n");
	free(yaml);
	json_decref(tree);
	json_decref(origins);
}

struct comparison {
	const char *name;
	const char *before;
	const char *after;
	const char *by_reload;
	const char *by_start;
};

static const struct comparison comparisons[] = {
	{ "nothing", "log: {level: info}", "log: {level: info}", "[]", "[]" },
	{ "a default that is written out", "", "log: {level: info}", "[]", "[]" },
	{ "another unit", "cache: {size: 1G}", "cache: {size: 1024M}", "[]", "[]" },
	{ "a value", "log: {level: info}", "log: {level: error}",
	  "[{\"key\":\"log.level\",\"change\":\"changed\",\"was\":\"info\",\"becomes\":\"error\",\"needs_start\":false}]",
	  "[]" },
	{ "a key that needs a start", "", "server: {workers: 3}", "[]",
	  "[{\"key\":\"server.workers\",\"change\":\"changed\",\"was\":\"auto\",\"becomes\":\"3\",\"needs_start\":true}]" },
	{ "a key without a default", "", "zones: [{name: a., file: x}]",
	  "[{\"key\":\"zones[a.]\",\"change\":\"added\",\"needs_start\":false}]", "[]" },
	{ "items by their names", "zones: [{name: a, file: x}, {name: b, file: y}]",
	  "zones: [{name: B., file: z}]",
	  "[{\"key\":\"zones[a.]\",\"change\":\"removed\",\"needs_start\":false},"
	  "{\"key\":\"zones[b.].file\",\"change\":\"changed\",\"was\":\"y\",\"becomes\":\"z\",\"needs_start\":false}]",
	  "[]" },
	{ "items in another order", "zones: [{name: a}, {name: b}]",
	  "zones: [{name: b}, {name: a}]",
	  "[{\"key\":\"zones\",\"change\":\"order\",\"needs_start\":false}]", "[]" },
	{ "what a list has", "server: {allow: [192.0.2.1, 192.0.2.2]}",
	  "server: {allow: [192.0.2.2, 192.0.2.3]}",
	  "[{\"key\":\"server.allow\",\"change\":\"removed\",\"was\":\"192.0.2.1\",\"needs_start\":false},"
	  "{\"key\":\"server.allow\",\"change\":\"added\",\"becomes\":\"192.0.2.3\",\"needs_start\":false}]",
	  "[]" },
	{ "a secret", "keys: [{name: a, secret: c2VjcmV0IG9mIHRoZSB0ZXN0cw==}]",
	  "keys: [{name: a, secret: c2VjcmV0IG9mIHRoZSB0ZXN0cy==}]",
	  "[{\"key\":\"keys[a.].secret\",\"change\":\"changed\",\"was\":\"(secret)\",\"becomes\":\"(secret)\",\"needs_start\":false}]",
	  "[]" },
};

static void test_compares(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const struct comparison *row = &comparisons[i];
		json_t *before = read_tree(row->before, hash_key);
		json_t *after = read_tree(row->after, hash_key);
		json_t *by_reload = json_array(), *by_start = json_array();

		print_message("%s\n", row->name);
		assert_int_equal(settings_compare(by_reload, before, after, SETTINGS_BY_RELOAD), 0);
		assert_int_equal(settings_compare(by_start, before, after, SETTINGS_BY_START), 0);
		assert_json(by_reload, row->by_reload);
		assert_json(by_start, row->by_start);
		json_decref(before);
		json_decref(after);
		json_decref(by_reload);
		json_decref(by_start);
	}
}

/* No row of the table is left out for want of room. */
static void test_every_key_can_be_compared(void **state)
{
	const struct words_key *key;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		json_t *one, *none, *changes;
		char text[256], *dot, *at = text;
		char path[96];

		if (strstr(key->path, "[]") || key->type == WORDS_MAP || key->type == WORDS_MAPS)
			continue;
		snprintf(path, sizeof(path), "%s", key->path);
		text[0] = '\0';
		for (char *word = path; word; word = dot ? dot + 1 : NULL) {
			dot = strchr(word, '.');
			if (dot)
				*dot = '\0';
			at += sprintf(at, "{%s: ", word);
		}
		at += sprintf(at, "value that no default is");
		for (const char *c = key->path; c; c = strchr(c + 1, '.'))
			at += sprintf(at, "}");
		none = json_object();
		changes = json_array();
		one = read_tree(text, hash_key);
		assert_int_equal(settings_compare(changes, none, one, SETTINGS_BY_RELOAD) |
					 settings_compare(changes, none, one, SETTINGS_BY_START),
				 0);
		if (json_array_size(changes) != 1)
			fail_msg("%s: %zu changes", key->path, json_array_size(changes));
		json_decref(one);
		json_decref(none);
		json_decref(changes);
	}
}

/* A configuration keeps its text, and what is loaded as another file is relative to that. */
static void test_loads_as_another_file(void **state)
{
	struct config *config = load_good(LISTEN "zones:\n- {name: a, file: a.zone}\n");
	char err[512];
	int fd = open(file, O_RDONLY), ends[2];

	(void)state;
	config_free(config);
	assert_int_equal(config_load_as(&config, fd, file, "/else/volley.yaml", err, sizeof(err)),
			 0);
	close(fd);
	assert_string_equal(config->path, "/else/volley.yaml");
	assert_string_equal(config->zones[0].file, "/else/a.zone");
	assert_string_equal(config->text, LISTEN "zones:\n- {name: a, file: a.zone}\n");
	config_free(config);
	/* A client may send the descriptor of anything: reading it must not wait. */
	assert_int_equal(pipe(ends), 0);
	assert_int_not_equal(config_load_as(&config, ends[0], "a pipe", file, err, sizeof(err)), 0);
	assert_non_null(strstr(err, "a pipe: cannot be read: "));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_a_tree_without_secrets),
		cmocka_unit_test(test_no_key_and_no_map),
		cmocka_unit_test(test_every_default_is_filled_in),
		cmocka_unit_test(test_zones_have_what_their_template_says),
		cmocka_unit_test(test_zones_without_a_template_have_the_default_one),
		cmocka_unit_test(test_yaml_is_read_as_the_same),
		cmocka_unit_test(test_yaml_tells_origins),
		cmocka_unit_test(test_compares),
		cmocka_unit_test(test_every_key_can_be_compared),
		cmocka_unit_test(test_loads_as_another_file),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
