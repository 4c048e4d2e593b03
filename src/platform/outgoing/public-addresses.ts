import ipaddr from 'ipaddr.js';

/** The IPv6 range that IANA assigns as global unicast. The rest is reserved, although parsers classify it as unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an IP address is public. Addresses that embed another address (IPv4-mapped, NAT64, 6to4, Teredo) are not, because the
 * embedded address decides where they lead.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parsedAddress(address);
  if (parsed?.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/** Whether an IP address is private. Link-local ones are not, because cloud machines keep credentials there. */
export const isPrivateAddress = (address: string): boolean =>
  ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'].includes(parsedAddress(address)?.range() ?? '');

/** Parses an address. One with a zone belongs to a network interface of this machine and is refused. */
const parsedAddress = (address: string) =>
  address.includes('%') || !ipaddr.isValid(address) ? undefined : ipaddr.parse(address);
