import { Rejection } from '../../../kernel/rejection.js';
import type { ConfigField } from '../toolbox/tool-kind.port.js';

const MCP_TIMEOUT_SECONDS_MIN = 1;
export const MCP_TIMEOUT_SECONDS_MAX = 300;
const MCP_TIMEOUT_SECONDS = 30;
const SERVER_URL_CHARACTERS_MAX = 2048;
const CREDENTIAL_CHARACTERS_MAX = 8192;
const OAUTH_SCOPES_MAX = 50;

const AUTH_TYPES = ['none', 'bearer', 'api_key', 'basic', 'oauth'] as const;
type McpAuthType = (typeof AUTH_TYPES)[number];

/** The name of the secret that holds the id of the tool's grant, which is the id of its handshake. */
export const OAUTH_GRANT = 'oauth_grant';

const field = (
  type: ConfigField['type'],
  label: string,
  description: string,
  order: number,
  more: Partial<ConfigField> = {},
): ConfigField => ({ type, label, description, required: false, secret: false, order, ...more });

const secret = (label: string, description: string, order: number): ConfigField =>
  field('string', label, description, order, { secret: true });

export const MCP_CONFIG_FIELDS: Readonly<Record<string, ConfigField>> = {
  server_url: field('string', 'Server URL', 'The address at which the server accepts requests over streamable HTTP.', 1, {
    required: true,
  }),
  auth_type: field('string', 'Sign-in', 'How requests to the server are authenticated.', 2, {
    default: 'none',
    enum: AUTH_TYPES,
  }),
  api_key: secret('API key', 'For the sign-in with an API key.', 3),
  api_key_header: field('string', 'Header of the API key', 'The header in which the key is sent.', 4, { default: 'X-API-Key' }),
  bearer_token: secret('Bearer token', 'For the sign-in with a bearer token.', 5),
  username: secret('User name', 'For the sign-in with a name and a password.', 6),
  password: secret('Password', 'For the sign-in with a name and a password.', 7),
  oauth_scopes: field('string', 'Scopes', 'The scopes to request; without any the server chooses.', 8),
  oauth_client_id: field('string', 'Client id', 'For authorization servers where clients cannot register by themselves.', 9),
  oauth_client_secret: secret('Client secret', 'The secret of the given client, if it has one.', 10),
  oauth_task_id: field('string', 'Sign-in', 'The completed sign-in to act with.', 11),
  timeout: field('number', 'Timeout', 'Seconds that a call may take.', 12, { default: MCP_TIMEOUT_SECONDS }),
};

export type McpSettings = Readonly<{
  serverUrl: string;
  authType: McpAuthType;
  timeoutSeconds: number;
  apiKeyHeader: string;
  scopes: readonly string[];
  clientId: string | null;
  /** The id of the handshake whose grant is used, for `oauth`. */
  grantId: string | null;
}>;

type Given = Readonly<Record<string, unknown>>;
type Secrets = Readonly<Record<string, string>>;

const refused = (text: string) => new Rejection('tool-invalid', text);

const textIn = (given: Given, name: string): string => {
  const value = given[name];
  return typeof value === 'string' ? value.trim() : '';
};

/** Parses the configuration of a tool server. @throws Rejection tool-invalid */
export function mcpSettings(config: Given): McpSettings {
  const authType = textIn(config, 'auth_type') || 'none';
  if (!isAuthType(authType)) throw refused(`auth_type must be one of ${AUTH_TYPES.join(', ')}.`);
  return {
    serverUrl: serverUrlIn(config),
    authType,
    timeoutSeconds: timeoutIn(config),
    apiKeyHeader: headerNameIn(config),
    scopes: scopesIn(config['oauth_scopes']),
    clientId: textIn(config, 'oauth_client_id') || null,
    grantId: textIn(config, 'oauth_task_id') || null,
  };
}

const isAuthType = (text: string): text is McpAuthType => (AUTH_TYPES as readonly string[]).includes(text);

function serverUrlIn(config: Given): string {
  const text = textIn(config, 'server_url');
  if (text === '') throw refused('server_url is required.');
  const url = text.length <= SERVER_URL_CHARACTERS_MAX ? URL.parse(text) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refused('server_url must be an http or https URL.');
  // The configuration is shown to users, so it must not hold credentials. They have fields of their own.
  if (url.username !== '' || url.password !== '') throw refused('server_url must not hold a name or a password.');
  url.hash = '';
  return url.href;
}

