import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

import { Log, type LogRecord } from './log.js';

type Line = Readonly<
  Record<'id' | 'stream' | 'position' | 'created' | 'type' | 'contentType' | 'data' | 'metadata', string> & { revision: number }
>;

/**
 * A log that outlives its process: every write is one line in the file before it is acknowledged. A torn last line is dropped.
 */
export function openJournal(path: string): { log: Log; close: () => void } {
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = kept.slice(0, kept.lastIndexOf('\n') + 1);
  if (whole.length < kept.length) truncateSync(path, Buffer.byteLength(whole));
  const file = openSync(path, 'a');
  const log = new Log((records) => void writeSync(file, `${JSON.stringify(records.map(toLine))}\n`));
  for (const line of whole.split('\n').filter(Boolean))
    for (const entry of JSON.parse(line) as Line[]) log.restore(fromLine(entry));
  return { log, close: () => closeSync(file) };
}

const toLine = ({ position, created, data, metadata, ...rest }: LogRecord): Line => ({
  ...rest,
  position: position.toString(),
  created: created.toString(),
  data: Buffer.from(data).toString('base64'),
  metadata: Buffer.from(metadata).toString('base64'),
});

const fromLine = ({ position, created, data, metadata, ...rest }: Line): LogRecord => ({
  ...rest,
  position: BigInt(position),
  created: BigInt(created),
  data: Buffer.from(data, 'base64'),
  metadata: Buffer.from(metadata, 'base64'),
});
