import type { Access, ActionDefinition, ToolDefinition } from './tool.events.js';

const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const READING_WORDS: ReadonlySet<string> = new Set(
  'search query find list get read fetch lookup describe retrieve view show'.split(' '),
);

/** One of them makes an action a writing one, whatever else its name says. */
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
 * Whether an action only looks or changes something: as its owner says, else as its server says, else by its HTTP method,
 * else by its name. What says nothing writes.
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

/** Calling it twice is the same as calling it once: as its kind says, else its server, else because it only looks. */
export const isIdempotent = (kind: string, action: ActionDefinition): boolean =>
  action.idempotent ?? action.annotations?.idempotentHint ?? accessOf(kind, action) === 'read';

/** A caller that runs the tool acts with an account, a secret or a machine of its owner. What calls an address of the owner's choice always does. */
export const actsForOwner = ({
  name,
  config,
  credentialsId,
}: Pick<ToolDefinition, 'name' | 'config' | 'credentialsId'>): boolean =>
  credentialsId !== null ||
  name === 'api_tool' ||
  name === 'remote_device' ||
  (name === 'mcp_tool' && (config['auth_type'] || 'none') !== 'none');

/** What only the owner may run, unless the owner allows it by name. */
export const ownerCredentialWrites = (
  definition: KindAndActions & Pick<ToolDefinition, 'config' | 'credentialsId'>,
): readonly string[] =>
  actsForOwner(definition)
    ? definition.actions
        .filter((action) => action.active && accessOf(definition.name, action) === 'write')
        .map(({ name }) => name)
    : [];
