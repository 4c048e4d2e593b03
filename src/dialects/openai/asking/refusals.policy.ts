import { Rejection } from '../../../kernel/rejection.js';

/** The rejection of a request because of one of its fields. */
export const refused = (param: string, why: string): Rejection => new Rejection('invalid-request', `${param} ${why}`, { param });

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

/** Unsupported options, each with a check for the default value, which is accepted because it changes nothing. */
export type OnlyValues = Readonly<Record<string, (value: unknown) => boolean>>;

/** @throws Rejection for the first field that is neither read nor has its default value */
export function refuseUnread(body: Readonly<Record<string, unknown>>, read: readonly string[], only: OnlyValues): void {
  for (const [field, value] of Object.entries(body)) {
    if (read.includes(field) || isAbsent(value)) continue;
    if (!(Object.hasOwn(only, field) && only[field]!(value))) throw refused(field, 'is not supported, or not with this value.');
  }
}
