/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration that is loaded again gives what a load of all of it gives, whatever has changed:
 * its zones are left out only if they are those of the configuration before.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "config/fields.h"
#include "configtext.h"

#define N_RANDOM 3000u
#define TEXT_CAP 4096
#define SECRET   "MDEyMzQ1Njc4OWFiY2RlZg=="
#define OTHER    "QTEyMzQ1Njc4OWFiY2RlZg=="
#define N_FILES  4

/* The files of the configuration, by their names in the folder. */
static const char *const names[N_FILES] = { "file", "conf.d/1.yaml", "conf.d/2.yaml", "secret" };

static const char *const first_texts[N_FILES] = {
	"include: conf.d/*.yaml\n" LISTEN "  storage: store\n"
	"keys:\n  - name: k\n    secret-file: secret\n"
	"remotes:\n  - name: r\n    address: [192.0.2.1]\n"
	"templates:\n  - name: default\n    file: \"%s.zone\"\n    allow-transfer: [any]\n"
	"  - name: t\n    primaries: [r]\n",
	"zones:\n  - name: a\n    file: a\n  - name: b\n    notify: [r]\n"
	"  # a comment\n  - name: c\n    template: t\n",
	"zones:\n  - {name: d, file: d}\n  - name: e\n    zonemd: require\n",
	SECRET "\n",
};

static void path_of(char path[128], const char *name)
{
	snprintf(path, 128, "%s/%s", tmpfolder, name);
}

/* NULL: there is none. */
static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *out;

	path_of(path, name);
	unlink(path);
	if (!text)
		return;
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static void put_first_files(void)
{
	for (size_t i = 0; i < N_FILES; i++)
		put_file(names[i], first_texts[i]);
}

/* The values of all keys. */
static struct fields_octets values_of(struct config *config)
{
	struct fields_octets octets = { 0 };
	struct words_level top;

	words_level_top(&top);
	fields_put(&top, config, &octets);
	for (uint32_t i = 0; i < config->n_zones; i++)
		fields_put_text(&octets, config->zones[i].template_name);
	fields_put_octets(&octets, config->start_digests, sizeof(config->start_digests));
	fields_put_octets(&octets, config->places, sizeof(config->places));
	fields_put_octets(&octets, config->digest, sizeof(config->digest));
	fields_put_text(&octets, config->text);
	for (uint32_t i = 0; i < config->n_files; i++)
		fields_put_text(&octets, config->files[i]);
	assert_false(octets.failed);
	return octets;
}

static bool have_same_values(struct config *a, struct config *b)
{
	struct fields_octets one = values_of(a), other = values_of(b);
	bool is_same = one.n == other.n && !memcmp(one.bytes, other.bytes, one.n);

	free(one.bytes);
	free(other.bytes);
	return is_same;
}

/* Loads all of it, and again after BEFORE. Returns whether the zones were left out. */
static bool assert_again(struct config *before, const char *what, bool *is_good)
{
	struct config *all, *again;
	char err[512], all_err[512];
	int all_code = config_load(&all, file, all_err, sizeof(all_err));
	int code = config_load_again(&again, file, before, err, sizeof(err));
	bool has_same_zones = !code && again->has_same_zones;

	if (code != all_code || strcmp(err, all_err) != 0)
		fail_msg("%s: %d %s, and all of it %d %s", what, code, err, all_code, all_err);
	*is_good = !code;
	if (code)
		return false;
	if (has_same_zones) {
		assert_int_equal(again->n_zones, 0);
		again->zones = before->zones;
		again->n_zones = before->n_zones;
	}
	if (!have_same_values(all, again))
		fail_msg("%s: other values", what);
	if (has_same_zones) {
		again->zones = NULL;
		again->n_zones = 0;
	}
	config_free(all);
	config_free(again);
	return has_same_zones;
}

static struct config *load_first(void)
{
	struct config *config;
	char err[512];

