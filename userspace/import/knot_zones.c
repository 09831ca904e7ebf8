/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of knot.conf(5), with the options of their templates; and templates for catalogs. */
#include <string.h>

#include "import/knot.h"
#include "import/peers.h"

#define STORAGE "/var/lib/knot"

static const struct import_node *template_of(const struct import *import,
					     const struct import_node *zone)
{
	const char *id = import_node_text(zone, "template");

	return import_knot_item(import, "template", id ? id : "default");
}

/* The option of the zone, or else of its template. */
static struct import_node *find(const struct import *import, const struct import_node *zone,
				const char *name)
{
	struct import_node *node = import_node_find(zone, name);

	return node ? node : import_node_find(template_of(import, zone), name);
}

static const char *find_text(const struct import *import, const struct import_node *zone,
			     const char *name)
{
	return import_node_word(find(import, zone, name), 0);
}

/* --- Lists of remotes ------------------------------------------------------------------------- */

typedef void remote_call(struct import *import, struct import_node *node, json_t *zone,
			 const char *id);

/* Each word is a remote or a group of remotes. */
static void each_remote(struct import *import, struct import_node *node, json_t *zone,
			remote_call *call)
{
	for (unsigned int i = 0; node && i < node->n_words; i++) {
		const struct import_node *group =
			import_knot_item(import, "remotes", node->words[i]);
		const struct import_node *members = import_node_find(group, "remote");

		for (unsigned int j = 0; members && j < members->n_words; j++)
			call(import, node, zone, members->words[j]);
		if (!members)
			call(import, node, zone, node->words[i]);
	}
}

/* True if import_remote() has made a remote of this name. */
static bool is_carried(const struct import *import, const char *id)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(import->out, "remotes"), i, item)
		if (!strcmp(json_string_value(json_object_get(item, "name")), id))
			return true;
	return false;
}

static void add_remote(struct import *import, struct import_node *node, json_t *zone,
		       const char *id, const char *key)
{
	if (is_carried(import, id))
		import_append(import, zone, key, id);
	else
		import_lost(import, node, "the remote %s is not carried over", id);
}

static void add_primary(struct import *import, struct import_node *node, json_t *zone,
			const char *id)
{
	add_remote(import, node, zone, id, "primaries");
}

static void add_notify(struct import *import, struct import_node *node, json_t *zone,
		       const char *id)
{
	add_remote(import, node, zone, id, "notify");
}

/* --- ACL -------------------------------------------------------------------------------------- */

/* Adds a rule for each address of the remote, with its key. */
static void allow_remote(struct import *import, struct import_node *node, json_t *zone,
			 const char *id, const char *list)
{
	const struct import_node *remote = import_knot_item(import, "remote", id);
	const struct import_node *addresses = import_node_find(remote, "address");
	char prefix[IMPORT_TEXT_CAP];

	for (unsigned int i = 0; addresses && i < addresses->n_words; i++) {
		snprintf(prefix, sizeof(prefix), "%.*s", (int)strcspn(addresses->words[i], "@"),
			 addresses->words[i]);
		import_rule(import, node, zone, list, prefix, import_node_text(remote, "key"));
	}
}

static void allow_transfer(struct import *import, struct import_node *node, json_t *zone,
			   const char *id)
{
	allow_remote(import, node, zone, id, "allow-transfer");
}

static void allow_notify(struct import *import, struct import_node *node, json_t *zone,
			 const char *id)
{
	allow_remote(import, node, zone, id, "allow-notify");
}

static void allow_update(struct import *import, struct import_node *node, json_t *zone,
			 const char *id)
{
	allow_remote(import, node, zone, id, "allow-update");
}

static const struct {
	const char *action, *list;
	remote_call *call;
} actions[] = {
	{ "transfer", "allow-transfer", allow_transfer },
	{ "notify", "allow-notify", allow_notify },
	{ "update", "allow-update", allow_update },
};

#define N_ACTIONS (sizeof(actions) / sizeof(actions[0]))

static void add_rules(struct import *import, struct import_node *acl, json_t *zone,
		      const char *list)
{
	struct import_node *addresses = import_node_find(acl, "address"),
			   *keys = import_node_find(acl, "key");

	for (unsigned int i = 0; i < (addresses ? addresses->n_words : 1); i++) {
		const char *prefix = addresses ? addresses->words[i] : "";

		for (unsigned int j = 0; j < (keys ? keys->n_words : 1); j++)
			import_rule(import, acl, zone, list, prefix, keys ? keys->words[j] : NULL);
	}
}

