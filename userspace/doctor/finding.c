/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

const char *doctor_level_text(enum doctor_level level)
{
	static const char *const texts[] = { "", "ok", "unknown", "warn", "fail" };

	return texts[level];
}

#define SAY(f, its_level, format)                                      \
	do {                                                           \
		va_list args;                                          \
                                                                       \
		va_start(args, format);                                \
		vsnprintf((f)->text, sizeof((f)->text), format, args); \
		va_end(args);                                          \
		(f)->level = (its_level);                              \
	} while (0)

void doctor_ok(struct doctor_finding *f, const char *format, ...)
{
	SAY(f, DOCTOR_OK, format);
}

void doctor_warn(struct doctor_finding *f, const char *format, ...)
{
	SAY(f, DOCTOR_WARN, format);
}

void doctor_fail(struct doctor_finding *f, const char *format, ...)
{
	SAY(f, DOCTOR_FAIL, format);
}

void doctor_refuse(struct doctor_finding *f, const struct config_interface *want,
		   const char *format, ...)
{
	static const char instead[] = "; XDP is generic instead, several times slower";
	size_t used;

	SAY(f, want->xdp == CONFIG_XDP_NATIVE ? DOCTOR_FAIL : DOCTOR_WARN, format);
	used = strlen(f->text);
	if (f->level == DOCTOR_WARN)
		snprintf(f->text + used, sizeof(f->text) - used, "%s", instead);
}

void doctor_fix(struct doctor_finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->fix, sizeof(f->fix), format, args);
	va_end(args);
}

bool doctor_is_unknown(struct doctor_finding *f, int64_t fact, const char *what)
{
	if (fact >= 0)
		return false;
	if (fact == -EOPNOTSUPP || fact == -ENOENT)
		return true;
	f->level = DOCTOR_UNKNOWN;
	if (fact == -EPERM || fact == -EACCES)
		snprintf(f->text, sizeof(f->text), "%s: only root can read this", what);
	else if (fact == -EXDEV)
		snprintf(f->text, sizeof(f->text), "%s: not visible from this network namespace",
			 what);
	else
		snprintf(f->text, sizeof(f->text), "%s: %s", what, err_text((int)fact));
	return true;
}

bool doctor_is_before(const unsigned int kernel[3], unsigned int major, unsigned int minor,
		      unsigned int patch)
{
	const unsigned int than[3] = { major, minor, patch };

	if (!kernel[0])
		return false;
	for (int i = 0; i < 3; i++)
		if (kernel[i] != than[i])
			return kernel[i] < than[i];
	return false;
}

bool doctor_wants_xsk(const struct config_interface *want)
{
	return want->xdp != CONFIG_XDP_OFF &&
	       (want->port == CONFIG_PORT_AUTO || want->port == CONFIG_PORT_XSK);
}
