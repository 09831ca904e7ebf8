/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses on which nsd and unbound listen: server.listen, or server.tls for the TLS port. */
#ifndef VOLLEY_IMPORT_ADDRESSES_H
#define VOLLEY_IMPORT_ADDRESSES_H

#include "import/carry.h"

/* The names of these options in the section server. */
struct import_addresses {
	const char *address; /* one or two names with a space between them */
	const char *port, *tls_port, *certificate, *key;
	/* addresses if the file has none, NULL behind the last; NULL: all */
	const char *const *fallback;
};

void import_addresses(struct import *import, const struct import_addresses *options);

/* Adds ADDRESS or ADDRESS@PORT to server.listen or server.tls.listen. PORT is used if ADDRESS has
 * none. A line of notes reports a wrong address. */
void import_listen(struct import *import, const struct import_node *node, const char *address,
		   const char *port, bool is_tls);

#endif
