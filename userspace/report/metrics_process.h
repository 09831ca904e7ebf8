/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics process_*, with the names of Prometheus' client libraries. */
#ifndef VOLLEY_REPORT_METRICS_PROCESS_H
#define VOLLEY_REPORT_METRICS_PROCESS_H

#include "control/metrics_text.h"

/*
 * Processor time, memory, file descriptors and start time of this process. A value that cannot be
 * read is left out. Control's thread.
 */
void metrics_process(struct metrics_text *out);

#endif
