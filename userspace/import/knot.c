/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* knot.conf(5): server, keys, remotes, policies and modules. Zones are in knot_zones.c. */
#include "import/knot.h"

#include <string.h>

#include "import/addresses.h"
#include "import/import_servers.h"
#include "import/peers.h"

struct import_node *import_knot_item(const struct import *import, const char *section,
				     const char *id)
{
	for (struct import_node *node = import->tree.top.child; node; node = node->next) {
		if (strcmp(node->name, section))
			continue;
		for (struct import_node *item = node->child; item; item = item->next) {
			const char *there = import_node_text(item, "id");

			if (there && !strcmp(there, id))
				return item;
		}
	}
	return NULL;
}

/* --- server, xdp ------------------------------------------------------------------------------ */

static void carry_listen(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	for (unsigned int i = 0; i < node->n_words; i++)
		import_listen(import, node, node->words[i], NULL,
			      !strcmp(node->name, "listen-tls"));
}

static void carry_nsid(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (import_node_word(node, 0) && *node->words[0])
		import_set(import, node, NULL, "server.nsid", node->words[0]);
	else
		import_note(import, node, "knotd uses the name of the host: give server.nsid");
}

static void carry_certificate(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	if (!import_node_find(node->parent, "listen-tls"))
		import_idle(import, node, "the file has no listen-tls");
	else
		import_set(import, node, NULL,
			   strcmp(node->name, "key-file") ? "server.tls.certificate" :
							    "server.tls.key",
			   import_node_word(node, 0) ? node->words[0] : "");
}

static const struct import_rule server_rules[] = {
	{ "listen listen-tls", IMPORT_CALL, NULL, carry_listen },
	{ "identity", IMPORT_SET, "server.identity", NULL },
	{ "version", IMPORT_SET, "server.version", NULL },
	{ "nsid", IMPORT_CALL, NULL, carry_nsid },
	{ "cert-file key-file", IMPORT_CALL, NULL, carry_certificate },
	{ "tcp-max-clients max-tcp-clients", IMPORT_SET, "server.tcp.max-connections", NULL },
	{ "tcp-idle-timeout", IMPORT_SET, "server.tcp.idle-timeout", NULL },
	{ "udp-max-payload udp-max-payload-ipv4 udp-max-payload-ipv6 max-udp-payload "
	  "max-ipv4-udp-payload max-ipv6-udp-payload",
	  IMPORT_SET, "server.max-udp-size", NULL },
	{ "automatic-acl", IMPORT_READ, NULL, NULL },
	{ "listen-quic", IMPORT_LOST, "Volley has no DNS over QUIC", NULL },
	{ "proxy-allowlist", IMPORT_LOST, "Volley has no PROXY protocol", NULL },
	{ "answer-rotation", IMPORT_UNLESS_NO, "Volley does not rotate records", NULL },
	{ "rundir user pidfile", IMPORT_IDLE,
	  "control.socket, server.pid-file and systemd have this", NULL },
	{ "udp-workers tcp-workers background-workers async-start tcp-io-timeout "
	  "tcp-remote-io-timeout tcp-max-clients-per-ip tcp-reuseport tcp-fastopen "
	  "quic-max-clients quic-outbuf-max-size quic-idle-close-timeout remote-pool-limit "
	  "remote-pool-timeout remote-retry-delay socket-affinity dbus-event edns-client-subnet",
	  IMPORT_IDLE, "volleyd has a worker for each processor, and times of its own", NULL },
	{ 0 },
};

static void carry_interfaces(struct import *import, struct import_node *section)
{
	const struct import_node *node = import_node_find(section, "listen");

	for (unsigned int i = 0; node && i < node->n_words; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(node->words[i], "@"),
			 node->words[i]);
		if (strpbrk(name, ".:"))
			import_lost(import, node, "%s: Volley knows interfaces by their names",
				    node->words[i]);
		else
			import_set(import, node, import_item(import, import->out, "interfaces"),
				   "interfaces[].name", name);
	}
	for (node = section->child; node; node = node->next)
		if (strcmp(node->name, "listen"))
			import_idle(import, node, "see interfaces and server.tcp");
}

/* --- keys, remotes ---------------------------------------------------------------------------- */

static void carry_key(struct import *import, struct import_node *item)
{
	const char *algorithm = import_node_text(item, "algorithm");

	import_key(import, item, import_node_text(item, "id"), algorithm,
		   import_node_text(item, "secret"));
}

static const struct import_rule remote_rules[] = {
	{ "id address key via cert-key quic tls", IMPORT_READ, NULL, NULL },
	{ "block-notify-after-transfer no-edns automatic-acl", IMPORT_IDLE,
	  "volleyd decides this by itself", NULL },
	{ "cert-hostname", IMPORT_READ, NULL, NULL },
	{ 0 },
};

