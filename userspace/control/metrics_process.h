/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Prometheus' client libraries tell of any process, by the same names: process_*. */
#ifndef VOLLEY_CONTROL_METRICS_PROCESS_H
#define VOLLEY_CONTROL_METRICS_PROCESS_H

#include "control/metrics_text.h"

/*
 * Of this process: processor time, memory, file descriptors, when it was started. What cannot be read is left out. Control's
 * thread.
 */
void metrics_process(struct metrics_text *out);

#endif
