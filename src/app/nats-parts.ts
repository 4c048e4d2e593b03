import { join } from 'node:path';
import { NatsBlobs } from '../platform/blobs/nats-blobs.js';
import type { Closers } from '../platform/closers.js';
import type { Config } from '../platform/config/config.js';
import { NatsKeyValue } from '../platform/messaging/key-value/nats-key-value.js';
import { NatsConnection } from '../platform/messaging/nats/nats-connection.js';
import { NatsSignals } from '../platform/messaging/signals/nats-signals.js';
import { NatsWorkQueue } from '../platform/messaging/work-queue/nats-work-queue.js';

/** What processes share through NATS. */
export async function openNats(url: string, config: Omit<Config, 'natsUrl'>, opened: Closers['opened']) {
  const options = { url, prefix: config.natsPrefix, deadlineMs: config.natsDeadlineMs, name: 'verbatim' };
  const nats = await opened(new NatsConnection(options), (connection) => connection.close());
  const keyValue = new NatsKeyValue(nats);
  const check = async () => {
    await nats.ready();
    await keyValue.check();
  };
  return {
    signals: new NatsSignals(nats),
    keyValue,
    queue: new NatsWorkQueue(nats),
    blobs: new NatsBlobs(nats, join(config.dataDir, 'uploads')),
    checks: { nats: check },
  };
}
