/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a check: its level, a sentence on what is wrong and where, a command to type. */
#ifndef VOLLEY_DOCTOR_FINDING_H
#define VOLLEY_DOCTOR_FINDING_H

#include "doctor/facts.h"

enum doctor_level {
	DOCTOR_NOTHING, /* the check does not apply here */
	DOCTOR_OK,
	DOCTOR_UNKNOWN, /* it could not be checked */
	DOCTOR_WARN,    /* it works, but slower or with less than possible */
	DOCTOR_FAIL,    /* something will not work */
};

struct doctor_finding {
	enum doctor_level level;
	char text[512];
	char fix[256]; /* "": no command */
};

/* A row of a table of checks. RUN sets the finding once, or leaves it (DOCTOR_NOTHING). */
struct doctor_check {
	const char *name;
	void (*run)(const struct doctor_case *c, struct doctor_finding *f);
};

/* Each table ends with a NULL name. They are for the host, for each interface, which may be
 * missing, and for each service. */
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
 * Reports that the driver refuses a native program. This is a failure if the configuration demands
 * one (xdp: native), else a warning, because volleyd then attaches a generic program.
 */
void doctor_refuse(struct doctor_finding *f, const struct config_interface *want,
		   const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the command that mends it. */
void doctor_fix(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * If FACT is below 0: reports that WHAT could not be read, and why, or leaves *F if the host has no
 * such thing. Returns true if FACT is below 0.
 */
bool doctor_is_unknown(struct doctor_finding *f, int64_t fact, const char *what);

/* True if the kernel is older than MAJOR.MINOR.PATCH. False if its release is not known. */
bool doctor_is_before(const unsigned int kernel[3], unsigned int major, unsigned int minor,
		      unsigned int patch);

/* True if the configuration allows AF_XDP on that interface. */
bool doctor_wants_xsk(const struct config_interface *want);

#endif
