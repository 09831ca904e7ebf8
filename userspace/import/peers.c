/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/peers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "config/value.h"
#include "config/words.h"

#define NOBODY "0.0.0.0" /* RFC 1122 section 3.2.1.3: never the source of a query */

#define STORAGE "/var/lib/volley"

/* --- Keys ------------------------------------------------------------------------------------- */

static void canonical(const char *name, char buf[IMPORT_TEXT_CAP])
{
	char *domain = NULL;

	if (value_read_domain(name, &domain))
		domain = NULL;
	snprintf(buf, IMPORT_TEXT_CAP, "%s", domain ? domain : name);
	free(domain);
}

static json_t *find(const json_t *list, const char *key, const char *text)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *there = json_string_value(json_object_get(item, key));

		if (there && !strcmp(there, text))
			return item;
	}
	return NULL;
}

void import_key(struct import *import, const struct import_node *node, const char *name,
		const char *algorithm, const char *secret)
{
	static const char *const known[] = { "hmac-sha256", "hmac-sha384", "hmac-sha512" };
	const char *short_name =
		strncasecmp(algorithm ? algorithm : "", "hmac-", 5) ? algorithm : algorithm + 5;
	char canon[IMPORT_TEXT_CAP];
	uint8_t octets[1024];
	bool is_lost = true;
	size_t n = 0, i = 0;
	json_t *item;

	if (!name || !secret) {
		import_lost(import, node, "a key needs a name and a secret");
		return;
	}
	canonical(name, canon);
	while (i < 3 && strcasecmp(short_name ? short_name : "sha256", known[i] + 5))
		i++;
	if (i == 3)
		import_lost(import, node, "key %s: Volley has no %s: use hmac-sha256 at both ends",
			    name, algorithm);
	else if (value_read_base64(secret, 16, sizeof(octets), octets, &n))
		import_lost(import, node,
			    "key %s: the secret must have at least 16 octets, in base64", name);
	else
		is_lost = false;
	if (is_lost) {
		json_object_set_new(import->lost_keys, canon, json_true());
		return;
	}
	explicit_bzero(octets, sizeof(octets));
	if (find(json_object_get(import->out, "keys"), "name", canon))
		return;
	item = import_item(import, import->out, "keys");
	import_put(import, item, "name", canon);
	import_put(import, item, "algorithm", known[i]);
	import_put(import, item, "secret", secret);
}

const char *import_key_name(struct import *import, const struct import_node *node, const char *name,
			    char buf[IMPORT_TEXT_CAP])
{
	canonical(name, buf);
	if (find(json_object_get(import->out, "keys"), "name", buf))
		return buf;
	import_lost(import, node,
		    json_object_get(import->lost_keys, buf) ?
			    "it needs the key %s, which is not carried over" :
			    "there is no key %s",
		    name);
	return NULL;
}

/* --- Remotes ---------------------------------------------------------------------------------- */

static void name_of(const char *address, unsigned int n, char *out, size_t cap)
{
	size_t len;

	snprintf(out, cap, n ? "%.50s.%u" : "%.50s", address, n);
	len = strlen(out);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)out[i]) && !strchr("._-", out[i]))
			out[i] = '-';
}

static bool is_same(const json_t *item, const char *key, const char *text)
{
	const char *there = json_string_value(json_object_get(item, key));

	return text ? there && !strcmp(there, text) : !there;
}

static bool is_remote(const json_t *item, const struct import_remote *remote, const char *key)
{
	const json_t *source = json_array_get(json_object_get(item, "source"), 0);
	const char *from = json_string_value(source);

	return !strcmp(json_string_value(json_array_get(json_object_get(item, "address"), 0)),
		       remote->address) &&
	       is_same(item, "key", key) && is_same(item, "tls-name", remote->tls_name) &&
	       is_same(item, "tls-pin", remote->tls_pin) &&
	       (remote->source ? from && !strcmp(from, remote->source) : !from);
}

static json_t *make_remote(struct import *import, const struct import_remote *remote,
			   const char *key)
{
	json_t *item, *all = import_list(import, import->out, "remotes");
	char name[64];
	size_t i;

	if (!remote->name)
		json_array_foreach(all, i, item)
			if (is_remote(item, remote, key))
				return item;
	if (remote->name)
		name_of(remote->name, 0, name, sizeof(name));
	else
		for (unsigned int n = 0;
		     name_of(remote->address, n, name, sizeof(name)), find(all, "name", name); n++)
			;
	item = find(all, "name", name);
	if (item)
		return item;
	item = import_item(import, import->out, "remotes");
	import_put(import, item, "name", name);
	return item;
}

