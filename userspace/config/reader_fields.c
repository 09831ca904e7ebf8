/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads one value: parses it by the type of its key, checks its bounds, puts it into its field. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "config/addresses.h"
#include "config/fields.h"
#include "config/reader.h"
#include "config/value.h"

#define WORD_CAP 1024 /* octets of a domain name as text */

/* --- Numbers ---------------------------------------------------------------------------------- */

/* The bounds of a key fit its field. */
static void put_field_number(const struct words_key *key, void *at, uint64_t value)
{
	uint8_t *octets = at;

	if (key->type == WORDS_PORT) {
		*(uint16_t *)at = htons((uint16_t)value);
		return;
	}
	if (key->type == WORDS_BITS) {
		octets[0] = (uint8_t)(value >> 8);
		octets[1] = (uint8_t)value;
		return;
	}
	switch (key->n_bytes) {
	case 1:
		*octets = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

/* NODE is the written value. If it is NULL, TEXT is the default, which is always accepted. */
static uint64_t read_field_number(struct reader *reader, const struct words_key *key,
				  const struct yamltree *node, const char *text)
{
	uint64_t value = 0;
	int err = value_read_number(key, text, &value);

	assert(node || !err);
	if (err)
		document_refuse(&reader->document, node, text);
	else
		reader_note(reader, key, &value, sizeof(value));
	return value;
}

static uint64_t read_choices(struct reader *reader, const struct words_key *key,
			     const struct yamltree *list)
{
	const struct yamltree *item = list ? list->first : NULL;
	uint64_t bits = 0, bit;

	for (; item && !reader->document.failed; item = item->next) {
		bit = 1ull << read_field_number(reader, key, item, item->text);
		if (bits & bit)
			document_refuse(&reader->document, item, item->text);
		bits |= bit;
	}
	return bits;
}

static void fill_number(struct reader *reader, const struct words_key *key,
			const struct yamltree *node, void *object)
{
	const char *text = node ? node->text : key->fallback;
	uint64_t value;

	if (key->type == WORDS_CHOICES)
		value = read_choices(reader, key, node);
	else if (text)
		value = read_field_number(reader, key, node, text);
	else
		return;
	if (!reader->document.failed)
		put_field_number(key, fields_at(key, object), value);
}

static void fill_cores(struct reader *reader, const struct words_key *key,
		       const struct yamltree *list, void *object)
{
	uint16_t *cores = reader_memory(reader, list->n, sizeof(*cores));
	const struct yamltree *item = list->first;

	*(uint16_t **)fields_at(key, object) = cores;
	fields_set_n(key, object, cores ? list->n : 0);
	for (uint32_t i = 0; cores && i < list->n; i++, item = item->next) {
		cores[i] = (uint16_t)read_field_number(reader, key, item, item->text);
		for (uint32_t j = 0; j < i; j++)
			if (cores[j] == cores[i])
				document_refuse(&reader->document, item, item->text);
	}
}

/* --- Texts ------------------------------------------------------------------------------------ */

static int copy_field(const char *text, char **out)
{
	*out = strdup(text);
	return *out ? 0 : -ENOMEM;
}

/* Keys in items of lists have as many places as the list has items. */
static void note_place(struct reader *reader, const struct words_key *key,
		       const struct yamltree *node)
{
	if (node && !strstr(key->path, "[]"))
		reader->config->places[words_key_number(key)] =
			(struct config_place){ node->file, node->line };
}

static int read_path(struct reader *reader, const struct words_key *key, const char *text,
		     char **out)
{
	if (!*text)
		return -EINVAL;
	*out = reader_path(reader, text);
	if (!*out)
		return -ENOMEM;
	if (key->type != WORDS_SOCKET || strlen(*out) < sizeof(((struct sockaddr_un *)0)->sun_path))
		return 0;
	free(*out);
	*out = NULL;
	return -ERANGE;
}

/* Whether the host has the user or group is looked up later (control/rights.h). */
static int check_user(const char *text)
{
	if (!strncmp(text, CONFIG_GROUP, strlen(CONFIG_GROUP)))
		text += strlen(CONFIG_GROUP);
	return *text && !text[strcspn(text, ":, \t\n\r")] ? 0 : -EINVAL;
}

/* 0, or the code for a text that may not be copied unchanged. */
static int check_text(const struct words_key *key, const char *text)
{
	struct config_prefix prefix;
	struct config_addr addr;

	switch (key->type) {
	case WORDS_TEXT:
		return strlen(text) < key->min || strlen(text) > key->max ? -ERANGE : 0;
	case WORDS_NAME:
		return value_check_name(text, key->min, key->max);
	case WORDS_PREFIXES:
		return key->field == WORDS_FIELD_PREFIXES ? value_read_prefix(text, &prefix) :
							    value_read_any_prefix(text, &prefix);
	case WORDS_UPSTREAM:
		return strchr(text, '#') ? -EINVAL : value_read_upstream(text, &addr);
	case WORDS_UPSTREAM_NAMED:
	case WORDS_UPSTREAMS:
		return value_read_upstream(text, &addr);
	case WORDS_USERS:
		return check_user(text);
	case WORDS_HOSTS:
		return strchr(text, '@') ? -EINVAL : value_read_addr(text, 53, &addr);
	default:
		return 0;
	}
}

/* The first word of a command is a path if it has a slash; otherwise it is searched in PATH. */
static bool is_path(const struct words_key *key, const char *text, bool is_first)
{
	return key->type == WORDS_PATH || key->type == WORDS_SOCKET || key->type == WORDS_PATHS ||
	       (key->type == WORDS_COMMAND && is_first && (!*text || strchr(text, '/')));
}

/* The text of NODE, or the default, as a new string; NULL after a fault, which is reported. */
static char *read_field_text(struct reader *reader, const struct words_key *key,
			     const struct yamltree *node, const char *text)
{
	bool is_first = node && node->parent && node->parent->first == node;
	char *out = NULL;
	int err;

	if (is_path(key, text, is_first)) {
		note_place(reader, key, node);
		err = read_path(reader, key, text, &out);
	} else if (key->type == WORDS_DOMAIN || key->type == WORDS_DOMAINS) {
		err = value_read_domain(text, &out);
	} else {
		err = check_text(key, text) ?: copy_field(text, &out);
	}
	if (err == -ENOMEM)
		document_fail_memory(&reader->document);
	else if (err)
		document_refuse(&reader->document, node, text);
	else
		reader_note(reader, key, out, strlen(out));
	return out;
}

static void refuse_same_text(struct reader *reader, const struct yamltree *list, char *const *texts,
			     uint32_t at, const struct yamltree *node)
{
	const struct yamltree *first = list->first;

	for (uint32_t i = 0; i < at; i++, first = first->next)
		if (!strcmp(texts[i], texts[at]))
			document_refuse_twice(&reader->document, node, "", texts[at], first);
}

static void fill_texts(struct reader *reader, const struct words_key *key,
		       const struct yamltree *list, void *object)
{
	char **texts = list->n ? reader_memory(reader, list->n + 1, sizeof(*texts)) : NULL;
	const struct yamltree *item = list->first;

	*(char ***)fields_at(key, object) = texts;
	for (uint32_t i = 0; item && !reader->document.failed; i++, item = item->next) {
		texts[i] = read_field_text(reader, key, item, item->text);
		if ((key->type == WORDS_REMOTES || key->type == WORDS_USERS) && texts[i])
			refuse_same_text(reader, list, texts, i, item);
	}
}

/* --- Octets ----------------------------------------------------------------------------------- */

static void fill_octets(struct reader *reader, const struct words_key *key,
			const struct yamltree *node, void *object)
{
	uint8_t *octets = reader_memory(reader, key->max, 1);
	size_t n = 0;
	int err;

	if (!octets)
		return;
	err = key->type == WORDS_BASE64 ?
		      value_read_base64(node->text, key->min, key->max, octets, &n) :
		      value_read_octets(node->text, key->min, key->max, octets, &n);
	*(uint8_t **)fields_at(key, object) = octets;
	fields_set_n(key, object, err ? 0 : (uint32_t)n);
	if (err)
		explicit_bzero(octets, key->max); /* it may have part of a secret */
	if (err == -ERANGE && key->is_secret)
		document_fail(&reader->document, node, "",
			      "has %zu octets, give %zu to %zu: the output of openssl rand -base64 "
			      "32, for example",
			      n, (size_t)key->min, (size_t)key->max);
	else if (err)
		document_refuse(&reader->document, node, node->text);
	else
		reader_note(reader, key, octets, n);
}

/* --- Addresses -------------------------------------------------------------------------------- */

void reader_refuse_same(struct reader *reader, const struct yamltree *list,
			const struct config_addr *addrs, uint32_t n)
{
	const struct yamltree *item = list->first;

	for (uint32_t i = 0; i < n; i++, item = item->next)
		for (uint32_t j = 0; j < i; j++)
			if (!memcmp(&addrs[i], &addrs[j], sizeof(addrs[i])))
				document_refuse_twice(&reader->document, item, "", item->text,
						      reader_nth(list, j));
}

void reader_check_scope(struct reader *reader, const struct yamltree *node,
			const struct config_addr *addr, bool is_needed)
{
	const struct port_addr host = config_port_addr(addr);

	if (addr->scope_id || reader->document.failed)
		return;
	if (strchr(node->text, '%'))
		document_fail(&reader->document, node, "",
			      "%s: this host has no such interface, or not yet", node->text);
	else if (is_needed && port_addr_is_link_local(&host))
		document_fail(&reader->document, node, "",
			      "%s is a link-local address: give its interface, too, as in "
			      "fe80::1%%eth0",
			      node->text);
}

static void fill_addresses(struct reader *reader, const struct words_key *key,
			   const struct yamltree *list, void *object)
{
	struct config_addr *addrs = reader_memory(reader, list->n, sizeof(*addrs));
	const struct yamltree *item = list->first;

	*(struct config_addr **)fields_at(key, object) = addrs;
	fields_set_n(key, object, addrs ? list->n : 0);
	for (uint32_t i = 0; addrs && i < list->n; i++, item = item->next)
		if (value_read_addr(item->text, (uint16_t)key->min, &addrs[i]))
			document_refuse(&reader->document, item, item->text);
		else
			reader_check_scope(reader, item, &addrs[i], key->type != WORDS_PEERS);
	if (!addrs || reader->document.failed)
		return;
	reader_refuse_same(reader, list, addrs, list->n);
	reader_note(reader, key, addrs, list->n * sizeof(*addrs));
}

static void fill_address(struct reader *reader, const struct words_key *key,
			 const struct yamltree *node, void *object)
{
	struct config_addr *addr = fields_at(key, object);

	if (!strchr(node->text, '@') || value_read_addr(node->text, 0, addr))
		document_refuse(&reader->document, node, node->text);
	else
		reader_check_scope(reader, node, addr, true);
	if (!reader->document.failed)
		reader_note(reader, key, addr, sizeof(*addr));
}

static void fill_prefixes(struct reader *reader, const struct words_key *key,
			  const struct yamltree *list, void *object)
{
	uint32_t most = key->max ? (uint32_t)key->max : CONFIG_PREFIXES_MAX;
	const struct yamltree *item = list->first, *first;
	struct config_prefix *prefixes;

	if (list->n > most)
		document_fail(&reader->document, list, "",
			      "has %u prefixes, and %u is the most: join some", list->n, most);
	prefixes = reader_memory(reader, list->n, sizeof(*prefixes));
	*(struct config_prefix **)fields_at(key, object) = prefixes;
	fields_set_n(key, object, prefixes ? list->n : 0);
	for (uint32_t i = 0; item && !reader->document.failed; i++, item = item->next) {
		if (value_read_prefix(item->text, &prefixes[i]))
			document_refuse(&reader->document, item, item->text);
		first = list->first;
		for (uint32_t j = 0; j < i; j++, first = first->next)
			if (!memcmp(&prefixes[i], &prefixes[j], sizeof(prefixes[i])))
				document_refuse_twice(&reader->document, item, "", item->text,
						      first);
	}
	reader_note(reader, key, prefixes, prefixes ? list->n * sizeof(*prefixes) : 0);
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* The next word at *AT, separated by spaces. False: there is none, or it is too long. */
static bool read_word(const char **at, char word[WORD_CAP])
{
	size_t len;

	*at += strspn(*at, " ");
	len = strcspn(*at, " ");
	if (!len || len >= WORD_CAP)
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len;
	return true;
}

/* Reads [any|PREFIX] [key NAME] [tls]; at least one part is required. 0, -EINVAL or -ENOMEM. */
static int read_rule(const char *text, struct config_rule *rule)
{
	char word[WORD_CAP];
	bool has_word = read_word(&text, word);

	if (!has_word)
		return -EINVAL;
	rule->has_prefix = !value_read_prefix(word, &rule->prefix);
	if (rule->has_prefix || !strcmp(word, "any"))
		has_word = read_word(&text, word);
	if (has_word && !strcmp(word, "key")) {
		int err = read_word(&text, word) ? value_read_domain(word, &rule->key) : -EINVAL;

		if (err)
			return err;
		has_word = read_word(&text, word);
	}
	rule->has_tls = has_word && !strcmp(word, "tls");
	if (rule->has_tls)
		has_word = read_word(&text, word);
	return has_word || text[strspn(text, " ")] ? -EINVAL : 0;
}

static void fill_rules(struct reader *reader, const struct words_key *key,
		       const struct yamltree *list, void *object)
{
	struct config_rules *rules = fields_at(key, object);
	const struct yamltree *item = list->first;

	rules->rules = reader_memory(reader, list->n, sizeof(*rules->rules));
	rules->n = rules->rules ? list->n : 0;
	for (uint32_t i = 0; i < rules->n && !reader->document.failed; i++, item = item->next) {
		int err = read_rule(item->text, &rules->rules[i]);

		if (err == -ENOMEM)
			document_fail_memory(&reader->document);
		else if (err)
			document_refuse(&reader->document, item, item->text);
	}
}

/* --- All of them ------------------------------------------------------------------------------ */

static void fill_text(struct reader *reader, const struct words_key *key,
		      const struct yamltree *node, void *object)
{
	const char *text = node ? node->text : key->fallback;

	if (text)
		*(char **)fields_at(key, object) = read_field_text(reader, key, node, text);
}

static void fill_name(struct reader *reader, const struct words_key *key,
		      const struct yamltree *node, void *object)
{
	if (value_check_interface(node->text)) {
		document_refuse(&reader->document, node, node->text);
		return;
	}
	strcpy(fields_at(key, object), node->text);
	reader_note(reader, key, node->text, strlen(node->text));
}

void reader_fill_field(struct reader *reader, const struct words_key *key,
		       const struct yamltree *node, void *object)
{
	static void (*const fill[])(struct reader *, const struct words_key *,
				    const struct yamltree *, void *) = {
		[WORDS_FIELD_ADDRESS] = fill_address,     [WORDS_FIELD_NAME] = fill_name,
		[WORDS_FIELD_ADDRESSES] = fill_addresses, [WORDS_FIELD_PREFIXES] = fill_prefixes,
		[WORDS_FIELD_CORES] = fill_cores,         [WORDS_FIELD_OCTETS] = fill_octets,
		[WORDS_FIELD_RULES] = fill_rules,         [WORDS_FIELD_TEXTS] = fill_texts,
	};

	if (key->field == WORDS_FIELD_NUMBER)
		fill_number(reader, key, node, object);
	else if (key->field == WORDS_FIELD_TEXT)
		fill_text(reader, key, node, object);
	else if (key->field != WORDS_NO_FIELD && node)
		fill[key->field](reader, key, node, object);
}
