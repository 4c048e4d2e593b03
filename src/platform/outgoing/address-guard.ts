import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AddressRefused } from './outgoing-http.port.js';
import { type Destination, type PrivateHosts, withoutDot } from './private-hosts.js';
import { isPublicAddress } from './public-addresses.js';

export type ResolvedAddress = Readonly<{ address: string; family: number }>;

/** Resolves a name to all its addresses, in order of preference. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

export const resolveByDns: Resolve = (name) => lookup(name, { all: true, verbatim: true });

/** Allows connections to public addresses, and to private ones that the operator allows. */
export class AddressGuard {
  constructor(
    private readonly privateHosts: PrivateHosts,
    private readonly resolve: Resolve,
  ) {}

  /**
   * The addresses to connect to. The name is resolved once, and is refused if any address is not allowed. @throws AddressRefused
   */
  async addressesOf(destination: Destination): Promise<readonly ResolvedAddress[]> {
    const { host } = destination;
    const family = isIP(host);
    if (family !== 0) {
      this.check(host, destination);
      return [{ address: host, family }];
    }
    const addresses = await this.resolve(host).catch((error: unknown) => {
      throw isOwnName(host) ? refused(destination) : error;
    });
    for (const { address } of addresses) this.check(address, destination);
    return addresses;
  }

  /** @throws AddressRefused */
  check(address: string | undefined, destination: Destination): void {
    if (address !== undefined && this.privateHosts.allow(address, destination)) return;
    if (address === undefined || isOwnName(destination.host) || !isPublicAddress(address)) throw refused(destination);
  }
}

/** Names of this machine or its network, regardless of their addresses. */
const isOwnName = (host: string): boolean => /(^|\.)(localhost|local|internal|localdomain)$/.test(withoutDot(host));

const refused = ({ host }: Destination) =>
  new AddressRefused(`${host} may not be reached from here: it is not a public address.`);
