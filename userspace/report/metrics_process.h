/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that Prometheus' client libraries give for any process, by the same names:
 * process_*. */
#ifndef VOLLEY_REPORT_METRICS_PROCESS_H
#define VOLLEY_REPORT_METRICS_PROCESS_H

#include "control/metrics_text.h"

/*
 * Of this process: processor time, memory, file descriptors, when it was started. A value that
 * cannot be read is left out. Control's thread.
 */
void metrics_process(struct metrics_text *out);

#endif