function timeoutIn({ timeout }: Given): number {
  if (timeout === undefined || timeout === null || timeout === '') return MCP_TIMEOUT_SECONDS;
  const seconds = Number(timeout);
  if (!(seconds >= MCP_TIMEOUT_SECONDS_MIN && seconds <= MCP_TIMEOUT_SECONDS_MAX)) {
    throw refused(`timeout must be ${MCP_TIMEOUT_SECONDS_MIN} to ${MCP_TIMEOUT_SECONDS_MAX} seconds.`);
  }
  return seconds;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** The protocol and HTTP set these headers, so an owner may not. */
const HEADERS_OF_THE_PROTOCOL =
  /^(host|connection|content-.*|accept(-.*)?|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|mcp-.*|last-event-id)$/i;

function headerNameIn(config: Given): string {
  const name = textIn(config, 'api_key_header') || 'X-API-Key';
  if (!HEADER_NAME.test(name) || HEADERS_OF_THE_PROTOCOL.test(name)) {
    throw refused(`api_key_header cannot be "${name.slice(0, 100)}".`);
  }
  return name;
}

function scopesIn(given: unknown): readonly string[] {
  const text = Array.isArray(given) ? given.join(' ') : typeof given === 'string' ? given : '';
  const scopes = [...new Set(text.split(/[\s,]+/).filter((scope) => scope !== ''))];
  if (scopes.length > OAUTH_SCOPES_MAX || !scopes.every((scope) => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(scope))) {
    throw refused(`oauth_scopes must be at most ${OAUTH_SCOPES_MAX} words.`);
  }
  return scopes;
}

/** The headers of a sign-in other than OAuth. @throws Rejection tool-invalid if a secret of the sign-in is missing */
export function signInHeaders({ authType, apiKeyHeader }: McpSettings, secrets: Secrets): Readonly<Record<string, string>> {
  switch (authType) {
    case 'none':
    case 'oauth':
      return {};
    case 'bearer':
      return { Authorization: `Bearer ${credential(secrets, 'bearer_token')}` };
    case 'api_key':
      return { [apiKeyHeader]: credential(secrets, 'api_key') };
    case 'basic': {
      const pair = `${credential(secrets, 'username')}:${credential(secrets, 'password')}`;
      return { Authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
    }
  }
}

function credential(secrets: Secrets, name: string): string {
  const value = secrets[name]?.trim() ?? '';
  if (value === '') throw refused(`${name} is required for this sign-in.`);
  if (value.length > CREDENTIAL_CHARACTERS_MAX || !/^[\x20-\x7E\x80-\uFFFF]+$/.test(value)) {
    throw refused(`${name} cannot be sent as it is.`);
  }
  return value;
}

const SECRETS_OF: Readonly<Record<McpAuthType, readonly string[]>> = {
  none: [],
  bearer: ['bearer_token'],
  api_key: ['api_key'],
  basic: ['username', 'password'],
  oauth: ['oauth_client_secret'],
};

/** The names of the secrets that a tool with this configuration needs to sign in. */
export const neededSecrets = ({ auth_type: authType }: Given): readonly string[] =>
  typeof authType === 'string' && isAuthType(authType) && authType !== 'oauth' ? SECRETS_OF[authType] : [];

/** The stored secrets that the chosen sign-in uses. */
export function secretsInUse({ authType, grantId }: McpSettings, secrets: Secrets): Secrets {
  const taken = SECRETS_OF[authType].flatMap((name) => (secrets[name] ? [[name, secrets[name].trim()]] : []));
  const grant = authType === 'oauth' && grantId !== null ? [[OAUTH_GRANT, grantId]] : [];
  return Object.fromEntries([...taken, ...grant]) as Secrets;
}

/** The configuration that is stored and shown: only known fields, and no secrets. */
export function shownConfig(settings: McpSettings): Readonly<Record<string, unknown>> {
  const { serverUrl, authType, timeoutSeconds, apiKeyHeader, scopes, clientId, grantId } = settings;
  return {
    server_url: serverUrl,
    auth_type: authType,
    timeout: timeoutSeconds,
    ...(authType === 'api_key' && { api_key_header: apiKeyHeader }),
    ...(authType === 'oauth' && {
      oauth_scopes: scopes.join(', '),
      ...(clientId !== null && { oauth_client_id: clientId }),
      ...(grantId !== null && { oauth_task_id: grantId }),
    }),
  };
}
