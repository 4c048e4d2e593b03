import type { Projection } from './projection.js';

/** Every read model of the service, in no particular order: none knows another. */
export const projections: readonly Projection[] = [];
