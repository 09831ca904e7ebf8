/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of drivers beyond what they say themselves: since when each has native XDP, up to
 * which MTU, with how many queues, and which kernels and versions go wrong. Every row names who
 * says so.
 */
#ifndef VOLLEY_DOCTOR_DRIVERS_H
#define VOLLEY_DOCTOR_DRIVERS_H

#include <stdbool.h>

#include "doctor/finding.h"

struct doctor_driver {
	const char *name;       /* as ETHTOOL_GDRVINFO gives it */
	unsigned int native[2]; /* first kernel with native XDP */
	unsigned int zero[2];   /* with AF_XDP zero-copy; zeros: none that we know of */
	int max_mtu;            /* for a program that takes single buffers; 0: not known */
	int max_queues;         /* with XDP; 0: not known */
	bool refuses_lro;       /* no program is attached while LRO or hardware GRO is on */
	bool drops_lro;         /* takes it off by itself, if it can be taken off */
	bool takes_tx_queues;   /* a queue for each processor beside those that receive */
	bool halves_queues;     /* at most half of its channels while a program is there */
};

/* Known to go wrong: from kernel SINCE (zeros: always) until before kernel UNTIL (zeros: to this
 * day). */
struct doctor_fault {
	const char *driver;
	unsigned int since[3];
	unsigned int until[3];
	enum doctor_level level;
	bool zero_copy_only; /* no harm where zero-copy is off */
	const char *text;
	const char *fix;
	const char *source;
};

/* NULL: a driver that the table does not know. */
const struct doctor_driver *doctor_driver_find(const char *name);

/* A fault that the kernel has with that driver; NULL: none known. ZERO_COPY: whether that may be
 * used. */
const struct doctor_fault *doctor_fault_find(const char *driver, const unsigned int kernel[3],
					     bool zero_copy);

#endif
