import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ClientConnection } from './wrong-credentials.port.js';

/** One customer of a provider has all addresses of such a network. */
const IPV6_NETWORK_PARTS = 4;

/**
 * What counts as one client: an IPv4 address or an IPv6 network of 64 bits. Where a proxy names something that is no address,
 * that is the proxy itself.
 */
export function clientOf({ ip, socket }: ClientConnection): string {
  const address = [ip, socket.remoteAddress].find((each) => each !== undefined && isIP(each) !== 0);
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
