import { type Ids, newId } from '../kernel/ids.js';

/** The ids of `newId`. */
export const systemIds: Ids = { next: newId };
