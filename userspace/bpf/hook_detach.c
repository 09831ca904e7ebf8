/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detaches a program when the driver refuses that because of the MTU. virtio_net up to Linux 6.2
 * accepts any MTU while a program is attached. Afterwards it refuses both attaching and detaching
 * with EINVAL: virtnet_xdp_set() compares the MTU even if there is no new program.
 *
 * So the MTU is lowered, the program is detached, and the MTU is restored. The kernel also lowers
 * the MTU of VLANs and other interfaces on top, and does not raise it again; we restore these, too.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "bpf/hook.h"
#include "bpf/hook_state.h"

#define LOW_MTU 1500 /* every driver accepts a program with it, and IPv6 keeps working */

/* ioctl() with SIOCGIFMTU or SIOCSIFMTU. 0 or -errno. */
static int ask_mtu(int fd, unsigned long request, const char *ifname, int *mtu)
{
	struct ifreq ifr = { .ifr_mtu = *mtu };
	int err;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	err = ioctl(fd, request, &ifr) ? -errno : 0;
	*mtu = ifr.ifr_mtu;
	return err;
}

/* Restores an interface's MTU if it is lower than before. */
static void restore_one(int fd, const char *ifname, int before)
{
	int mtu = 0, err = ask_mtu(fd, SIOCGIFMTU, ifname, &mtu);

	if (!err && mtu >= before)
		return;
	if (!err)
		err = ask_mtu(fd, SIOCSIFMTU, ifname, &before);
	if (err && err != -ENODEV)
		log_warn("%s: cannot set its MTU back: %s: type ip link set dev %s mtu %d", ifname,
			 err_text(err), ifname, before);
}

#define LINKS_CAP 256 /* more interfaces than this do not get their MTU back */

struct mtus {
	size_t n;
	struct {
		char ifname[IF_NAMESIZE];
		int mtu;
	} of[LINKS_CAP];
};

/* Notes every interface whose MTU the kernel could lower. The order of if_nameindex() has a lower
 * interface before those on top of it. */
static void note_all(int fd, struct mtus *mtus)
{
	struct if_nameindex *names = if_nameindex(), *name;
	int mtu;

	mtus->n = 0;
	for (name = names; name && name->if_name && mtus->n < LINKS_CAP; name++) {
		mtu = 0;
		if (ask_mtu(fd, SIOCGIFMTU, name->if_name, &mtu) || mtu <= LOW_MTU)
			continue;
		snprintf(mtus->of[mtus->n].ifname, IF_NAMESIZE, "%s", name->if_name);
		mtus->of[mtus->n++].mtu = mtu;
	}
	if_freenameindex(names);
}

static int detach_below(struct hook *p, int fd, int mtu)
{
	struct mtus mtus;
	int low = LOW_MTU, err;

	note_all(fd, &mtus);
	err = ask_mtu(fd, SIOCSIFMTU, p->ifname, &low);
	if (err)
		return err;
	err = hook_detach_once(p);
	restore_one(fd, p->ifname, mtu);
	for (size_t i = 0; i < mtus.n; i++)
		restore_one(fd, mtus.of[i].ifname, mtus.of[i].mtu);
	return err;
}

int hook_detach(struct hook *p)
{
	int mtu = 0, err = hook_detach_once(p), fd;

	if (err != -EINVAL || p->mode != PROGRAM_NATIVE)
		return err;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err;
	if (!ask_mtu(fd, SIOCGIFMTU, p->ifname, &mtu) && mtu > LOW_MTU) {
		err = detach_below(p, fd, mtu);
		if (!err)
			log_notice("%s: its driver detaches an XDP program with a small MTU only: "
				   "the MTU was %d for a moment, and is %d again",
				   p->ifname, LOW_MTU, mtu);
	}
	close(fd);
	return err;
}