static void take_acl(struct import *import, struct import_node *acl, json_t *zone)
{
	const struct import_node *action = import_node_find(acl, "action");
	struct import_node *remotes = import_node_find(acl, "remote");

	for (const struct import_node *node = acl->child; node; node = node->next)
		if (!strncmp(node->name, "update-", 7) || !strcmp(node->name, "protocol")) {
			import_lost(
				import, node,
				"a rule without this would allow more, so the whole rule is not "
				"carried over");
			return;
		}
	for (unsigned int i = 0; action && i < action->n_words; i++) {
		size_t n = 0;

		while (n < N_ACTIONS && strcmp(actions[n].action, action->words[i]))
			n++;
		if (n == N_ACTIONS)
			import_lost(import, action, "%s: see server.allow, for all zones",
				    action->words[i]);
		else if (remotes)
			each_remote(import, remotes, zone, actions[n].call);
		else
			add_rules(import, acl, zone, actions[n].list);
	}
}

/* Denies each address; "" means all addresses. */
static void deny_addresses(struct import *import, const struct import_node *acl,
			   const struct import_node *addresses, json_t *zone, const char *list,
			   size_t from)
{
	char prefix[IMPORT_TEXT_CAP];

	for (unsigned int i = 0; i < (addresses ? addresses->n_words : 1); i++) {
		const char *word = addresses ? addresses->words[i] : "";

		snprintf(prefix, sizeof(prefix), "%.*s", (int)strcspn(word, "@"), word);
		import_deny(import, acl, zone, list, prefix, from);
	}
}

/* Removes the clients that ACL denies from LIST, beginning with rule FROM. */
static void deny(struct import *import, const struct import_node *acl, json_t *zone,
		 const char *list, size_t from)
{
	const struct import_node *remotes = import_node_find(acl, "remote");

	if (!remotes)
		deny_addresses(import, acl, import_node_find(acl, "address"), zone, list, from);
	for (unsigned int i = 0; remotes && i < remotes->n_words; i++) {
		const struct import_node *group =
			import_knot_item(import, "remotes", remotes->words[i]);
		const struct import_node *members = import_node_find(group, "remote");

		for (unsigned int j = 0; j < (members ? members->n_words : 1); j++)
			deny_addresses(import, acl,
				       import_node_find(import_knot_item(import, "remote",
									 members ?
										 members->words[j] :
										 remotes->words[i]),
							"address"),
				       zone, list, from);
	}
}

/* A rule without an action is for all actions. */
static bool has_action(const struct import_node *acl, const char *word)
{
	const struct import_node *action = import_node_find(acl, "action");

	for (unsigned int i = 0; action && i < action->n_words; i++)
		if (!strcmp(action->words[i], word))
			return true;
	return !action || !action->n_words;
}

/* The first rule that matches decides, so a rule that denies restricts the rules after it. */
static void take_acls(struct import *import, struct import_node *node, unsigned int at,
		      json_t *zone)
{
	struct import_node *acl = NULL;
	size_t n[N_ACTIONS];

	for (; at < node->n_words; at++) {
		acl = import_knot_item(import, "acl", node->words[at]);
		if (!acl)
			import_lost(import, node, "the file has no acl %s", node->words[at]);
		else if (import_is_yes(import_node_text(acl, "deny")))
			break;
		else
			take_acl(import, acl, zone);
	}
	if (at == node->n_words)
		return;
	import_lost(import, acl,
		    "a rule of Volley cannot deny: write rules for the clients that may");
	for (size_t i = 0; i < N_ACTIONS; i++)
		n[i] = json_array_size(json_object_get(zone, actions[i].list));
	take_acls(import, node, at + 1, zone);
	for (size_t i = 0; i < N_ACTIONS; i++)
		if (has_action(acl, actions[i].action))
			deny(import, acl, zone, actions[i].list, n[i]);
}

static void carry_acl(struct import *import, struct import_node *node, json_t *zone)
{
	take_acls(import, node, 0, zone);
}

/* --- Options of a zone ------------------------------------------------------------------------ */

static void carry_primaries(struct import *import, struct import_node *node, json_t *zone)
{
	each_remote(import, node, zone, add_primary);
}

static void carry_notify(struct import *import, struct import_node *node, json_t *zone)
{
	each_remote(import, node, zone, add_notify);
}

static void carry_sync(struct import *import, struct import_node *node, json_t *zone)
{
	const char *word = import_node_word(node, 0);

	if (!word || !strcmp(word, "-1"))
		import_put(import, zone, "zonefile-sync", "0");
	else
		import_set(import, node, zone, "zones[].zonefile-sync",
			   strcmp(word, "0") ? word : "1");
}

