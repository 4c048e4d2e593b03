import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { AddressGuard, ResolvedAddress } from './address-guard.js';
import type { Destination } from './private-hosts.js';

/** Timeout for resolving a name and connecting to one of its addresses. */
export const CONNECT_MS_MAX = 10_000;

/**
 * An HTTP agent that connects only to allowed addresses. The guard runs before connecting and not in the lookup, because literal
 * IP addresses are never looked up. The agent connects to the checked address, so a name that resolves differently the second
 * time (DNS rebinding) has no effect.
 */
export function guardedAgent(guard: AddressGuard, connectMs = CONNECT_MS_MAX): Agent {
  const connect = (options: buildConnector.Options, done: buildConnector.Callback) => {
    const destination = destinationOf(options);
    inTime(guard.addressesOf(destination), connectMs).then(
      (addresses) => {
        const connector = buildConnector({ timeout: connectMs, lookup: pinnedTo(addresses), autoSelectFamily: true });
        connector(options, (...[error, socket]) => {
          if (error !== null) return done(error, null);
          try {
            guard.check(socket.remoteAddress, destination);
          } catch (refusal) {
            socket.destroy();
            return done(refusal as Error, null);
          }
          done(null, socket);
        });
      },
      (error: Error) => done(error, null),
    );
  };
  return new Agent({ connect });
}

const destinationOf = ({ hostname, protocol, port }: buildConnector.Options): Destination => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port) || (protocol === 'https:' ? 443 : 80),
});

const pinnedTo =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_name, options, done) => {
    const wanted = addresses.filter(({ family }) => !options.family || family === options.family);
    const first = wanted[0];
    if (!first) done(Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' }), '');
    else if (options.all) done(null, [...wanted]);
    else done(null, first.address, first.family);
  };

async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error('The name could not be resolved in time.'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
