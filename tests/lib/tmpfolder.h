/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For cmocka: a folder for a group of tests, and the path of one file in it. The tests make that
 * file, and remove any other file that they make there, or use tmpfolder_remove_all().
 */
#ifndef VOLLEY_TESTS_LIB_TMPFOLDER_H
#define VOLLEY_TESTS_LIB_TMPFOLDER_H

/* Valid while the group runs. The folder has mode 0700. */
extern char tmpfolder[];
extern char tmpfolder_file[];

/* Setup and teardown of a group. */
int tmpfolder_make(void **state);
int tmpfolder_remove(void **state);
/* The teardown for tests that leave files and folders there. */
int tmpfolder_remove_all(void **state);

#endif
