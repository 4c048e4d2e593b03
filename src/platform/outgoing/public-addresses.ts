import ipaddr from 'ipaddr.js';

/** The IPv6 range that IANA assigns as global unicast. The rest is reserved, although parsers classify it as unicast. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Addresses outside the link-local range at which cloud machines get their credentials (Azure, Alibaba Cloud, AWS, Google
 * Cloud).
 */
const CREDENTIAL_SERVERS: ReadonlySet<string> = new Set(
  ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map((address) =>
    ipaddr.parse(address).toNormalizedString(),
  ),
);

/**
 * Whether an IP address is public. Addresses that embed another address (IPv4-mapped, NAT64, 6to4, Teredo) are not, because the
 * embedded address decides where they lead.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parsedAddress(address);
  if (parsed?.range() !== 'unicast' || isCredentialServer(parsed)) return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/** Whether an IP address is private. Those at which cloud machines keep credentials are not, link-local or otherwise. */
export function isPrivateAddress(address: string): boolean {
  const parsed = parsedAddress(address);
  if (parsed === undefined || isCredentialServer(parsed)) return false;
  return ['private', 'loopback', 'uniqueLocal', 'carrierGradeNat'].includes(parsed.range());
}

const isCredentialServer = (parsed: ipaddr.IPv4 | ipaddr.IPv6): boolean => CREDENTIAL_SERVERS.has(parsed.toNormalizedString());

/** Parses an address. One with a zone belongs to a network interface of this machine and is refused. */
const parsedAddress = (address: string) =>
  address.includes('%') || !ipaddr.isValid(address) ? undefined : ipaddr.parse(address);
