/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what the XDP program needs and this kernel lacks. It asks the kernel and does not look at
 * the version: distributions backport features to older kernels. */
#ifndef VOLLEY_BPF_NEEDS_H
#define VOLLEY_BPF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#define NEEDS_HELPER_CAP 96

/*
 * Finds a BPF helper that the program calls and that this kernel lacks for XDP programs. If there
 * are several, it is the newest: "bpf_xdp_store_bytes(): take Linux 5.18 or later". False: none is
 * missing. Needs CAP_BPF; without it, no helper is found missing.
 */
bool needs_find_missing(char *text, size_t cap);

#endif
