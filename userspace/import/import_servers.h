/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each server a table from its options to ours. Each function reads import->tree and fills in
 * import->out; a note tells of each option that is left out. PATH is the first file.
 */
#ifndef VOLLEY_IMPORT_IMPORT_SERVERS_H
#define VOLLEY_IMPORT_IMPORT_SERVERS_H

#include "import/carry.h"

void import_nsd(struct import *import, const char *path);
void import_knot(struct import *import, const char *path);
void import_named(struct import *import, const char *path);
void import_unbound(struct import *import, const char *path);

#endif
