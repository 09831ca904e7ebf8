/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints doctor's findings: a block for the host, each service and each interface. */
#ifndef VOLLEY_DOCTOR_PRINT_H
#define VOLLEY_DOCTOR_PRINT_H

#include <jansson.h>
#include <stdio.h>

/*
 * Writes the RESULT of doctor_run() in lines of at most WIDTH columns. A longer word gets a line of
 * its own; commands are not wrapped, so that they can be copied. The caller checks OUT for errors.
 */
void doctor_print(FILE *out, const json_t *result, int width);

#endif
