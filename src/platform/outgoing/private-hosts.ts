import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isPrivateAddress } from './public-addresses.js';

/** The host and port of a URL. */
export type Destination = Readonly<{ host: string; port: number }>;

type Entry = Readonly<{ port: number | undefined }> & (Readonly<{ name: string }> | Readonly<{ network: Network }>);
type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** The private hosts and networks that the operator allows. */
export class PrivateHosts {
  private readonly entries: readonly Entry[];

  /**
   * @param entries `host`, `host:port`, `address`, `address:port`, `[address]:port` or a network. @throws Error for another form
   */
  constructor(entries: readonly string[]) {
    this.entries = entries.map(entryOf);
  }

  /**
   * A host that is allowed by name may have a private address, but not a link-local one, where cloud machines keep credentials.
   */
  allow(address: string, { host, port }: Destination): boolean {
    return this.entries.some((entry) => {
      if (entry.port !== undefined && entry.port !== port) return false;
      if ('name' in entry) return entry.name === withoutDot(host) && isPrivateAddress(address);
      return isInside(address, entry.network);
    });
  }
}

/** The host in lower case without a trailing dot, because `name.` and `name` are the same host. */
export const withoutDot = (host: string): string => host.toLowerCase().replace(/\.$/, '');

const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

function entryOf(text: string): Entry {
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw new Error(`holds "${text}", which is not a network such as 10.0.0.0/8.`);
    return { network: ipaddr.parseCIDR(text), port: undefined };
  }
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = isIP(text) === 6 ? text : (bracketed ?? plain ?? '').toLowerCase();
  const port = digits === undefined || isIP(text) === 6 ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535))
    throw new Error(`holds "${text}", whose port is not between 1 and 65535.`);
  if (isIP(host) !== 0) return { network: networkOf(host), port };
  if (bracketed !== undefined || !HOST_NAME.test(host)) throw new Error(`holds "${text}", which is not a host name.`);
  return { name: host, port };
}

const networkOf = (address: string): Network => {
  const parsed = ipaddr.parse(address);
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128] as Network;
};

function isInside(address: string, [network, bits]: Network): boolean {
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.kind() === network.kind() && (parsed as ipaddr.IPv4).match(network, bits);
}
