import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { ConnectionTarget, Endpoint } from './connection-string.js';

/** How long the probe of an endpoint may take. The failed call has already taken time. */
const PROBE_MS_MAX = 400;

/** How long the result of a probe is reused. */
const FRESH_MS = 1_000;

const CERTIFICATE_UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);
const NO_TLS = /^(?:EPROTO|ERR_SSL_\w+)$/;
const UNKNOWN_HOST = /^(?:ENOTFOUND|EAI_AGAIN|EAI_FAIL|EAI_NODATA)$/;

/** What is wrong with the endpoints, and whether every endpoint has a problem. */
type Probed = Readonly<{ clauses: readonly string[]; isTotal: boolean }>;

/**
 * Probes the endpoints of a connection string after the client has found no server. The client reports only that discovery
 * failed or that there is no connection.
 */
export class Reachability {
  private latest: Promise<Probed> | undefined;

  constructor(private readonly target: ConnectionTarget) {}

  /** The reasons why no server is found; undefined if one can be reached and no leader is needed. */
  async trouble(needsLeader: boolean): Promise<string | undefined> {
    const { clauses, isTotal } = await this.probed();
    if (isTotal) return clauses.join('; ');
    return needsLeader ? [...clauses, 'no node knows of a leader'].join('; ') : undefined;
  }

  private probed(): Promise<Probed> {
    if (!this.latest) {
      const probing = (this.latest = probeAll(this.target));
      const forget = () => setTimeout(() => (this.latest = undefined), FRESH_MS).unref();
      probing.then(forget, forget);
    }
    return this.latest;
  }
}

async function probeAll(target: ConnectionTarget): Promise<Probed> {
  const probed = await Promise.all(
    target.endpoints.map(async (endpoint) => ({ name: nameOf(endpoint), trouble: await probe(endpoint, target) })),
  );
  const names = new Map<string, string[]>();
  for (const { name, trouble } of probed) if (trouble !== undefined) names.set(trouble, [...(names.get(trouble) ?? []), name]);
  const clauses = [...names].map(([trouble, of]) => trouble.replace('%', listed(of)));
  return { clauses, isTotal: probed.every(({ trouble }) => trouble !== undefined) };
}

const nameOf = ({ address, port }: Endpoint): string => `${address}:${port}`;

const listed = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names.join();

/**
 * The problem of an endpoint, with % in place of its name. TLS is always tried: a server without TLS answers at once, but not
 * with a handshake.
 */
function probe({ address, port }: Endpoint, target: ConnectionTarget): Promise<string | undefined> {
  const host = address.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...security(target) });
    let reached: 'nothing' | 'name' | 'address' = isIP(host) ? 'name' : 'nothing';
    const timer = setTimeout(() => done(LATE[reached]), PROBE_MS_MAX);
    const done = (trouble: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(trouble);
    };
    socket.on('lookup', () => (reached = 'name'));
    socket.on('connect', () => (reached = 'address'));
    socket.on('secureConnect', () => done(target.tls ? undefined : 'TLS is spoken at %, and tls=false turns it off here'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done(reached === 'address' ? ofTls(error, target.tls) : ofAddress(error)),
    );
  });
}

/** The problem at the end of the probe's time, by the step that was reached. */
const LATE = {
  nothing: 'the address of % is not found in time',
  name: 'no connection is taken at %',
  address: 'connections are taken and not answered at %',
};

function security({ tls, caFile, certificateFile, keyFile }: ConnectionTarget): ConnectionOptions {
  return {
    ALPNProtocols: ['h2'],
    rejectUnauthorized: tls,
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
    ...(certificateFile === undefined ? {} : { cert: readFileSync(certificateFile) }),
    ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
  };
}

function ofAddress({ code }: NodeJS.ErrnoException): string {
  if (code !== undefined && UNKNOWN_HOST.test(code)) return 'the host of % is not known';
  if (code === 'ECONNREFUSED') return 'nothing listens on %';
  return `% cannot be reached (${code})`;
}

function ofTls({ code = '' }: NodeJS.ErrnoException, isWanted: boolean): string | undefined {
  if (!isWanted) return undefined;
  if (CERTIFICATE_UNTRUSTED.has(code))
    return 'the certificate of % is by an authority that is not trusted here: name its file with tlsCAFile';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate of % is for other names than that';
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate of % has expired';
  if (NO_TLS.test(code)) return 'no TLS is spoken at %: tls=false turns it off here, too';
  return `no connection comes about with % (${code})`;
}