static void carry_remote(struct import *import, struct import_node *item)
{
	const struct import_node *addresses = import_node_find(item, "address"),
				 *via = import_node_find(item, "via");
	struct import_remote remote = { .name = import_node_text(item, "id"),
					.key = import_node_text(item, "key") };

	if (import_is_yes(import_node_text(item, "quic"))) {
		import_lost(import, item, "Volley has no transfer over QUIC");
		return;
	}
	if (import_is_yes(import_node_text(item, "tls"))) {
		remote.tls_pin = import_node_text(item, "cert-key");
		remote.tls_name = import_node_text(item, "cert-hostname");
		if (!remote.tls_pin && !remote.tls_name) {
			import_lost(import, item,
				    "TLS without cert-key and cert-hostname trusts any server: "
				    "give tls-name");
			return;
		}
	}
	for (unsigned int i = 0; addresses && i < addresses->n_words; i++) {
		remote.address = addresses->words[i];
		remote.source = import_node_word(via, i);
		(void)import_remote(import, addresses, &remote);
	}
	import_carry(import, item, remote_rules, NULL);
}

/* --- policies --------------------------------------------------------------------------------- */

static void carry_single(struct import *import, struct import_node *node, json_t *at)
{
	import_put(import, at, "keys",
		   import_is_yes(import_node_word(node, 0)) ? "csk" : "ksk-zsk");
}

static void carry_denial(struct import *import, struct import_node *node, json_t *at)
{
	import_put(import, at, "denial",
		   import_is_yes(import_node_word(node, 0)) ? "nsec3" : "nsec");
}

static void carry_cds(struct import *import, struct import_node *node, json_t *at)
{
	const char *word = import_node_word(node, 0);

	import_put(import, at, "cds",
		   word && (!strcmp(word, "none") || !strcmp(word, "delete-dnssec")) ? "false" :
										       "true");
}

static const struct import_rule policy_rules[] = {
	{ "id", IMPORT_READ, NULL, NULL },
	{ "algorithm", IMPORT_SET, "signing[].algorithm", NULL },
	{ "single-type-signing", IMPORT_CALL, NULL, carry_single },
	{ "nsec3", IMPORT_CALL, NULL, carry_denial },
	{ "nsec3-iterations", IMPORT_SET, "signing[].nsec3-iterations", NULL },
	{ "nsec3-salt-length", IMPORT_SET, "signing[].nsec3-salt-length", NULL },
	{ "nsec3-opt-out", IMPORT_SET, "signing[].nsec3-opt-out", NULL },
	{ "zsk-lifetime", IMPORT_SET, "signing[].zsk-lifetime", NULL },
	{ "ksk-lifetime", IMPORT_SET, "signing[].ksk-lifetime", NULL },
	{ "rrsig-lifetime", IMPORT_SET, "signing[].signature-lifetime", NULL },
	{ "rrsig-refresh", IMPORT_SET, "signing[].refresh", NULL },
	{ "dnskey-ttl", IMPORT_SET, "signing[].dnskey-ttl", NULL },
	{ "propagation-delay", IMPORT_SET, "signing[].propagation-delay", NULL },
	{ "cds-cdnskey-publish", IMPORT_CALL, NULL, carry_cds },
	{ "ksk-submission", IMPORT_LOST,
	  "volleyd does not ask the parent: type 'volleyctl zone ds-seen'", NULL },
	{ "manual", IMPORT_UNLESS_NO,
	  "volleyd makes and replaces keys; with a lifetime of 0 it waits for 'volleyctl zone "
	  "rollover'",
	  NULL },
	{ "ksk-shared offline-ksk", IMPORT_UNLESS_NO, "with Volley each zone has its own keys",
	  NULL },
	{ "keystore dnskey-management ds-push unsafe-operation cds-digest-type", IMPORT_LOST,
	  "Volley has no such option", NULL },
	{ "ksk-size zsk-size nsec3-salt-lifetime zone-max-ttl rrsig-pre-refresh "
	  "reproducible-signing delete-delay signing-threads",
	  IMPORT_IDLE, "volleyd decides this by itself", NULL },
	{ 0 },
};

static void carry_policy(struct import *import, struct import_node *item)
{
	const char *id = import_node_text(item, "id");
	json_t *policy = json_object();
	bool is_first = id && import_knot_item(import, "policy", id) == item;

	import_set(import, item, policy, "signing[].name", id ? id : "");
	if (id && !is_first)
		import_lost(import, item, "the file has two policies %s", id);
	if (!json_object_get(policy, "name") || !is_first) {
		json_decref(policy);
		return;
	}
	json_array_append_new(import_list(import, import->out, "signing"), policy);
	import_put(import, policy, "keys", "ksk-zsk"); /* the default of Knot */
	import_carry(import, item, policy_rules, policy);
}

