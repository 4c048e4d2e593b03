import type { Config } from '../platform/config/config.js';
import { connectionTarget } from '../platform/event-store/eventstoredb/connection-string.js';
import { natsTarget } from '../platform/messaging/nats/nats-target.js';

type Addresses = Pick<Config, 'databaseUrl' | 'eventStore' | 'natsUrl'>;

/** The hosts of the configured dependencies. */
export function dependencyHosts({ databaseUrl, eventStore, natsUrl }: Addresses): readonly string[] {
  return [
    ...(databaseUrl === undefined ? [] : [new URL(databaseUrl).hostname]),
    ...(eventStore === 'postgres' ? [] : connectionTarget(eventStore).endpoints.map(({ address }) => address)),
    ...(natsUrl === undefined ? [] : natsTarget(natsUrl).servers.map((server) => server.replace(/:\d+$/, ''))),
  ].map((host) => host.replaceAll(/^\[|\]$/g, ''));
}
