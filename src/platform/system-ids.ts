import { type Ids, newId } from '../kernel/ids.js';

/** The machine's own. */
export const systemIds: Ids = { next: newId };
