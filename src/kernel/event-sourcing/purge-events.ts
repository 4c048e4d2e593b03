/** The suffix of event types that record a purge: earlier events of the stream are deleted, up to `keptFrom` if the event has it. */
const PURGED = 'Purged';

/** Whether an event of this type purges earlier events of its stream. */
export const isPurge = (type: string): boolean => type.endsWith(PURGED);
