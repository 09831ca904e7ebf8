/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifndef MFD_NOEXEC_SEAL /* of linux/memfd.h, which goes ill with sys/mman.h */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int memory_file_open(const char *name, unsigned int flags)
{
	int fd = memfd_create(name, flags | MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags | MFD_CLOEXEC); /* before Linux 6.3 */
	return fd < 0 ? -errno : fd;
}

int memory_file_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

bool memory_file_is_sealed(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

bool memory_file_is_of_owner(int fd, const char *path)
{
	struct stat text, file;

	return memory_file_is_sealed(fd) && !fstat(fd, &text) &&
	       (!text.st_uid || (!stat(path, &file) && text.st_uid == file.st_uid));
}
