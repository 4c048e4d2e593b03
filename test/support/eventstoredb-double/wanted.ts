import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

import type { LogRecord } from './log.js';

type Filter = streamsPb.ReadReq.Options.FilterOptions;

/** Whether a record passes a filter on stream names or event types, by a regular expression or by prefixes. */
export function wantedBy(filter: Filter | undefined): (record: LogRecord) => boolean {
  if (!filter) return () => true;
  const onStream = filter.hasStreamIdentifier();
  const expression = onStream ? filter.getStreamIdentifier() : filter.getEventType();
  if (!expression) return () => true;
  const text = (record: LogRecord) => (onStream ? record.stream : record.type);
  if (expression.getRegex()) {
    const regex = new RegExp(expression.getRegex(), 'u');
    return (record) => regex.test(text(record));
  }
  const prefixes = expression.getPrefixList();
  return (record) => prefixes.some((prefix) => text(record).startsWith(prefix));
}

const WINDOW_DEFAULT = 32;

/** The number of considered records after which a filtered subscription reports a checkpoint. */
export function checkpointInterval(filter: Filter): number {
  return (filter.hasMax() ? filter.getMax() : WINDOW_DEFAULT) * Math.max(1, filter.getCheckpointintervalmultiplier());
}
