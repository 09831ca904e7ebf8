/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a check found: how bad, a sentence that says what and where, and the command to type. */
#ifndef VOLLEY_DOCTOR_FINDING_H
#define VOLLEY_DOCTOR_FINDING_H

#include "doctor/facts.h"

enum doctor_level {
	DOCTOR_NOTHING, /* the check does not apply here */
	DOCTOR_OK,
	DOCTOR_UNKNOWN, /* it could not be checked */
	DOCTOR_WARN,    /* it works, slower or with less than there could be */
	DOCTOR_FAIL,    /* something will not work */
};

struct doctor_finding {
	enum doctor_level level;
	char text[512];
	char fix[256]; /* "": nothing to type */
};

/* A row of a table of checks. RUN leaves the finding as it is (DOCTOR_NOTHING) or sets it once. */
struct doctor_check {
	const char *name;
	void (*run)(const struct doctor_case *c, struct doctor_finding *f);
};

/* Each table ends with a NULL name. Of the host; of each interface, there or not; of each
 * service. */
extern const struct doctor_check doctor_host_checks[];
extern const struct doctor_check doctor_nic_checks[];
extern const struct doctor_check doctor_queue_checks[];
extern const struct doctor_check doctor_service_checks[];

/* "ok", "unknown", "warn", "fail". Static. */
const char *doctor_level_text(enum doctor_level level);

void doctor_ok(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_warn(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void doctor_fail(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * The driver refuses a native program: a failure where the configuration wants that (xdp: native),
 * else a warning, since the program is generic then.
 */
void doctor_refuse(struct doctor_finding *f, const struct config_interface *want,
		   const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What to type against it. */
void doctor_fix(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For a FACT below 0: says that WHAT could not be read, and why, or leaves *F alone where there is
 * no such thing. Whether it was below 0.
 */
bool doctor_is_unknown(struct doctor_finding *f, int64_t fact, const char *what);

/* Is kernel a.b.c before MAJOR.MINOR.PATCH? Not where the release was not understood. */
bool doctor_is_before(const unsigned int kernel[3], unsigned int major, unsigned int minor,
		      unsigned int patch);

/* Whether AF_XDP is wanted on that interface, as far as the configuration says. */
bool doctor_wants_xsk(const struct config_interface *want);

#endif
