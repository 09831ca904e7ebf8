/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The faults that status and health name with the same sentences: all but those of interfaces and
 * zones, of which health judges more than status lists. Control's thread.
 */
#ifndef VOLLEY_REPORT_FAULTS_H
#define VOLLEY_REPORT_FAULTS_H

#include "control/metrics_text.h"
#include "report/health.h"
#include "report/report_view.h"

/* Says each fault that there is now. */
void faults_say(struct health *h, const struct report_view *v);

/* A sample for each row of config/fault_list.h: 1 if there is such a fault. */
void faults_metrics(const struct report_view *v, struct metrics_text *out);

/* How often a worker has gone round its loop. */
uint64_t faults_n_rounds(const struct workers *workers, unsigned int worker);

#endif
