import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ClientConnection } from './client-limits.port.js';

/** 16-bit parts of the network prefix. An internet provider assigns a whole /64 network to one customer. */
const IPV6_NETWORK_PARTS = 4;

/**
 * The address that rate limits count as one client: an IPv4 address or an IPv6 /64 network. If a proxy reports something that is
 * not an address, the address of the proxy itself.
 */
export function clientOf({ ip, socket }: ClientConnection): string {
  const address = [ip, socket.remoteAddress].find((each) => each !== undefined && isIP(each) !== 0);
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_PARTS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
