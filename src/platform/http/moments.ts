import { Rejection } from '../../kernel/rejection.js';

const YEAR_MIN = 1;
/** JavaScript also parses other notations, for example `-0001-01-01` as the year 2001. */
const WITH_YEAR = /^\d{4}(?!\d)/;

/** JavaScript parses a time without an offset as local time of the machine. */
const WITHOUT_OFFSET = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** Parses an ISO 8601 time, in UTC without an offset, within the years that every store supports. @throws Rejection invalid-request */
export function momentIn(field: string, text: string): Date {
  const moment = new Date(WITHOUT_OFFSET.test(text) ? `${text}Z` : text);
  const year = moment.getUTCFullYear();
  if (!WITH_YEAR.test(text) || Number.isNaN(year) || year < YEAR_MIN)
    throw new Rejection('invalid-request', `${field} must be a date such as 2026-01-31T12:00:00Z`);
  return moment;
}
