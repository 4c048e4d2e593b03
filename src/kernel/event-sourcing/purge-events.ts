/** An event whose type ends so records a purge: earlier events of its stream are deleted, up to its `keptFrom` where it has one. */
const PURGED = 'Purged';

/** Whether an event of this type purges earlier events of its stream. */
export const isPurge = (type: string): boolean => type.endsWith(PURGED);
