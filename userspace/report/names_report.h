/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of names that exist, for `volleyctl names`. */
#ifndef VOLLEY_REPORT_NAMES_REPORT_H
#define VOLLEY_REPORT_NAMES_REPORT_H

#include <jansson.h>

#include "report/report_view.h"

/* A new reference, or NULL: no memory. Control's thread. */
json_t *names_report(const struct report_view *v);

#endif
