import { readFileSync } from 'node:fs';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { ConnectionTarget } from './connection-string.js';
import type { Streams, StreamsClient } from './stubs.js';

/**
 * The members of the client package that are not public API and that the adapter uses, beside the generated stubs in `stubs.ts`.
 * docs/decisions/001 gives the reasons and the alternatives.
 */
export type ClientInternals = {
  /** Makes a call on the current connection. Without one, it discovers the server and connects first. */
  GRPCStreamCreator<Call>(client: typeof StreamsClient, name: string, create: (client: Streams) => Call): () => Promise<Call>;
  /** The metadata and options of a call: credentials, deadline, whether only the leader may answer. */
  callArguments(options: { requiresLeader: boolean }, call: { deadline: number }): Required<Parameters<Streams['batchAppend']>>;
  /** Drops the connection after an error that requires it. In a cluster, the next connection goes to the leader. */
  handleError(client: Streams, error: Error): Promise<void>;
  /** The server's description of itself, requested once for each connection. */
  readonly capabilities: Promise<{ serverVersion: string }>;
  dispose(): Promise<void>;
};

const MEMBERS = [
  'GRPCStreamCreator',
  'callArguments',
  'handleError',
  'capabilities',
  'dispose',
] as const satisfies readonly (keyof ClientInternals)[];

/** The version of the client that has these members. */
export const CLIENT_VERSION = '6.2.1';

/** @throws Error with the members that the installed version of the client lacks */
export function assertInternals(client: object): asserts client is ClientInternals {
  // `in` does not read the members. One of them is a getter that would connect.
  const missing = MEMBERS.filter((name) => !(name in client));
  if (missing.length > 0) {
    throw new Error(`@eventstore/db-client has no ${missing.join(', ')}: this program needs version ${CLIENT_VERSION}.`);
  }
}

/** Opens a client, which discovers the server and connects with the first call. The adapter does everything else. */
export function openClient(target: ConnectionTarget): ClientInternals {
  const { endpoints, discovers, tls, credentials, caFile, keyFile, certificateFile, connectionName } = target;
  const shared = {
    keepAliveInterval: target.keepAliveIntervalMs,
    keepAliveTimeout: target.keepAliveTimeoutMs,
    ...(connectionName === undefined ? {} : { connectionName }),
  };
  const security = {
    insecure: !tls,
    ...(tls && caFile !== undefined ? { rootCertificate: readFileSync(caFile) } : {}),
    ...(tls && keyFile !== undefined ? { userKeyFile: readFileSync(keyFile) } : {}),
    ...(tls && certificateFile !== undefined ? { userCertFile: readFileSync(certificateFile) } : {}),
  };
  const client: object = discovers
    ? new EventStoreDBClient({ ...shared, endpoints: [...endpoints], ...discovery(target) }, security, credentials)
    : new EventStoreDBClient({ ...shared, endpoint: endpoints[0]! }, security, credentials);
  assertInternals(client);
  return client;
}

/** One discovery attempt. Callers repeat it themselves, so they learn in time that a cluster has no leader. */
const discovery = ({ gossipTimeoutSeconds, discoveryIntervalMs }: ConnectionTarget) => ({
  gossipTimeout: gossipTimeoutSeconds,
  discoveryInterval: discoveryIntervalMs,
  maxDiscoverAttempts: 1,
});