const char *import_remote(struct import *import, const struct import_node *node,
			  const struct import_remote *remote)
{
	char key[IMPORT_TEXT_CAP];
	struct config_addr addr;
	json_t *item;

	if (value_read_addr(remote->address, 53, &addr)) {
		import_lost(import, node, "\"%s\" is no address of a server", remote->address);
		return NULL;
	}
	if (remote->key && !import_key_name(import, node, remote->key, key))
		return NULL;
	item = make_remote(import, remote, remote->key ? key : NULL);
	import_append(import, item, "address", remote->address);
	if (remote->source)
		import_append(import, item, "source", remote->source);
	if (remote->key)
		import_put(import, item, "key", key);
	if (remote->tls_name || remote->tls_pin)
		import_put(import, item, "tls", "strict");
	if (remote->tls_name)
		import_put(import, item, "tls-name", remote->tls_name);
	if (remote->tls_pin)
		import_put(import, item, "tls-pin", remote->tls_pin);
	return json_string_value(json_object_get(item, "name"));
}

/* --- Prefixes --------------------------------------------------------------------------------- */

struct prefix {
	uint8_t octets[16];
	int family, bits;
};

/* "10" and "192.168" are completed with zeros, like named does. */
static bool read_address(const char *text, struct prefix *out)
{
	char full[64];
	int n_dots = 0;

	out->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	snprintf(full, sizeof(full), "%s", text);
	for (const char *c = text; *c; c++)
		n_dots += *c == '.';
	for (; out->family == AF_INET && n_dots < 3 && strlen(full) < sizeof(full) - 3; n_dots++)
		strcat(full, ".0");
	return inet_pton(out->family, full, out->octets) == 1;
}

static int mask_bits(const char *mask)
{
	struct prefix m;
	int bits = 0;

	if (!read_address(mask, &m))
		return -1;
	while (bits < (m.family == AF_INET ? 32 : 128) && m.octets[bits / 8] & (0x80 >> bits % 8))
		bits++;
	for (int i = bits; i < (m.family == AF_INET ? 32 : 128); i++)
		if (m.octets[i / 8] & (0x80 >> i % 8))
			return -1;
	return bits;
}

