import ipaddr from 'ipaddr.js';

/** Networks that Fastify knows by name. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Whose `X-Forwarded-…` headers count: addresses, networks and names of networks. @throws Error for one that Fastify would not take */
export function checkTrustedProxies(proxies: readonly string[]): void {
  for (const proxy of proxies) {
    if (NAMED_NETWORKS.includes(proxy) || ipaddr.IPv4.isValidFourPartDecimal(proxy) || ipaddr.IPv6.isValid(proxy)) continue;
    // A setting that trusts every address lets each client say which one it has.
    if (ipaddr.isValidCIDR(proxy) && ipaddr.parseCIDR(proxy)[1] > 0) continue;
    throw new Error(`holds "${proxy}", which is no address and no network such as 10.0.0.0/8.`);
  }
}
