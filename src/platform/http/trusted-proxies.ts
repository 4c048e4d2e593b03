import ipaddr from 'ipaddr.js';

/** Network names that Fastify supports. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * Checks a list of trusted proxies: addresses, networks and network names. @throws Error for an entry that Fastify does not
 * support
 */
export function checkTrustedProxies(proxies: readonly string[]): void {
  for (const proxy of proxies) {
    if (NAMED_NETWORKS.includes(proxy) || ipaddr.IPv4.isValidFourPartDecimal(proxy) || ipaddr.IPv6.isValid(proxy)) continue;
    // A network of all addresses would let clients choose their address.
    if (ipaddr.isValidCIDR(proxy) && ipaddr.parseCIDR(proxy)[1] > 0) continue;
    throw new Error(`holds "${proxy}", which is neither an address nor a network such as 10.0.0.0/8.`);
  }
}
