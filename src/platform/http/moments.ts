import { Rejection } from '../../kernel/rejection.js';

const YEAR_MIN = 1;
/** JavaScript also parses other notations, for example `-0001-01-01` as the year 2001. */
const WITH_YEAR = /^\d{4}(?!\d)/;

/** Parses an ISO 8601 time, within the years that every store supports. @throws Rejection invalid-request */
export function momentIn(field: string, text: string): Date {
  const moment = new Date(text);
  const year = moment.getUTCFullYear();
  if (!WITH_YEAR.test(text) || Number.isNaN(year) || year < YEAR_MIN)
    throw new Rejection('invalid-request', `${field} must be a date such as 2026-01-31T12:00:00Z`);
  return moment;
}
