import type { LogUse } from '../kernel/event-sourcing/log-format.js';
import type { Config } from '../platform/config/config.js';
import { connectionTarget } from '../platform/event-store/eventstoredb/connection-string.js';
import { VERSION } from '../kernel/version.js';

type Setup = Pick<Config, 'databaseUrl' | 'dataDir' | 'eventStore'>;

/** The location of the log, and how an operator selects another one, without credentials. */
export function logUseOf({ databaseUrl, dataDir, eventStore }: Setup): LogUse {
  if (eventStore !== 'postgres') {
    const hosts = connectionTarget(eventStore).endpoints.map(({ address, port }) => `${address}:${port}`);
    const advice = 'set EVENT_STORE to another server and DATABASE_URL to another database';
    return { version: VERSION, place: `the event store at ${hosts.join(', ')}`, advice };
  }
  if (databaseUrl === undefined)
    return { version: VERSION, place: `the data directory ${dataDir}`, advice: 'set DATA_DIR to another directory' };
  const { host, pathname } = new URL(databaseUrl);
  return {
    version: VERSION,
    place: `the database ${pathname.slice(1)} at ${host}`,
    advice: 'set DATABASE_URL to another database',
  };
}
