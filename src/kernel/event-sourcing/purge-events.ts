/** An event whose type ends so records a purge: all earlier events of its stream are deleted. */
const PURGED = 'Purged';

/** Whether an event of this type purges all earlier events of its stream. */
export const isPurge = (type: string): boolean => type.endsWith(PURGED);
