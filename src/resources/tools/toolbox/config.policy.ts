import type { ConfigField } from './tool-kind.port.js';

type Fields = Readonly<Record<string, ConfigField>>;
export type ConfigGiven = Readonly<Record<string, unknown>>;

/** Markers that responses show in the place of secrets. They are not stored when clients send them back. */
const MARKERS: ReadonlySet<string> = new Set(['has_encrypted_credentials', 'encrypted_credentials']);

/** A configuration and its secrets, with the errors by field. */
export type ReadConfig = Readonly<{
  config: ConfigGiven;
  /** Only the secrets that were given; the others are kept. */
  secrets: Readonly<Record<string, string>>;
  errors: Readonly<Record<string, string>>;
}>;

/** Separates secrets from a configuration and checks its fields. A secret that is already stored need not be given again. */
export function readConfig(fields: Fields, given: ConfigGiven, secretsThere: ReadonlySet<string>): ReadConfig {
  const config: Record<string, unknown> = Object.fromEntries(
    Object.entries(given).filter(([name]) => !MARKERS.has(name) && !Object.hasOwn(fields, name)),
  );
  const secrets: Record<string, string> = {};
  const errors: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = valueOf(field, Object.hasOwn(given, name) ? given[name] : undefined);
    if (value === undefined) {
      if (field.required && !(field.secret && secretsThere.has(name))) errors[name] = `${field.label} is required`;
      continue;
    }
    const problem = problemWith(field, value);
    if (problem !== undefined) errors[name] = problem;
    else if (field.secret) secrets[name] = `${value as string | number | boolean}`;
    else config[name] = value;
  }
  return { config, secrets, errors };
}

/** Converts a value of a form. Forms send everything as text, and empty text for what was left out. */
function valueOf({ type, default: otherwise, secret }: ConfigField, given: unknown): unknown {
  const text = typeof given === 'string' ? given.trim() : undefined;
  if (given === undefined || given === null || text === '') return secret ? undefined : (otherwise ?? undefined);
  if (type === 'number' && text !== undefined && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return given;
}

function problemWith({ type, label, enum: allowed }: ConfigField, value: unknown): string | undefined {
  if (typeof value !== type || (typeof value === 'number' && !Number.isFinite(value))) {
    return `${label} must be a ${type}`;
  }
  if (allowed && !allowed.includes(value)) return `${label} must be one of ${allowed.map(String).join(', ')}`;
  return undefined;
}