	put_first_files();
	if (config_load(&config, file, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(config->n_zones, 5);
	return config;
}

/* FROM in the file becomes TO; FROM "": TO is added at its end. TO NULL: the file goes. */
static const struct {
	const char *name;
	size_t file;
	const char *from, *to;
	bool has_same_zones, is_refused;
} rows[] = {
	{ "nothing", 0, "", "", true, false },
	{ "another secret in its file", 3, SECRET, OTHER, true, false },
	{ "no secret in its file", 3, SECRET, "", false, true },
	{ "a zone more", 1, "", "  - name: f\n", false, false },
	{ "a zone less", 1, "  - name: a\n    file: a\n", "", false, false },
	{ "another file", 1, "file: a", "file: x", false, false },
	{ "another name", 1, "name: a", "name: x", false, false },
	{ "another order", 1, "name: a\n    file: a", "file: a\n    name: a", false, false },
	{ "a comment", 1, "# a comment", "# a remark", false, false },
	{ "an empty line", 1, "", "\n", false, false },
	{ "a template", 0, "[any]", "[192.0.2.1]", false, false },
	{ "the name of a template", 0, "name: default", "name: other", false, true },
	{ "a remote", 0, "name: r", "name: s", false, true },
	{ "the folder of the store", 0, "storage: store", "storage: depot", false, false },
	{ "another key", 0, "", "log: {level: debug}\n", false, false },
	{ "flow style", 2, "{name: d, file: d}", "{name: d, file: x}", false, false },
	{ "a tab", 1, "    file: a", "\tfile: a", false, true },
	{ "an anchor", 1, "name: a", "&x name: a", false, false },
	{ "an alias", 1, "name: c", "name: *x", false, true },
	{ "a zone twice", 1, "", "  - name: d\n", false, true },
	{ "a key twice", 1, "", "    template: t\n", false, true },
	{ "a file less", 2, "", NULL, false, false },
	{ "an empty file", 1, NULL, "", false, false },
};

static void change_file(size_t row, char text[TEXT_CAP])
{
	const char *first = first_texts[rows[row].file], *from = rows[row].from;
	const char *at = from ? (*from ? strstr(first, from) : first + strlen(first)) : first;

	assert_non_null(at);
	snprintf(text, TEXT_CAP, "%.*s%s%s", (int)(at - first), first, rows[row].to,
		 from ? at + strlen(from) : "");
}

static void test_rows(void **state)
{
	struct config *before = load_first();
	char text[TEXT_CAP];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_good;

		put_first_files();
		if (rows[i].to)
			change_file(i, text);
		put_file(names[rows[i].file], rows[i].to ? text : NULL);
		if (assert_again(before, rows[i].name, &is_good) != rows[i].has_same_zones ||
		    is_good == rows[i].is_refused)
			fail_msg("%s: %d", rows[i].name, is_good);
	}
	config_free(before);
}

/* One more file fits the pattern, and the same text is in another file. */
static void test_files_come_and_move(void **state)
{
	struct config *before = load_first();
	bool is_good;

	(void)state;
	put_file("conf.d/3.yaml", "");
	assert_false(assert_again(before, "an empty file more", &is_good));
	assert_true(is_good);
	put_file("conf.d/3.yaml", first_texts[2]);
	put_file("conf.d/2.yaml", NULL);
	assert_false(assert_again(before, "another name of a file", &is_good));
	assert_true(is_good);
	put_file("conf.d/3.yaml", NULL);
	put_file("conf.d/1.yaml", first_texts[2]);
	put_file("conf.d/2.yaml", first_texts[1]);
	assert_false(assert_again(before, "the texts of two files exchanged", &is_good));
	assert_true(is_good);
	config_free(before);
}

/* The text has no pattern: a file that comes later is not in force. */
static void test_pattern_without_files(void **state)
{
	struct config *before;
	char err[512];
	bool is_good;

	(void)state;
	put_first_files();
	put_file(names[1], NULL);
	put_file(names[2], NULL);
	assert_int_equal(config_load(&before, file, err, sizeof(err)), 0);
	assert_true(assert_again(before, "a pattern without files", &is_good));
	assert_true(is_good);
	config_free(before);
}

/* volley-runner opens for volleyd the folders that it has found itself. */
static void test_folder_without_files(void **state)
{
	struct config *before;
	char text[TEXT_CAP], path[128], err[512];
	bool is_good;

	(void)state;
	put_first_files();
	snprintf(text, sizeof(text), "include: \"*.d/*.yaml\"%s", strchr(first_texts[0], '\n'));
	put_file(names[0], text);
	assert_int_equal(config_load(&before, file, err, sizeof(err)), 0);
	assert_true(config_has_digest(file, before->digest));
	path_of(path, "other.d");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(config_has_digest(file, before->digest));
	assert_false(assert_again(before, "a folder without files", &is_good));
	assert_true(is_good);
	assert_int_equal(rmdir(path), 0);
	assert_true(config_has_digest(file, before->digest));
	config_free(before);
}

static void test_without_a_configuration_before(void **state)
{
	bool is_good;

	(void)state;
	put_first_files();
	assert_false(assert_again(NULL, "none", &is_good));
	assert_true(is_good);
}

/* What was loaded again is the configuration before the next one. */
static void test_again_and_again(void **state)
{
	struct config *before = load_first(), *second, *third;
	char err[512];

	(void)state;
	assert_int_equal(config_load_again(&second, file, before, err, sizeof(err)), 0);
	assert_int_equal(config_load_again(&third, file, second, err, sizeof(err)), 0);
	assert_true(second->has_same_zones && third->has_same_zones);
	assert_string_equal(third->text, before->text);
	config_free(second);
	config_free(third);
	assert_true(config_has_digest(file, before->digest));
	put_file(names[2], "");
	assert_false(config_has_digest(file, before->digest));
	config_free(before);
}

static uint32_t rolled = 7;

static uint32_t roll(uint32_t n)
{
	rolled = rolled * 1664525u + 1013904223u;
	return (rolled >> 8) % n;
}

/* Takes out, repeats, moves or changes a few octets or a line. */
static void edit_randomly(char text[TEXT_CAP])
{
	static const char others[] = " \n#-:abrt[]{}\"012";
	size_t len = strlen(text), at, n;
	char *line;

	if (!len)
		return;
	at = roll((uint32_t)len);
	line = memrchr(text, '\n', at);
	line = line ? line + 1 : text;
	n = strcspn(line, "\n");
	n += line[n] == '\n';
	switch (roll(4)) {
	case 0:
		text[at] = others[roll(sizeof(others) - 1)];
		break;
	case 1: /* the line goes */
		memmove(line, line + n, strlen(line + n) + 1);
		break;
	case 2: /* it comes twice */
		if (len + n < TEXT_CAP)
			memmove(line + n, line, strlen(line) + 1);
		break;
	default: /* nothing */
		break;
	}
}

static void test_random_edits(void **state)
{
	struct config *before = load_first();
	unsigned int n_same = 0, n_good = 0, n_others = 0;
	char text[TEXT_CAP];

	(void)state;
	for (unsigned int i = 0; i < N_RANDOM; i++) {
		size_t at = roll(3);
		bool is_good, is_changed;

		snprintf(text, sizeof(text), "%s", first_texts[at]);
		for (uint32_t n = roll(3); n; n--)
			edit_randomly(text);
		put_first_files();
		put_file(names[at], text);
		is_changed = strcmp(text, first_texts[at]) != 0;
		assert_int_equal(assert_again(before, text, &is_good), !is_changed);
		n_same += !is_changed;
		n_good += is_good && is_changed;
		n_others += !is_good;
	}
	assert_true(n_same > N_RANDOM / 20 && n_good > N_RANDOM / 20 && n_others > N_RANDOM / 20);
	config_free(before);
}

/* Zones that are kept do not count for the digests of keys that need a start. */
static void test_no_key_of_a_zone_needs_a_start(void **state)
{
	const struct words_key *key;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		if (!strncmp(key->path, "zones", 5))
			assert_false(key->needs_start || key->is_secret);
}

static int make_folder(void **state)
{
	char path[128];

	if (tmpfolder_make(state))
		return -1;
	path_of(path, "conf.d");
	return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
	char path[128];

	for (size_t i = 0; i < N_FILES; i++)
		put_file(names[i], NULL);
	path_of(path, "conf.d");
	rmdir(path);
	return tmpfolder_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_files_come_and_move),
		cmocka_unit_test(test_pattern_without_files),
		cmocka_unit_test(test_folder_without_files),
		cmocka_unit_test(test_without_a_configuration_before),
		cmocka_unit_test(test_again_and_again),
		cmocka_unit_test(test_random_edits),
		cmocka_unit_test(test_no_key_of_a_zone_needs_a_start),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
