import type { ConfigField } from './tool-kind.port.js';

type Fields = Readonly<Record<string, ConfigField>>;
export type ConfigGiven = Readonly<Record<string, unknown>>;

/** What answers show in the place of secrets; it is no configuration, also when clients send it back. */
const MARKERS: ReadonlySet<string> = new Set(['has_encrypted_credentials', 'encrypted_credentials']);

/** A configuration as it was given, apart from its secrets, with what is wrong with it by field. */
export type ReadConfig = Readonly<{
  config: ConfigGiven;
  /** Those that were given; the others stay what they are. */
  secrets: Readonly<Record<string, string>>;
  errors: Readonly<Record<string, string>>;
}>;

/** Takes a configuration apart. A secret that is already there need not be given again. */
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

/** Forms send text for everything, and nothing for what was left empty. */
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
