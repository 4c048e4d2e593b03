/** A fact whose name ends so says that nothing is kept of what its stream said before: it is all that is left of it. */
const PURGED = 'Purged';

/** Whether nothing is kept of what a stream said before an event of this type. */
export const isPurge = (type: string): boolean => type.endsWith(PURGED);
