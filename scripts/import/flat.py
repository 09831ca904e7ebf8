# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""What nsd.conf(5) and unbound.conf(5) have in common: addresses to listen on, names of servers."""
import table
import values


def listen(result, node, address, port="", is_tls=False):
    """Adds ADDRESS or ADDRESS@PORT to server.listen or server.tls.listen. PORT is used if ADDRESS
    has none. A note reports a wrong address."""
    split = values.split_port(address)
    if not split:
        result.hole(node, f"\"{address}\" is no address: give server.listen an address of the host")
        return
    port = split[1] or port
    if port == ("853" if is_tls else "53"):
        port = "" if not is_tls else port
    result.set(node, "server.tls.listen" if is_tls else "server.listen",
               split[0] + ("@" + port if port else ""))


class Server:
    """One server's file. `calls` are the functions of options with the action "code"."""

    def __init__(self, name, result, top):
        self.result, self.top, self.tables = result, top, table.read(name)
        self.calls = {option.replace("_", "-"): getattr(self, "do_" + option) for option in
                      (name[3:] for name in dir(self) if name.startswith("do_"))}

    def sections(self, *names):
        return self.top.all(*names)

    def server_text(self, *names):
        """The value of the last such option of all sections "server"."""
        found = [node.find(*names) for node in self.sections("server")]
        found = [node for node in found if node is not None]
        return found[-1].word() if found else ""

    def server_option(self, name):
        return next((node for section in self.sections("server") for node in section.all(name)), None)

    def carry(self, section, rows, at=None):
        table.carry_all(self.result, section, self.tables[rows], self.calls, at)

    def addresses(self, options, certificate, key, fallback, others):
        """All addresses, which are TLS if their port is the TLS port. OTHERS has the options that
        name a port with another protocol, and the ports without them."""
        port = self.server_text("port") or "53"
        tls_port = self.server_text("tls-port", "ssl-port") or "853"
        nodes = [node for section in self.sections("server") for node in section.all(*options)]
        for node in (node for section in self.sections("server") for node in section.all("port")):
            if node.word() == "53":
                self.result.idle(node, "53 is the port without it")
        closed = {one.word(): name for name in others for section in self.sections("server")
                  for one in section.all(name)}
        closed |= {text: name for name, text in others.items() if text and not
                   self.server_text(name)}
        for node in nodes:
            own = node.word().partition("@")[2] or port
            if own in closed and own != tls_port:
                self.result.hole(node, f"port {own} is the {closed[own]}: Volley would answer plain "
                                       "DNS there")
                continue
            listen(self.result, node, node.word(), port, own == tls_port)
            for word in node.words[1:]:
                self.result.left(node, f"\"{word}\" is ignored: see server.workers")
        for address in fallback if not nodes else ():
            listen(self.result, self.top.children[0], address, port)
        tls = self.result.config.get("server", {}).get("tls")
        for option, leaf in ((certificate, "certificate"), (key, "key")):
            text = self.server_text(*option)
            if tls and text:
                tls[leaf] = self.result.path(text)

    # --- Options that both have -------------------------------------------------------------------

    def do_version(self, node, _at):
        if values.is_yes(self.server_text("hide-version")):
            self.result.idle(node, "hide-version is set, and volleyd tells no version by itself")
        else:
            self.result.set(node, "server.version", node.word())

    def do_identity(self, node, _at):
        if values.is_yes(self.server_text("hide-identity")):
            self.result.idle(node, "hide-identity is set, and volleyd tells no name by itself")
        elif node.word():
            self.result.set(node, "server.identity", node.word())

    def do_nsid(self, node, _at):
        text = node.word()
        if text:
            self.result.set(node, "server.nsid",
                            text[6:] if text.startswith("ascii_") else "0x" + text)

    def do_refuse_any(self, node, _at):
        self.result.set(node, "server.any", "minimal" if values.is_yes(node.word()) else "full")

    do_deny_any = do_refuse_any

    def do_rate(self, node, _at):
        self.result.set(node, "rrl.answers", node.word())
        self.result.note(node, "rrl.answers counts all answers to one address, for all names and "
                               "types")

    do_rrl_ratelimit = do_ip_ratelimit = do_rate
