import { readFileSync } from 'node:fs';
import { percentDecoded } from '../../percent-decoded.js';

export type Endpoint = Readonly<{ address: string; port: number }>;

/** The endpoints and options in a connection string. */
export type ConnectionTarget = Readonly<{
  endpoints: readonly Endpoint[];
  /** Whether the leader is discovered from the endpoints by gossip. Otherwise the only endpoint is the server. */
  discovers: boolean;
  tls: boolean;
  /** Paths of PEM files: the trusted certificate authorities, and the client's certificate with its key. */
  caFile?: string;
  certificateFile?: string;
  keyFile?: string;
  credentials?: Readonly<{ username: string; password: string }>;
  connectionName?: string;
  gossipTimeoutSeconds: number;
  discoveryIntervalMs: number;
  keepAliveIntervalMs: number;
  keepAliveTimeoutMs: number;
}>;

const PORT_DEFAULT = 2113;
const PORT_MAX = 65_535;

/** How long a cluster member may take to answer a gossip request before the next member is asked. */
const GOSSIP_TIMEOUT_SECONDS_DEFAULT = 1;
const DISCOVERY_INTERVAL_MS_DEFAULT = 100;
/** The interval and timeout of keep-alive pings. The server rejects shorter ones. */
const KEEP_ALIVE_MS_DEFAULT = 10_000;

/** An invalid connection string. The message never quotes the string, because it may contain a password. */
export class BadConnectionString extends Error {
  override readonly name = 'BadConnectionString';
}

const SHAPE = /^(?:esdb|kurrentdb|kdb)(\+discover)?:\/\/(?:([^/?]*)@)?([^/?@]+)\/?(?:\?(.*))?$/;

/**
 * Parses `esdb://user:password@host:2113?tls=true`, or several hosts separated by commas. `kurrentdb://` means the same. With
 * `+discover`, or with several hosts, the leader is discovered. The client's own parser prints passwords, ignores unknown
 * options, and uses only the first host for discovery.
 * @throws BadConnectionString
 */
export function connectionTarget(text: string): ConnectionTarget {
  const [, discover, userInfo, hosts, query] = SHAPE.exec(text.trim()) ?? [];
  if (!hosts) throw new BadConnectionString('must look like esdb://user:password@host:2113?tls=true.');
  const options = optionsIn(query ?? '');
  const endpoints = hosts.split(',').map(endpoint);
  const credentials = userInfo === undefined ? undefined : credentialsIn(userInfo);
  return {
    endpoints,
    discovers: discover !== undefined || endpoints.length > 1,
    tls: true,
    gossipTimeoutSeconds: GOSSIP_TIMEOUT_SECONDS_DEFAULT,
    discoveryIntervalMs: DISCOVERY_INTERVAL_MS_DEFAULT,
    keepAliveIntervalMs: KEEP_ALIVE_MS_DEFAULT,
    keepAliveTimeoutMs: KEEP_ALIVE_MS_DEFAULT,
    ...(credentials ? { credentials } : {}),
    ...options,
  };
}

function endpoint(host: string): Endpoint {
  const [, address, port] = /^\s*(\[[0-9a-fA-F:.]+\]|[^:\s]+)(?::(\d+))?\s*$/.exec(host) ?? [];
  const number = port === undefined ? PORT_DEFAULT : Number(port);
  if (!address || number < 1 || number > PORT_MAX) {
    throw new BadConnectionString('must name each host as name or name:port, with a port from 1 to 65535.');
  }
  return { address, port: number };
}

function credentialsIn(userInfo: string): { username: string; password: string } {
  const colon = userInfo.indexOf(':');
  if (colon < 1) throw new BadConnectionString('must give credentials as user:password before the @.');
  return { username: decoded(userInfo.slice(0, colon)), password: decoded(userInfo.slice(colon + 1)) };
}

function decoded(text: string): string {
  try {
    return percentDecoded(text);
  } catch (error) {
    throw new BadConnectionString((error as Error).message);
  }
}

type Options = Partial<Omit<ConnectionTarget, 'endpoints' | 'discovers' | 'credentials'>>;
type Option = (name: string, value: string) => Options;

const flag = (name: string, value: string): boolean => {
  if (value !== 'true' && value !== 'false') throw new BadConnectionString(`must have true or false for ${name}.`);
  return value === 'true';
};

const whole = (name: string, value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new BadConnectionString(`must have a whole number for ${name}.`);
  return Number(value);
};

/** Checks that the file can be read. Its content is read when the connection is made. */
const readable = (name: string, value: string): string => {
  const path = decoded(value);
  try {
    readFileSync(path);
  } catch {
    throw new BadConnectionString(`names a file for ${name} that cannot be read.`);
  }
  return path;
};

/** The options by lower-case name. Options of the client that have no effect here are refused like unknown ones. */
const OPTIONS: Readonly<Record<string, Option>> = {
  tls: (name, value) => ({ tls: flag(name, value) }),
  tlsverifycert: (name, value) => {
    if (!flag(name, value)) throw new BadConnectionString('cannot turn tlsVerifyCert off; name the authority with tlsCAFile.');
    return {};
  },
  tlscafile: (name, value) => ({ caFile: readable(name, value) }),
  usercertfile: (name, value) => ({ certificateFile: readable(name, value) }),
  userkeyfile: (name, value) => ({ keyFile: readable(name, value) }),
  connectionname: (_, value) => ({ connectionName: decoded(value) }),
  nodepreference: (name, value) => {
    if (value.toLowerCase() !== 'leader')
      throw new BadConnectionString(`must have leader for ${name}: decisions are made there.`);
    return {};
  },
  gossiptimeout: (name, value) => ({ gossipTimeoutSeconds: whole(name, value) }),
  discoveryinterval: (name, value) => ({ discoveryIntervalMs: whole(name, value) }),
  keepaliveinterval: (name, value) => ({ keepAliveIntervalMs: whole(name, value) }),
  keepalivetimeout: (name, value) => ({ keepAliveTimeoutMs: whole(name, value) }),
};

function optionsIn(query: string): Options {
  let options: Options = {};
  for (const part of query.split('&').filter(Boolean)) {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim();
    const read = Object.hasOwn(OPTIONS, name.toLowerCase()) ? OPTIONS[name.toLowerCase()]! : undefined;
    if (!read) throw new BadConnectionString(`has an option that is not known here: ${printable(name)}.`);
    options = { ...options, ...read(name, part.slice(equals + 1).trim()) };
  }
  if ((options.certificateFile === undefined) !== (options.keyFile === undefined)) {
    throw new BadConnectionString('must name userCertFile and userKeyFile together.');
  }
  return options;
}

/** Hides a name that may be the rest of a password that contains a `?`. */
const printable = (name: string): string => (/^[A-Za-z]{1,30}$/.test(name) ? name : 'its name has other characters than letters');
