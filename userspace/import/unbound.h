/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of unbound.conf(5) for unbound.c: local data, and the sections for forward zones, stubs,
 * served zones and policies. */
#ifndef VOLLEY_IMPORT_UNBOUND_H
#define VOLLEY_IMPORT_UNBOUND_H

#include "import/carry.h"

/* Options of the section server, of type import_call. */
void import_unbound_local_zone(struct import *import, struct import_node *node, json_t *at);
void import_unbound_local_data(struct import *import, struct import_node *node, json_t *at);
void import_unbound_local_ptr(struct import *import, struct import_node *node, json_t *at);
void import_unbound_unblock(struct import *import, struct import_node *node, json_t *at);
void import_unbound_localhost(struct import *import, struct import_node *node, json_t *at);

/* Sections. */
void import_unbound_forward(struct import *import, struct import_node *node);
void import_unbound_stub(struct import *import, struct import_node *node);
void import_unbound_auth(struct import *import, struct import_node *node);
void import_unbound_rpz(struct import *import, struct import_node *node);

/* Call it after all sections: clients that may not recurse may not ask for zones either. */
void import_unbound_finish(struct import *import);

#endif
