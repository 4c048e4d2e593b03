import { COMMON_REJECTIONS, type Rejections } from '../platform/http/rejections.js';
import { ROOMS } from './rooms.js';

/** The status and error body of every rejection code of the service. */
export const REJECTIONS: Rejections = Object.fromEntries(
  [COMMON_REJECTIONS, ...ROOMS.map(({ rejections }) => rejections ?? {})].flatMap((each) => Object.entries(each)),
);
