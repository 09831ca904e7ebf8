/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking a program off where the driver refuses that because of the MTU: virtio_net up to Linux 6.2
 * takes any MTU while a program is there, and afterwards refuses with EINVAL to attach and to
 * detach one alike (virtnet_xdp_set() compares the MTU without asking whether there is a new
 * program).
 *
 * So the MTU is lowered, the program is taken off, and the MTU is what it was. The kernel lowers
 * the MTU of the VLANs and the like that stand on the interface as well, and does not raise it
 * again: that is done here.
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
#include "bpf/program.h"
#include "bpf/program_state.h"

#define LOW_MTU 1500 /* every driver takes a program with it, and IPv6 stays on */

/* SIOCGIFMTU, SIOCSIFMTU. 0 or -errno. */
static int ask_mtu(int fd, unsigned long request, const char *ifname, int *mtu)
{
	struct ifreq ifr = { .ifr_mtu = *mtu };
	int err;

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	err = ioctl(fd, request, &ifr) ? -errno : 0;
	*mtu = ifr.ifr_mtu;
	return err;
}

/* What an interface had before, where that is more than it has now. */
static void restore_one(int fd, const char *ifname, int before)
{
	int mtu = 0, err = ask_mtu(fd, SIOCGIFMTU, ifname, &mtu);

	if (!err && mtu >= before)
		return;
	if (!err)
		err = ask_mtu(fd, SIOCSIFMTU, ifname, &before);
	if (err && err != -ENODEV)
		log_warn("%s: setting its MTU again: %s; ip link set dev %s mtu %d", ifname,
			 err_text(err), ifname, before);
}

#define LINKS_CAP 256 /* that can stand on an interface; the MTU of more of them is not restored */

struct mtus {
	size_t n;
	struct {
		char ifname[IF_NAMESIZE];
		int mtu;
	} of[LINKS_CAP];
};

/* All that the kernel could lower: in their order, so that what others stand on comes before
 * these. */
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

static int detach_below(struct program *p, int fd, int mtu)
{
	struct mtus mtus;
	int low = LOW_MTU, err;

	note_all(fd, &mtus);
	err = ask_mtu(fd, SIOCSIFMTU, p->ifname, &low);
	if (err)
		return err;
	err = program_detach_once(p);
	restore_one(fd, p->ifname, mtu);
	for (size_t i = 0; i < mtus.n; i++)
		restore_one(fd, mtus.of[i].ifname, mtus.of[i].mtu);
	return err;
}

int program_detach(struct program *p)
{
	int mtu = 0, err = program_detach_once(p), fd;

	if (err != -EINVAL || p->mode != PROGRAM_NATIVE)
		return err;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err;
	if (!ask_mtu(fd, SIOCGIFMTU, p->ifname, &mtu) && mtu > LOW_MTU) {
		err = detach_below(p, fd, mtu);
		if (!err)
			log_notice("%s: its driver lets the XDP program go with a smaller MTU "
				   "only: it was %d for a moment, and is %d again",
				   p->ifname, LOW_MTU, mtu);
	}
	close(fd);
	return err;
}
