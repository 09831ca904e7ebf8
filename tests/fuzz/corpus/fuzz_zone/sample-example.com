; example.com: one of everything that an authoritative server has to answer.
; Plain data, aliases, a wildcard, a delegation with glue, an empty non-terminal, a large answer.
$ORIGIN example.com.
$TTL 1h

@		IN SOA	ns1 hostmaster (
			2024010101	; serial
			2h		; refresh
			15m		; retry
			2w		; expire
			5m )		; negative answers
		IN NS	ns1
		IN NS	ns2.example.net.
		IN MX	10 mail
		IN MX	20 mail.example.net.
		IN A	192.0.2.1
		IN AAAA	2001:db8::1
		IN TXT	"v=spf1 mx -all"
		IN CAA	0 issue "ca.example.net"

ns1		IN A	192.0.2.53
		IN AAAA	2001:db8::53
mail		IN A	192.0.2.25
		IN AAAA	2001:db8::25
www	300	IN A	192.0.2.80
	300	IN A	192.0.2.81
	300	IN AAAA	2001:db8::80
MixedCase	IN A	192.0.2.99

; Aliases: within the zone in two steps, to another zone that is served, to nowhere.
ftp		IN CNAME	files
files		IN CNAME	www
shop		IN CNAME	www.example.net.
away		IN CNAME	www.example.org.
dangling	IN CNAME	nothing.here

; A wildcard, and names that stand in its way.
*.wild		IN A	192.0.2.200
		IN TXT	"from the wildcard"
host.wild	IN AAAA	2001:db8::200
*.alias		IN CNAME	www

; services.example.com and _tcp.services.example.com exist and own nothing.
_sip._tcp.services	IN SRV	0 5 5060 mail
_sip._tcp.services	IN SRV	10 5 5060 mail.example.net.

; Delegations: name servers below the cut need glue; another zone's do not.
sub		IN NS	ns1.sub
		IN NS	ns2.sub
		IN DS	60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118
ns1.sub		IN A	192.0.2.153
		IN AAAA	2001:db8::153
ns2.sub		IN A	192.0.2.154
hidden.sub	IN TXT	"below the cut: never an answer"
lame		IN NS	ns.example.org.

; Over 1232 octets: truncated over UDP, whole over TCP.
large		IN TXT	"01 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"02 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"03 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"04 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"05 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"06 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"07 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."
		IN TXT	"08 The quick brown fox jumps over the lazy dog, and the lazy dog does not so much as lift an ear; it has been jumped over before." "A second string of the same record."

; Newer and unknown types.
svc		IN HTTPS	1 . alpn="h2,h3" ipv4hint=192.0.2.80
_dns		IN SVCB	1 ns1 alpn=dot port=853
unknown		IN TYPE65280	\# 4 0A000001
escaped\.dot	IN A	192.0.2.46
sp\032ace	IN TXT	"semicolon ; and \"quotes\" and \226\130\172"
