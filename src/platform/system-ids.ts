import { type Ids, newId } from '../kernel/ids.js';

export const systemIds: Ids = { next: newId };
