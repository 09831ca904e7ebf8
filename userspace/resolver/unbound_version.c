/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/unbound_version.h"

#include <stdio.h>
#include <stdlib.h>

static bool read_version(const char *text, unsigned int number[3])
{
	number[2] = 0;
	return sscanf(text, "%u.%u.%u", &number[0], &number[1], &number[2]) >= 2;
}

bool unbound_version_is_sound(const char *version)
{
	unsigned int has[3], sound[3];

	if (!read_version(UNBOUND_VERSION_SOUND, sound))
		abort(); /* a constant of ours */
	if (!read_version(version, has))
		return false;
	for (int i = 0; i < 3; i++)
		if (has[i] != sound[i])
			return has[i] > sound[i];
	return true;
}
