/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For cmocka: a group of tests with a folder of its own, and the path of one file in it. Whether
 * that file is there is the tests' affair; whatever else they make there they remove.
 */
#ifndef VOLLEY_TESTS_LIB_TMPFOLDER_H
#define VOLLEY_TESTS_LIB_TMPFOLDER_H

/* As long as the group runs. The folder is of mode 0700. */
extern char tmpfolder[];
extern char tmpfolder_file[];

/* Setup and teardown of a group. */
int tmpfolder_make(void **state);
int tmpfolder_remove(void **state);

#endif
