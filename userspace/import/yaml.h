/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a configuration as YAML in block style. */
#ifndef VOLLEY_IMPORT_YAML_H
#define VOLLEY_IMPORT_YAML_H

#include <jansson.h>
#include <stdio.h>

/*
 * Writes the object ROOT, whose values are texts, lists and objects. A text that YAML would read as
 * another type is quoted. The caller checks OUT for errors.
 */
void import_yaml_put(FILE *out, const json_t *root);

#endif
