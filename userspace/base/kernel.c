/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/kernel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

bool kernel_tells_realtime(const char *version, const char *realtime)
{
	/* The form with a space is from the patches for Linux 5.2 and before. */
	return strstr(version, "PREEMPT_RT") || strstr(version, "PREEMPT RT") || *realtime == '1';
}

bool kernel_is_realtime(void)
{
	int fd = open("/sys/kernel/realtime", O_RDONLY | O_CLOEXEC);
	struct utsname name = { 0 };
	char realtime[8] = "";

	if (fd >= 0) {
		if (read(fd, realtime, sizeof(realtime) - 1) < 0)
			realtime[0] = 0;
		close(fd);
	}
	return !uname(&name) && kernel_tells_realtime(name.version, realtime);
}
