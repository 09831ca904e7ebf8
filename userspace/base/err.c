/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

struct err_row {
	const char *name;
	const char *text;
};

static const struct err_row rows[ERR_N_CODES] = {
#define ERR_ROW(name, text) [name##_INDEX] = { #name, text },
	ERR_LIST(ERR_ROW)
#undef ERR_ROW
};

static const struct err_row *find_err(int code)
{
	if (code > -1000 || code <= -1000 - (int)ERR_N_CODES)
		return NULL;
	return &rows[-1000 - code];
}

/* As a positive errno. INT_MIN has no positive form and is no errno. */
static int to_errno(int code)
{
	return code > -1000 && code < 0 ? -code : code;
}

const char *err_text(int code)
{
	const struct err_row *row = find_err(code);
	const char *text = row ? row->text : strerrordesc_np(to_errno(code));

	return text ? text : "unknown error";
}

const char *err_name(int code)
{
	const struct err_row *row = find_err(code);

	return row ? row->name : strerrorname_np(to_errno(code));
}

bool err_is_exhausted(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOBUFS || code == -ENOMEM;
}