static bool is_policy(const struct import *import, const char *name)
{
	json_t *policy;
	size_t i;

	json_array_foreach(json_object_get(import->out, "signing"), i, policy)
		if (!strcmp(json_string_value(json_object_get(policy, "name")), name))
			return true;
	return false;
}

static void carry_policy(struct import *import, struct import_node *node, json_t *zone)
{
	const char *id = import_node_word(node, 0);
	const struct import_node *policy = id ? import_knot_item(import, "policy", id) : NULL;

	if (policy && is_policy(import, id))
		import_set(import, node, zone, "zones[].signing", id);
	else if (policy)
		import_lost(import, node, "the policy %s is not carried over", id);
	else if (id && strcmp(id, "default"))
		import_lost(import, node, "the file has no policy %s", id);
}

static void carry_role(struct import *import, struct import_node *node, json_t *zone)
{
	const char *role = import_node_word(node, 0);

	if (role && !strcmp(role, "generate"))
		import_put(import, zone, "catalog", "produce");
	else if (role && !strcmp(role, "interpret"))
		import_put(import, zone, "catalog", "consume");
}

static void carry_modules(struct import *import, struct import_node *node, json_t *zone)
{
	(void)zone;
	for (unsigned int i = 0; i < node->n_words; i++)
		if (strncmp(node->words[i], "mod-rrl", 7) &&
		    strncmp(node->words[i], "mod-cookies", 11) &&
		    strncmp(node->words[i], "mod-stats", 9))
			import_lost(import, node, "Volley has no module %s", node->words[i]);
}

static const struct import_rule zone_rules[] = {
	{ "id domain template storage file dnssec-signing catalog-template", IMPORT_READ, NULL,
	  NULL },
	{ "master", IMPORT_CALL, NULL, carry_primaries },
	{ "notify", IMPORT_CALL, NULL, carry_notify },
	{ "acl", IMPORT_CALL, NULL, carry_acl },
	{ "dnssec-policy", IMPORT_CALL, NULL, carry_policy },
	{ "zonefile-sync", IMPORT_CALL, NULL, carry_sync },
	{ "journal-max-usage", IMPORT_SET, "zones[].journal-size", NULL },
	{ "zone-max-size max-zone-size", IMPORT_SET, "zones[].max-transfer-size", NULL },
	{ "refresh-min-interval", IMPORT_SET, "zones[].refresh-min", NULL },
	{ "refresh-max-interval", IMPORT_SET, "zones[].refresh-max", NULL },
	{ "retry-min-interval", IMPORT_SET, "zones[].retry-min", NULL },
	{ "retry-max-interval", IMPORT_SET, "zones[].retry-max", NULL },
	{ "expire-min-interval", IMPORT_SET, "zones[].expire-min", NULL },
	{ "expire-max-interval", IMPORT_SET, "zones[].expire-max", NULL },
	{ "provide-ixfr", IMPORT_SET, "zones[].ixfr", NULL },
	{ "catalog-role", IMPORT_CALL, NULL, carry_role },
	{ "catalog-zone", IMPORT_SET, "zones[].member-of", NULL },
	{ "catalog-group", IMPORT_SET, "zones[].group", NULL },
	{ "module global-module", IMPORT_CALL, NULL, carry_modules },
	{ "ddns-master", IMPORT_LOST, "Volley does not forward updates", NULL },
	{ "dnssec-validation", IMPORT_UNLESS_NO, "see zones[].verify", NULL },
	{ "zonemd-verify zonemd-generate", IMPORT_IDLE,
	  "volleyd keeps and checks a zone's ZONEMD record", NULL },
	{ "reverse-generate include-from", IMPORT_LOST,
	  "Volley does not make zones from other zones", NULL },
	{ "semantic-checks zonefile-load zonefile-skip journal-content journal-max-depth "
	  "ixfr-benevolent ixfr-by-one ixfr-from-axfr adjust-threads serial-policy serial-modulo "
	  "min-refresh-interval max-refresh-interval default-ttl",
	  IMPORT_IDLE, "volleyd decides this by itself", NULL },
	{ 0 },
};

/* Joins STORAGE and FILE. Replaces %s by the name, except in a template. */
static void put_file(struct import *import, struct import_node *at, json_t *zone, const char *name,
		     const char *storage, const char *file)
{
	char path[IMPORT_PATH_CAP];
	size_t n = 0;

	n = (size_t)snprintf(path, sizeof(path) - 600, "%s%s", *file == '/' ? "" : storage,
			     *file == '/' ? "" : "/");
	for (const char *c = file; *c && n < sizeof(path) - 300; c++) {
		if (*c != '%' || c[1] == '%')
			path[n++] = *c;
		else if (*++c == 's' && name)
			n += (size_t)snprintf(path + n, 300, "%.*s",
					      (int)strlen(name) - (name[1] != 0), name);
		else if (*c == 's')
			n += (size_t)snprintf(path + n, 3, "%%s");
		else {
			import_lost(import, at, "Volley knows only %%s: give the file its name");
			return;
		}
	}
	path[n] = 0;
	import_set(import, at, zone, "zones[].file", path);
}

