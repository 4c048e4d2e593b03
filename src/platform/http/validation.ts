import { type ArgumentMetadata, type Type, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import { isNameable } from '../../kernel/nameable.js';
import { Rejection } from '../../kernel/rejection.js';
import { dtoOf } from './dto.js';

/** Converts request bodies into DTOs. Errors name the field. Unknown fields are dropped. */
export class RequestValidation extends ValidationPipe {
  constructor() {
    super({ transform: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype, type } = metadata;
    // A value that is not a DTO is only converted.
    if (type === 'custom' || !isDto(metatype)) return super.transform(value, metadata) as Promise<unknown>;
    if (value !== undefined && !isObject(value)) throw refused('The request body must be a JSON object.');
    refuseFarTooLong(metatype, value ?? {});
    refuseUnnameable(value ?? {});
    const dto = dtoOf(metatype, value ?? {}) as object;
    const errors = await validate(dto, { forbidUnknownValues: false, validationError: { target: false } });
    if (errors.length > 0) throw refused(textOf(errors));
    return dto;
  }
}

const refused = (text: string) => new Rejection('invalid-request', text);

const PRIMITIVES: readonly unknown[] = [Object, Array, String, Number, Boolean, Buffer];
const isDto = (metatype: Type | undefined): metatype is Type => metatype !== undefined && !PRIMITIVES.includes(metatype);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields that hold a name, an id, a list of ids, an address or a text to search. */
const NAMING_FIELD = /(^|_)(id|name)$|Name$|^email$|^search$|^active_docs$/;

/** Refuses NUL and lone surrogates in names, ids and searches, because no stored value can match them. */
function refuseUnnameable(value: Readonly<Record<string, unknown>>): void {
  for (const [field, given] of Object.entries(value)) {
    if (NAMING_FIELD.test(field) && (Array.isArray(given) ? given : [given]).some(isUnnameable))
      throw refused(`${field} must not hold NUL or half of a surrogate pair`);
  }
}

const isUnnameable = (text: unknown): boolean => typeof text === 'string' && !isNameable(text);

/** class-validator counts a surrogate pair with a variation selector as one character. */
const UNITS_PER_CHARACTER_MAX = 3;

/**
 * Refuses far too long texts first, because class-validator builds a list of all non-ASCII characters, and does not count some.
 */
function refuseFarTooLong(metatype: Type, value: Readonly<Record<string, unknown>>): void {
  for (const [field, max] of lengthsMaxOf(metatype)) {
    const text = value[field];
    if (typeof text === 'string' && text.length > UNITS_PER_CHARACTER_MAX * max)
      throw refused(`${field} must be shorter than or equal to ${max} characters`);
  }
}

type LengthsMax = readonly (readonly [field: string, max: number])[];

const lengthsMax = new WeakMap<Type, LengthsMax>();

/** The fields of a DTO that have a maximum length. class-validator searches the rules of all DTOs for them. */
function lengthsMaxOf(metatype: Type): LengthsMax {
  const known = lengthsMax.get(metatype);
  if (known) return known;
  const found = getMetadataStorage()
    .getTargetValidationMetadatas(metatype, '', false, false)
    .filter(({ name }) => name === 'maxLength')
    .map(({ propertyName, constraints }) => [propertyName, Number(constraints?.[0])] as const);
  lengthsMax.set(metatype, found);
  return found;
}

/** Lists missing fields first, then invalid ones, each with its path: `tool_actions.0.call_id must be a string`. */
function textOf(errors: readonly ValidationError[]): string {
  const found = errors.flatMap((error) => problemsOf(error, ''));
  const missing = found.filter(({ absent }) => absent).map(({ path }) => path);
  const wrong = found.filter(({ absent }) => !absent).map(({ text }) => text);
  return [...(missing.length > 0 ? [`Missing required fields: ${missing.join(', ')}`] : []), ...wrong].join('; ');
}

type Problem = Readonly<{ path: string; text: string; absent: boolean }>;

function problemsOf({ property, value, constraints, children }: ValidationError, parent: string): readonly Problem[] {
  const path = `${parent}${property}`;
  const text = firstOf(constraints ?? {});
  const own = text === undefined ? [] : [{ path, text: `${parent}${text}`, absent: value === undefined }];
  return [...own, ...(children ?? []).flatMap((child) => problemsOf(child, `${path}.`))];
}

/** The most important problem of a field. A wrong type precedes a value out of bounds. */
const firstOf = (constraints: Readonly<Record<string, string>>): string | undefined => {
  const [first] = Object.keys(constraints).sort((a, b) => Number(TYPE_CHECKS.has(b)) - Number(TYPE_CHECKS.has(a)));
  return first === undefined ? undefined : constraints[first];
};

const TYPE_CHECKS = new Set(['isString', 'isArray', 'isObject', 'isBoolean', 'isNumber', 'isInt']);
