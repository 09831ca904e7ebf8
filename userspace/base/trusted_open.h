/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a file for an asker with fewer rights, who may be hostile: another process of the same
 * user, while this one has CAP_DAC_READ_SEARCH.
 *
 *	/var/lib/volley/zones/a.zone       each folder on the way is opened by itself, and each
 *	 └─┬─┘ └─┬──┘ └─┬─┘ └─┬──┘         symbolic link is followed here, not by the kernel
 *	  root  asker's: links refused
 *
 * In a folder that the asker may write to, it could put a symbolic or a hard link to any file under
 * any name. So no symbolic link in such a folder is followed, and no file with a second name is
 * opened there. All other links belong to the operator, and are followed. An asker that is root may
 * write to each folder, and reads what this function would refuse by itself: there, all links are
 * followed.
 */
#ifndef VOLLEY_BASE_TRUSTED_OPEN_H
#define VOLLEY_BASE_TRUSTED_OPEN_H

#include <stdbool.h>

enum trusted_kind {
	TRUSTED_FILE,   /* a regular file */
	TRUSTED_FOLDER, /* to read the names in it */
};

/*
 * Opens PATH for reading, absolute or below the working folder. *is_askers, unless NULL, says
 * whether the asker could have written the file's content, or put the file there. Returns a
 * descriptor with O_CLOEXEC, at which no open() or read() waits; ERR_OWN_LINK: a link that is not
 * followed; ERR_NOT_REGULAR, -EISDIR, -ENOTDIR, -ELOOP, -ENAMETOOLONG, or the -errno of opening it.
 * Any thread.
 */
int trusted_open(const char *path, enum trusted_kind kind, bool *is_askers)
	__attribute__((warn_unused_result));

#endif
