/** Runs the double as a process of its own: `node run.mjs [--port N] [--persist FILE]`; says `LISTENING <port>` when it does. */
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
