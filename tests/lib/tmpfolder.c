/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/tmpfolder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char tmpfolder[] = "/tmp/volley-test-XXXXXX";
char tmpfolder_file[sizeof(tmpfolder) + sizeof("/file")];

int tmpfolder_make(void **state)
{
	(void)state;
	if (!mkdtemp(tmpfolder))
		return -1;
	snprintf(tmpfolder_file, sizeof(tmpfolder_file), "%s/file", tmpfolder);
	return 0;
}

int tmpfolder_remove(void **state)
{
	(void)state;
	unlink(tmpfolder_file);
	return rmdir(tmpfolder);
}

int tmpfolder_remove_all(void **state)
{
	char command[sizeof(tmpfolder) + sizeof("rm -rf ")];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", tmpfolder);
	return system(command);
}
