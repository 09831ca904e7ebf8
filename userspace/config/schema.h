/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of keys as a JSON schema (draft 2020-12), by which an editor completes volley.yaml and
 * marks mistakes in it.
 *
 * The schema accepts each file that volleyd accepts, one of several files, too: so no key of the
 * top level is required. It knows single keys only: what goes together, and the bounds of a number
 * with a unit behind it ("7M"), is for volleyd --check. Values may be YAML's numbers and booleans,
 * or texts.
 */
#ifndef VOLLEY_CONFIG_SCHEMA_H
#define VOLLEY_CONFIG_SCHEMA_H

#include <jansson.h>

/* A new reference; NULL: no memory. Pure; any thread. */
json_t *schema_make(void);

#endif
