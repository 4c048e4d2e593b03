import type { Place } from '../../kernel/access.js';

/** Where a request holds the id of a resource. */
export const inPath = (name: string): Place => ({ in: 'path', name });
export const inQuery = (name: string): Place => ({ in: 'query', name });
export const inBody = (name: string): Place => ({ in: 'body', name });
