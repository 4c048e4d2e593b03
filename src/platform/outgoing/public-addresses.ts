import ipaddr from 'ipaddr.js';

/** All that IANA has given out as global unicast; the rest of IPv6 is reserved, though parsers call it unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an IP address is one of a server on the internet. Addresses that carry another one inside, as IPv4-mapped, NAT64,
 * 6to4 and Teredo ones do, are not: where they lead, the carried address decides.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parsedAddress(address);
  if (parsed?.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/** An address behind a firewall, as somebody runs servers at: not link-local, where machines keep their credentials. */
export const isPrivateAddress = (address: string): boolean =>
  ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'].includes(parsedAddress(address)?.range() ?? '');

/** An address of a zone is one of a network card of this machine: no such thing as a server. */
const parsedAddress = (address: string) =>
  address.includes('%') || !ipaddr.isValid(address) ? undefined : ipaddr.parse(address);