static bool read_prefix(const char *text, struct prefix *out)
{
	char address[IMPORT_TEXT_CAP], *behind, *end;
	bool is_short;
	int most;

	snprintf(address, sizeof(address), "%s", text);
	behind = strpbrk(address, "/&");
	is_short = !behind && !strchr(text, ':') &&
		   (!strchr(text, '.') || strspn(text, "0123456789.") != strlen(text));
	if (is_short)
		return false;
	end = behind;
	if (behind)
		*behind++ = 0;
	if (!read_address(address, out))
		return false;
	most = out->family == AF_INET ? 32 : 128;
	out->bits = most;
	if (behind && text[end - address] == '&')
		out->bits = mask_bits(behind);
	else if (behind)
		out->bits = isdigit((unsigned char)*behind) ? (int)strtol(behind, &end, 10) : -1;
	if (out->bits < 0 || out->bits > most)
		return false;
	for (int i = out->bits; i < most; i++)
		out->octets[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	return true;
}

bool import_prefix(const char *text, char buf[IMPORT_TEXT_CAP])
{
	struct prefix prefix = { 0 };
	char address[INET6_ADDRSTRLEN];

	if (!strcmp(text, "any")) {
		snprintf(buf, IMPORT_TEXT_CAP, "any");
		return true;
	}
	if (!read_prefix(text, &prefix))
		return false;
	inet_ntop(prefix.family, prefix.octets, address, sizeof(address));
	if (prefix.bits == (prefix.family == AF_INET ? 32 : 128))
		snprintf(buf, IMPORT_TEXT_CAP, "%s", address);
	else
		snprintf(buf, IMPORT_TEXT_CAP, "%s/%d", address, prefix.bits);
	return true;
}

bool import_prefix_meets(const char *a, const char *b)
{
	struct prefix first, second;
	int bits;

	if (!strcmp(a, "any") || !strcmp(b, "any"))
		return true;
	if (!read_prefix(a, &first) || !read_prefix(b, &second) || first.family != second.family)
		return false;
	bits = first.bits < second.bits ? first.bits : second.bits;
	for (int i = 0; i < bits; i++)
		if ((first.octets[i / 8] ^ second.octets[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

const char *import_prefix_common(const char *a, const char *b)
{
	struct prefix first, second;

	if (!import_prefix_meets(a, b))
		return NULL;
	if (!strcmp(a, "any") || !read_prefix(a, &first))
		return b;
	if (!strcmp(b, "any") || !read_prefix(b, &second))
		return a;
	return first.bits < second.bits ? b : a;
}

void import_rule(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, const char *key_name)
{
	char text[2 * IMPORT_TEXT_CAP + 8], reduced[IMPORT_TEXT_CAP] = "", name[IMPORT_TEXT_CAP];
	struct config_prefix checked;

	if (*prefix && (!import_prefix(prefix, reduced) ||
			(strcmp(reduced, "any") && value_read_prefix(reduced, &checked)))) {
		import_lost(import, node, "\"%s\" is no prefix: write ADDRESS/LENGTH", prefix);
		return;
	}
	if (key_name && !import_key_name(import, node, key_name, name))
		return;
	if (key_name && (!*reduced || !strcmp(reduced, "any")))
		snprintf(text, sizeof(text), "key %s", name);
	else if (key_name)
		snprintf(text, sizeof(text), "%s key %s", reduced, name);
	else
		snprintf(text, sizeof(text), "%s", *reduced ? reduced : "any");
	import_append(import, at, key, text);
}

/* True if a rule of import_rule() allows an address of the prefix. */
static bool is_rule_for(const char *rule, const char *prefix)
{
	char address[IMPORT_TEXT_CAP];

	if (!strncmp(rule, "key ", 4))
		return true;
	snprintf(address, sizeof(address), "%.*s", (int)strcspn(rule, " "), rule);
	return import_prefix_meets(address, prefix);
}

void import_deny(struct import *import, const struct import_node *node, json_t *at, const char *key,
		 const char *prefix, size_t from)
{
	json_t *list = json_object_get(at, key);
	char reduced[IMPORT_TEXT_CAP];
	const char *rule;

	if (!import_prefix(prefix, reduced))
		snprintf(reduced, sizeof(reduced), "any");
	for (size_t i = json_array_size(list); i > from; i--) {
		rule = json_string_value(json_array_get(list, i - 1));
		if (!is_rule_for(rule, reduced))
			continue;
		import_lost(import, node, "%s of %s is not carried over, because it would allow %s",
			    rule, key, *prefix ? prefix : "others");
		json_array_remove(list, i - 1);
	}
	if (list && !json_array_size(list))
		json_object_del(at, key);
}

void import_allow(struct import *import, const struct import_node *node, const char *key,
		  const char *prefix)
{
	char reduced[IMPORT_TEXT_CAP];

	if (!strcmp(prefix, "any")) {
		import_set(import, node, NULL, key, "0.0.0.0/0");
		import_set(import, node, NULL, key, "::/0");
	} else if (import_prefix(prefix, reduced)) {
		import_set(import, node, NULL, key, reduced);
	} else {
		import_lost(import, node, "\"%s\" is no prefix: write ADDRESS/LENGTH", prefix);
	}
}

void import_allow_nobody(struct import *import, const struct import_node *node)
{
	import_set(import, node, NULL, "server.allow", NOBODY);
	import_note(import, node,
		    "no client may ask: " NOBODY " in server.allow is the address of no client");
}

/* --- Zones ------------------------------------------------------------------------------------ */

json_t *import_find_zone(const struct import *import, const char *name)
{
	char canon[IMPORT_TEXT_CAP];

	canonical(name, canon);
	return find(json_object_get(import->out, "zones"), "name", canon);
}

json_t *import_zone(struct import *import, const struct import_node *node, const char *name)
{
	char canon[IMPORT_TEXT_CAP];
	char *domain = NULL;
	json_t *zone;

	if (!name || value_read_domain(name, &domain)) {
		import_lost(import, node, "\"%s\" is not the name of a zone", name ? name : "");
		return NULL;
	}
	free(domain);
	canonical(name, canon);
	if (import_find_zone(import, canon)) {
		import_lost(import, node, "the file has two zones %s", canon);
		return NULL;
	}
	zone = import_item(import, import->out, "zones");
	import_put(import, zone, "name", canon);
	return zone;
}

static bool has(const json_t *zone, const char *key)
{
	return json_object_get(zone, key) != NULL;
}

bool import_zone_end(struct import *import, const struct import_node *node, json_t *zone,
		     bool is_secondary)
{
	json_t *zones = json_object_get(import->out, "zones"), *item;
	size_t i;

	if (has(zone, "primaries") && has(zone, "allow-update")) {
		import_lost(import, node,
			    "Volley does not forward updates of a zone with primaries: send them "
			    "to a primary");
		json_object_del(zone, "allow-update");
	}
	if (has(zone, "primaries") ||
	    (!is_secondary && (has(zone, "file") || has(zone, "catalog"))))
		return true;
	import_lost(import, node, "zone %s: %s", json_string_value(json_object_get(zone, "name")),
		    is_secondary ? "none of its primaries can be used" : "it has no file");
	json_array_foreach(zones, i, item) {
		if (item == zone) {
			json_array_remove(zones, i);
			break;
		}
	}
	return false;
}

void import_finish_zones(struct import *import)
{
	json_t *zones = json_object_get(import->out, "zones"), *zone;
	bool needs_storage = false;
	size_t i;

	json_array_foreach(zones, i, zone)
		needs_storage |= has(zone, "primaries") || has(zone, "catalog") ||
				 has(zone, "signing") || has(zone, "allow-update") ||
				 has(zone, "zonefile-sync");
	if (needs_storage && !has(json_object_get(import->out, "server"), "storage"))
		import_put(import, import_object(import, import->out, "server"), "storage",
			   STORAGE);
}