/* --- Templates of members of catalogs --------------------------------------------------------- */

static void carry_template(struct import *import, struct import_node *item, const char *name)
{
	const char *file = import_node_text(item, "file"),
		   *storage = import_node_text(item, "storage");
	json_t *list = import_list(import, import->out, "templates"), *there;
	size_t i;

	json_array_foreach(list, i, there)
		if (!strcmp(json_string_value(json_object_get(there, "name")), name))
			return;
	there = import_item(import, import->out, "templates");
	import_set(import, item, there, "templates[].name", name);
	put_file(import, item, there, NULL, storage ? storage : STORAGE, file ? file : "%s.zone");
	import_carry(import, item, zone_rules, there);
}

/* The first template is for all members, and each other one is for the group of its name. */
static void carry_groups(struct import *import, struct import_node *node, json_t *zone)
{
	for (unsigned int i = 0; node && i < node->n_words; i++) {
		struct import_node *item = import_knot_item(import, "template", node->words[i]);
		char name[70];
		json_t *group;

		if (!item) {
			import_lost(import, node, "the file has no template %s", node->words[i]);
			continue;
		}
		/* a template "default" would be for all zones */
		snprintf(name, sizeof(name), "%s%.60s",
			 strcmp(node->words[i], "default") ? "" : "knot-", node->words[i]);
		carry_template(import, item, name);
		group = import_item(import, zone, "groups");
		if (i)
			import_put(import, group, "group", node->words[i]);
		import_put(import, group, "template", name);
	}
}

/* --- Zones ------------------------------------------------------------------------------------ */

/* Carries over the template's options that the zone does not have. */
static void carry_rest(struct import *import, const struct import_node *item, json_t *zone)
{
	const struct import_node *template = template_of(import, item);
	struct import_node part = { 0 };

	for (struct import_node *node = template ? template->child : NULL; node;
	     node = node->next) {
		struct import_node *next = node->next;

		if (import_node_find(item, node->name))
			continue;
		node->next = NULL; /* only this option */
		part.child = node;
		import_carry(import, &part, zone_rules, zone);
		node->next = next;
	}
}

/* server.automatic-acl allows transfers to the remotes that are notified. */
static void allow_by_itself(struct import *import, const struct import_node *item, json_t *zone)
{
	bool is_on = false;

	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		if (!strcmp(node->name, "server"))
			is_on |= import_is_yes(import_node_text(node, "automatic-acl"));
	if (is_on)
		each_remote(import, find(import, item, "notify"), zone, allow_transfer);
}

/* Knot's policy for zones that name none. */
static void default_policy(struct import *import, json_t *zone)
{
	json_t *policy;

	import_put(import, zone, "signing", "default");
	if (is_policy(import, "default"))
		return;
	policy = import_item(import, import->out, "signing");
	import_put(import, policy, "name", "default");
	import_put(import, policy, "keys", "ksk-zsk");
}

void import_knot_zone(struct import *import, struct import_node *item)
{
	const char *name = import_node_text(item, "domain"), *storage, *file;
	bool is_signed = import_is_yes(find_text(import, item, "dnssec-signing"));
	json_t *zone = import_zone(import, item, name);

	if (!zone)
		return;
	storage = find_text(import, item, "storage");
	file = find_text(import, item, "file");
	put_file(import, item, zone, json_string_value(json_object_get(zone, "name")),
		 storage ? storage : STORAGE, file ? file : "%s.zone");
	import_carry(import, item, zone_rules, zone);
	carry_rest(import, item, zone);
	allow_by_itself(import, item, zone);
	if (!is_signed)
		json_object_del(zone, "signing");
	else if (!json_object_get(zone, "signing"))
		default_policy(import, zone);
	if (json_object_get(zone, "primaries") && json_object_get(zone, "signing")) {
		import_lost(import, item,
			    "Volley does not sign a zone that has primaries: sign it on the "
			    "primary");
		json_object_del(zone, "signing");
	}
	carry_groups(import, find(import, item, "catalog-template"), zone);
	(void)import_zone_end(import, item, zone, find(import, item, "master") != NULL);
}
