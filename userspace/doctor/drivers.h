/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about drivers that the drivers do not report themselves: the first kernel with native XDP,
 * the largest MTU, the number of queues, and the kernels with faults. Each row names its source.
 */
#ifndef VOLLEY_DOCTOR_DRIVERS_H
#define VOLLEY_DOCTOR_DRIVERS_H

#include <stdbool.h>

#include "doctor/finding.h"

struct doctor_driver {
	const char *name;       /* as ETHTOOL_GDRVINFO reports it */
	unsigned int native[2]; /* first kernel with native XDP */
	unsigned int zero[2];   /* first kernel with AF_XDP zero-copy; zeros: none known */
	int max_mtu;            /* for a program without support of several buffers; 0: not known */
	int max_queues;         /* with XDP; 0: not known */
	bool refuses_lro;       /* no program is attached while LRO or hardware GRO is on */
	bool drops_lro;         /* switches it off by itself, if that is possible */
	bool takes_tx_queues;   /* needs a queue for each processor beside those that receive */
	bool halves_queues;     /* uses at most half of its channels while a program is attached */
};

/* A fault of kernels from SINCE (zeros: the first) to before UNTIL (zeros: not fixed). */
struct doctor_fault {
	const char *driver;
	unsigned int since[3];
	unsigned int until[3];
	enum doctor_level level;
	bool zero_copy_only; /* harmless without zero-copy */
	const char *text;
	const char *fix;
	const char *source;
};

/* NULL if the table does not have the driver. */
const struct doctor_driver *doctor_driver_find(const char *name);

/* A fault of the driver in this kernel, or NULL. ZERO_COPY is true if zero-copy may be used. */
const struct doctor_fault *doctor_fault_find(const char *driver, const unsigned int kernel[3],
					     bool zero_copy);

#endif
