import { Rejection } from '../kernel/rejection.js';

type Bounds = Readonly<{ fallback: number; min: number; max: number }>;

/** A whole number of a query, within its bounds. @throws Rejection invalid-request */
export function wholeNumber(name: string, text: string | undefined, { fallback, min, max }: Bounds): number {
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new Rejection('invalid-request', `${name} must be a whole number from ${min} to ${max}`);
  }
  return value;
}
