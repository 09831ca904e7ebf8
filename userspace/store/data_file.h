/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks through an LMDB data file before LMDB maps it. LMDB trusts what it has written: a page that
 * was damaged on the disk, or a file that was cut, would end the daemon by a signal.
 *
 * The file's form is that of LMDB 0.9, data version 1, on 64-bit machines; see "struct MDB_page"
 * and "struct MDB_meta" in mdb.c of that version. Of others nothing is said here, LMDB refuses them
 * itself.
 */
#ifndef VOLLEY_STORE_DATA_FILE_H
#define VOLLEY_STORE_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>

enum data_file_state {
	DATA_FILE_WHOLE,
	DATA_FILE_NONE, /* there is no file */
	DATA_FILE_DAMAGED,
};

/*
 * Every page that can be reached: once, of the right kind, inside the file, its entries inside it;
 * what is free is not in use. Contents have sums of their own (journal_sum). Reads the file once,
 * with a bit for each page in memory. An enum data_file_state, with a clause in @why for damage; or
 * -errno.
 */
int data_file_check(int folder_fd, const char *name, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
