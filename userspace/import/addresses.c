/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "import/addresses.h"

#include <string.h>

#include "config/config.h"
#include "config/value.h"

#define TLS_PORT "853"

void import_listen(struct import *import, const struct import_node *node, const char *address,
		   const char *port, bool is_tls)
{
	struct config_addr addr;
	char text[128];

	if (value_read_addr(address, 53, &addr)) {
		import_lost(import, node,
			    "\"%s\" is no address: give server.listen an address of the host",
			    address);
		return;
	}
	if (strchr(address, '@') || !port)
		snprintf(text, sizeof(text), "%s", address);
	else
		snprintf(text, sizeof(text), "%s@%s", address, port);
	if (!is_tls && strlen(text) > 3 && !strcmp(text + strlen(text) - 3, "@53"))
		text[strlen(text) - 3] = 0;
	import_set(import, node, NULL, is_tls ? "server.tls.listen" : "server.listen", text);
}

static const char *find_text(const struct import *import, const char *name)
{
	const char *found = NULL;

	for (struct import_node *node = import->tree.top.child; node; node = node->next) {
		const char *text = strcmp(node->name, "server") ? NULL :
								  import_node_text(node, name);

		found = text ? text : found;
	}
	return found;
}

static bool is_address(const struct import_addresses *options, const char *name)
{
	const char *at = strstr(options->address, name);
	size_t len = strlen(name);

	return at && (at == options->address || at[-1] == ' ') && (!at[len] || at[len] == ' ');
}

static void listen_one(struct import *import, struct import_node *node, const char *port,
		       const char *tls_port)
{
	const char *address = import_node_word(node, 0),
		   *at = address ? strchr(address, '@') : NULL;

	if (address)
		import_listen(import, node, address, port, !strcmp(at ? at + 1 : port, tls_port));
	if (node->n_words > 1)
		import_note(import, node, "\"%s\" is ignored: see server.workers", node->words[1]);
}

void import_addresses(struct import *import, const struct import_addresses *options)
{
	static const char *const all[] = { "0.0.0.0", "::", NULL };
	const char *const *fallback = options->fallback ? options->fallback : all;
	const char *port = find_text(import, options->port),
		   *tls_port = find_text(import, options->tls_port);
	const char *certificate = find_text(import, options->certificate);
	const char *key = find_text(import, options->key);
	struct import_node scratch = { .name = "port", .file = "-" };
	char path[IMPORT_PATH_CAP];
	json_t *tls;

	port = port ? port : "53";
	for (struct import_node *section = import->tree.top.child; section; section = section->next)
		for (struct import_node *node = section->child; node; node = node->next)
			if (!strcmp(section->name, "server") && is_address(options, node->name))
				listen_one(import, node, port, tls_port ? tls_port : TLS_PORT);
	if (!json_object_get(import->out, "server"))
		for (size_t i = 0; fallback[i]; i++)
			import_listen(import, &scratch, fallback[i], port, false);
	tls = json_object_get(json_object_get(import->out, "server"), "tls");
	if (!tls)
		return;
	if (certificate && *certificate)
		import_put(import, tls, "certificate", import_path(import, certificate, path));
	if (key && *key)
		import_put(import, tls, "key", import_path(import, key, path));
}
