import type { Access, ActionDefinition, ToolDefinition } from './tool.events.js';

const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const READING_WORDS: ReadonlySet<string> = new Set(
  'search query find list get read fetch lookup describe retrieve view show'.split(' '),
);

/** Any of these words makes an action a writing one, whatever other words its name has. */
const WRITING_WORDS: ReadonlySet<string> = new Set(
  [
    'add append archive approve assign cancel clear close comment complete copy create delete disable drop edit enable',
    'execute grant import insert invite invoke lock mark merge modify move overwrite patch post publish purge put reject',
    'remove rename replace reply reset restore revoke run save send set share start stop submit sync transfer trigger',
    'unlock update upload upsert write',
  ].flatMap((line) => line.split(' ')),
);

/** The words of a name in snake, kebab or camel case. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);

type KindAndActions = Pick<ToolDefinition, 'name' | 'actions'>;

/**
 * Whether an action only reads or also writes. The owner's setting decides, else the hints of its server, else its HTTP method,
 * else the words of its name. Without any sign it counts as writing.
 */
export function accessOf(kind: string, { access, annotations, name, method }: ActionDefinition): Access {
  if (access === 'read' || access === 'write') return access;
  if (annotations?.readOnlyHint === true) return 'read';
  if (annotations?.destructiveHint === true || annotations?.readOnlyHint === false) return 'write';
  if (kind === 'api_tool' && typeof method === 'string' && method !== '') {
    return READING_METHODS.has(method.toUpperCase()) ? 'read' : 'write';
  }
  const words = wordsOf(name);
  return words.some((word) => READING_WORDS.has(word)) && !words.some((word) => WRITING_WORDS.has(word)) ? 'read' : 'write';
}

/**
 * Whether calling an action twice has the same effect as calling it once. Its kind decides, else its server; otherwise reading
 * actions are idempotent.
 */
export const isIdempotent = (kind: string, action: ActionDefinition): boolean =>
  action.idempotent ?? action.annotations?.idempotentHint ?? accessOf(kind, action) === 'read';

/**
 * Whether the tool acts with an account, a secret or a machine of its owner, whoever calls it. API tools always count, because
 * the owner chooses the address.
 */
export const actsForOwner = ({
  name,
  config,
  credentialsId,
}: Pick<ToolDefinition, 'name' | 'config' | 'credentialsId'>): boolean =>
  credentialsId !== null ||
  name === 'api_tool' ||
  name === 'remote_device' ||
  (name === 'mcp_tool' && (config['auth_type'] || 'none') !== 'none');

/** The names of the actions that only the owner may run, unless the owner allows them by name. */
export const ownerCredentialWrites = (
  definition: KindAndActions & Pick<ToolDefinition, 'config' | 'credentialsId'>,
): readonly string[] =>
  actsForOwner(definition)
    ? definition.actions
        .filter((action) => action.active && accessOf(definition.name, action) === 'write')
        .map(({ name }) => name)
    : [];
