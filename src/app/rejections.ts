import { COMMON_REJECTIONS, type Rejections } from '../platform/http/rejections.js';
import { ROOMS } from './rooms.js';

/** How every refusal of the service is told. */
export const REJECTIONS: Rejections = Object.fromEntries(
  [COMMON_REJECTIONS, ...ROOMS.map(({ rejections }) => rejections ?? {})].flatMap((each) => Object.entries(each)),
);
