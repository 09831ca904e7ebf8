/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where nsd and unbound listen: server.listen, and server.tls for addresses of the TLS port. */
#ifndef VOLLEY_IMPORT_ADDRESSES_H
#define VOLLEY_IMPORT_ADDRESSES_H

#include "import/carry.h"

/* Names of options in the section server. */
struct import_addresses {
	const char *address; /* one or two names with a blank between them */
	const char *port, *tls_port, *certificate, *key;
	/* where no address is given, NULL behind the last; NULL: all */
	const char *const *fallback;
};

void import_addresses(struct import *import, const struct import_addresses *options);

/* ADDRESS or ADDRESS@PORT at server.listen or server.tls.listen, with PORT where it has none; said
 * where it is no address. */
void import_listen(struct import *import, const struct import_node *node, const char *address,
		   const char *port, bool is_tls);

#endif
