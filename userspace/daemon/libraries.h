/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The libraries that volleyd is linked with: their versions when it was built, and those with which
 * it runs. The Makefile's PKGS names them; pkg-config says what was there at the build.
 */
#ifndef VOLLEY_DAEMON_LIBRARIES_H
#define VOLLEY_DAEMON_LIBRARIES_H

#include <stdio.h>

/*
 * A heading, and a line for each library: name, version at the build, and what runs. This is the
 * version that the library reports, or else the name of its file ("libmnl.so.0.2.0"), or "not
 * loaded". One thread.
 */
void libraries_put(FILE *out);

#endif
