/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmocka 1 and 2. cmocka 2 makes `stop` a macro, which is the name of members and functions of
 * ours. It also warns of assert_in_range(), and cmocka 1 has no other function for this.
 */
#ifndef TESTS_LIB_WRAPPED_CMOCKA_H
#define TESTS_LIB_WRAPPED_CMOCKA_H

#include_next <cmocka.h>

#undef stop
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#endif
