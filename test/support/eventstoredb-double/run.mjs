/**
 * // Runs the double in a separate process: `node run.mjs [--port N] [--persist FILE]`. Prints `LISTENING <port>` once it
 * listens.
 */
import '../typescript.js';

import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, persist: { type: 'string' } } });
const { EventStoreDbDouble } = await import('./event-store-db-double.js');
const double = await EventStoreDbDouble.start({
  port: Number(values.port),
  ...(values.persist ? { persist: values.persist } : {}),
});
console.log(`LISTENING ${double.port}`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void double.close().then(() => process.exit(0)));
