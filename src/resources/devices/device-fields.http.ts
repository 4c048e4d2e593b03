import { isNameable } from '../../kernel/nameable.js';
import { Rejection } from '../../kernel/rejection.js';
import type { ApprovalMode } from './device/device.events.js';

const NAME_CHARACTERS_MAX = 100;
const DESCRIPTION_CHARACTERS_MAX = 2_000;
const MACHINE_FIELD_CHARACTERS_MAX = 100;

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of a body; empty if the body is not a JSON object. */
export const fieldsOf = (body: unknown): Fields =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : {};

const isText = (value: unknown, charactersMax: number): value is string =>
  typeof value === 'string' && value.length <= charactersMax && isNameable(value);

/** @throws Rejection device-invalid-name */
export function nameIn(value: unknown): string {
  if (isText(value, NAME_CHARACTERS_MAX) && value.trim() !== '') return value.trim();
  throw new Rejection('device-invalid-name', `name must be a text of 1 to ${NAME_CHARACTERS_MAX} characters`);
}

/** @throws Rejection device-invalid-description */
export function descriptionIn(value: unknown): string {
  if (isText(value, DESCRIPTION_CHARACTERS_MAX)) return value.trim();
  throw new Rejection(
    'device-invalid-description',
    `description must be a text of at most ${DESCRIPTION_CHARACTERS_MAX} characters`,
  );
}

/** @throws Rejection device-invalid-approval-mode */
export function approvalModeIn(value: unknown): ApprovalMode {
  if (value === 'ask' || value === 'full') return value;
  throw new Rejection('device-invalid-approval-mode', 'approval_mode must be `ask` or `full`');
}

/** A text that a machine reports about itself, truncated; `otherwise` if it is missing or not a text. */
export const machineFieldIn = (value: unknown, otherwise = ''): string => {
  const text = typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').trim() : '';
  return text.slice(0, MACHINE_FIELD_CHARACTERS_MAX).toWellFormed() || otherwise;
};

/** The bytes of a body that is not JSON. The server parses a text/plain body as a string. */
export const bytesIn = (body: unknown): Buffer | undefined =>
  Buffer.isBuffer(body) ? body : typeof body === 'string' ? Buffer.from(body) : undefined;
