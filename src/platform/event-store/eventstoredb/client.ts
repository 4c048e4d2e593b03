import { readFileSync } from 'node:fs';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { ConnectionTarget } from './connection-string.js';
import type { Streams, StreamsClient } from './stubs.js';

/**
 * What the adapter uses of the client package beyond its public commands: these members, and the generated stubs of
 * `stubs.ts`. docs/decisions says why, and what the way out is.
 */
export type ClientInternals = {
  /** Makes a call on the connection at hand, after finding the server and connecting where there is none. */
  GRPCStreamCreator<Call>(client: typeof StreamsClient, name: string, create: (client: Streams) => Call): () => Promise<Call>;
  /** The metadata and options that each call goes with: credentials, deadline, whether only the leader may answer. */
  callArguments(options: { requiresLeader: boolean }, call: { deadline: number }): Required<Parameters<Streams['batchAppend']>>;
  /** Drops the connection over an error that asks for it, in a cluster for the one to the leader. */
  handleError(client: Streams, error: Error): Promise<void>;
  /** What the server says of itself, asked once for each connection. */
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

/** The version of the client whose members these are. */
export const CLIENT_VERSION = '6.2.1';

/** @throws Error naming the members that this version of the client lacks */
export function assertInternals(client: object): asserts client is ClientInternals {
  // `in` and not a look: one of them is a getter that would connect.
  const missing = MEMBERS.filter((name) => !(name in client));
  if (missing.length > 0) {
    throw new Error(`@eventstore/db-client has no ${missing.join(', ')}: this program needs version ${CLIENT_VERSION}.`);
  }
}

/** A client that finds the server, connects, and leaves everything else to the adapter. It connects with the first call. */
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

/** One round of questions: who waits for the leader of a cluster asks again himself, and hears in time that there is none. */
const discovery = ({ gossipTimeoutSeconds, discoveryIntervalMs }: ConnectionTarget) => ({
  gossipTimeout: gossipTimeoutSeconds,
  discoveryInterval: discoveryIntervalMs,
  maxDiscoverAttempts: 1,
});