/* --- modules ---------------------------------------------------------------------------------- */

static void carry_exempt(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	for (unsigned int i = 0; i < node->n_words; i++)
		import_allow(import, node, "rrl.exempt", node->words[i]);
}

static void carry_limit(struct import *import, struct import_node *node, json_t *at)
{
	(void)at;
	import_set(import, node, NULL, "rrl.answers",
		   import_node_word(node, 0) ? node->words[0] : "");
	import_note(import, node, "rrl.answers counts the answers of all zones to one address");
}

static const struct import_rule rrl_rules[] = {
	{ "id", IMPORT_READ, NULL, NULL },
	{ "rate-limit", IMPORT_CALL, NULL, carry_limit },
	{ "slip", IMPORT_SET, "rrl.slip", NULL },
	{ "dry-run", IMPORT_SET, "rrl.dry-run", NULL },
	{ "whitelist", IMPORT_CALL, NULL, carry_exempt },
	{ "table-size instant-limit time-rate-limit time-instant-limit log-period", IMPORT_IDLE,
	  "the table of rrl has one size", NULL },
	{ 0 },
};

/* "0x" and 32 digits */
static void carry_cookie(struct import *import, struct import_node *node, json_t *at)
{
	const char *text = import_node_word(node, 0) ? node->words[0] : "";

	(void)at;
	import_set(import, node, NULL, "server.cookies.secret",
		   text + (strncmp(text, "0x", 2) ? 0 : 2));
}

static const struct import_rule cookie_rules[] = {
	{ "id", IMPORT_READ, NULL, NULL },
	{ "secret", IMPORT_CALL, NULL, carry_cookie },
	{ "secret-lifetime", IMPORT_SET, "server.cookies.rotate", NULL },
	{ "badcookie-slip", IMPORT_IDLE, "see rrl.slip", NULL },
	{ 0 },
};

static void carry_module(struct import *import, struct import_node *section)
{
	const struct import_rule *rules = NULL;

	if (!strcmp(section->name, "mod-rrl"))
		rules = rrl_rules;
	else if (!strcmp(section->name, "mod-cookies"))
		rules = cookie_rules;
	else if (!strcmp(section->name, "mod-stats"))
		import_idle(import, section, "volleyctl stats and metrics count");
	else
		import_lost(import, section, "Volley has no such module");
	for (struct import_node *item = section->child; rules && item; item = item->next)
		import_carry(import, item, rules, NULL);
}

/* --- The whole file --------------------------------------------------------------------------- */

static void each(struct import *import, const char *section,
		 void (*carry)(struct import *, struct import_node *))
{
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		for (struct import_node *item = strcmp(node->name, section) ? NULL : node->child;
		     item; item = item->next)
			carry(import, item);
}

static void carry_section(struct import *import, struct import_node *node)
{
	static const char read[] = " key remote remotes acl policy template zone ";
	char name[64];

	snprintf(name, sizeof(name), " %.60s ", node->name);
	if (strstr(read, name))
		return;
	if (!strcmp(node->name, "server"))
		import_carry(import, node, server_rules, NULL);
	else if (!strcmp(node->name, "xdp"))
		carry_interfaces(import, node);
	else if (!strncmp(node->name, "mod-", 4))
		carry_module(import, node);
	else if (!strcmp(node->name, "control"))
		import_idle(import, node, "volleyctl commands volleyd, see control.socket");
	else if (!strcmp(node->name, "log") || !strcmp(node->name, "statistics"))
		import_idle(
			import, node,
			"volleyd logs to standard error, and counts by itself: see metrics.listen");
	else if (!strcmp(node->name, "database"))
		import_idle(import, node, "see server.storage");
	else if (strcmp(node->name, "submission") && strcmp(node->name, "keystore"))
		import_lost(import, node, "Volley has nothing like this section");
}

void import_knot(struct import *import, const char *path)
{
	struct import_node scratch = { .name = "listen", .file = path };

	each(import, "key", carry_key);
	each(import, "remote", carry_remote);
	each(import, "policy", carry_policy);
	for (struct import_node *node = import->tree.top.child; node; node = node->next)
		carry_section(import, node);
	each(import, "zone", import_knot_zone);
	if (!json_object_get(json_object_get(import->out, "server"), "listen"))
		import_lost(import, &scratch, "knotd listens on no address: give server.listen");
}
