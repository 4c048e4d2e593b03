import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigInvalid, type Environment, readConfig, weaknessesIn } from './config.js';
import { loadConfig, unknownIn } from './load-config.js';
import { DURATION_SECONDS_MAX } from './setting.js';
import { settings } from './settings.js';

const problemsOf = (environment: Environment): readonly string[] => {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems;
    throw error;
  }
};

describe('the configuration', () => {
  it('of an empty environment is a complete service on this machine', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 7091,
      databaseUrl: undefined,
      eventStore: 'postgres',
      natsUrl: undefined,
      roles: ['api', 'worker', 'projector', 'scheduler'],
      authType: 'none',
      serverMode: 'async',
      modelIds: ['offline'],
      allowedOrigins: [],
      approvalTtlMs: 1_800_000,
      idempotencyTtlMs: 86_400_000,
      missedSlotDelayMs: 600_000,
      staleProducerMs: 10_000,
      sseKeepaliveMs: 15_000,
      messageEventsRetentionSeconds: 14 * 86_400,
    });
    expect(isAbsolute(readConfig({}).dataDir)).toBe(true);
  });

  it('is immutable', () => {
    expect(() => Object.assign(readConfig({}), { port: 1 })).toThrow(TypeError);
  });

  it('treats an empty value as unset, and reads fractions of seconds and lists without duplicates', () => {
    const config = readConfig({
      PORT: ' ',
      APPROVAL_TTL_SECONDS: '0.25',
      ALLOWED_ORIGINS: ' https://a.example, https://b.example,,https://a.example',
    });
    expect(config).toMatchObject({ port: 7091, approvalTtlMs: 250, allowedOrigins: ['https://a.example', 'https://b.example'] });
  });

  it('names no models by default when an endpoint is configured', () => {
    expect(readConfig({ OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1' }).modelIds).toEqual([]);
    expect(readConfig({ OPENAI_API_KEY: 'sk', MODEL_IDS: 'a,b', DEFAULT_MODEL_ID: 'b' })).toMatchObject({
      modelIds: ['a', 'b'],
      defaultModelId: 'b',
    });
  });

  it.each<[string, Environment]>([
    ['PORT', { PORT: '70000' }],
    ['PORT', { PORT: '7091x' }],
    ['DATABASE_URL', { DATABASE_URL: 'mysql://localhost/x' }],
    ['EVENT_STORE', { EVENT_STORE: 'mongo' }],
    ['ROLES', { ROLES: 'api,cook' }],
    ['ROLES', { ROLES: ',' }],
    ['AUTH_TYPE', { AUTH_TYPE: 'ldap' }],
    ['JWT_SECRET_KEY', { JWT_SECRET_KEY: 'x'.repeat(31) }],
    ['SERVER_MODE', { SERVER_MODE: 'fast' }],
    ['SSE_KEEPALIVE_SECONDS', { SSE_KEEPALIVE_SECONDS: '0' }],
    ['MESSAGE_EVENTS_RETENTION_DAYS', { MESSAGE_EVENTS_RETENTION_DAYS: '-1' }],
    ['TRACES_RETENTION_DAYS', { TRACES_RETENTION_DAYS: '24856' }],
    ['EVENTS_REPLAY_MAX_AGE_HOURS', { EVENTS_REPLAY_MAX_AGE_HOURS: '596524' }],
    ['APPROVAL_TTL_SECONDS', { APPROVAL_TTL_SECONDS: '2147483648' }],
    // A longer timer fires at once, so that retention would run without a pause and every job and answer would time out.
    ['RETENTION_EVERY_SECONDS', { RETENTION_EVERY_SECONDS: '2592000' }],
    ['BACKGROUND_JOB_MAX_SECONDS', { BACKGROUND_JOB_MAX_SECONDS: '2147484' }],
    ['MODEL_TIMEOUT_SECONDS', { MODEL_TIMEOUT_SECONDS: '9999999' }],
    ['SCHEDULE_RUN_TIMEOUT', { SCHEDULE_RUN_TIMEOUT: '2147484' }],
    ['EVENTS_STREAM_MAXLEN', { EVENTS_STREAM_MAXLEN: '0' }],
    // The event stores keep it as a 32-bit number.
    ['EVENTS_STREAM_MAXLEN', { EVENTS_STREAM_MAXLEN: '2147483648' }],
    // Each is a key that a connection tries to take.
    ['SSE_MAX_CONCURRENT_PER_USER', { SSE_MAX_CONCURRENT_PER_USER: '1001' }],
    ['ENABLE_SSE_PUSH', { ENABLE_SSE_PUSH: 'maybe' }],
    ['UPLOAD_MAX_FILE_BYTES', { UPLOAD_MAX_FILE_BYTES: '1.5' }],
    ['ALLOWED_PRIVATE_HOSTS', { ALLOWED_PRIVATE_HOSTS: '10.0.0.0/8, http://printer' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'https://a.example, *' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'https://a.example, https://*.b.example' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'https://a.example/' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'https://a.example:443' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'https://A.example' }],
    ['ALLOWED_ORIGINS', { ALLOWED_ORIGINS: 'a.example' }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: '10.0.0.0/8, 0.0.0.0/0' }],
    ['WRONG_CREDENTIALS_MAX_PER_MINUTE', { WRONG_CREDENTIALS_MAX_PER_MINUTE: '10001' }],
    ['GENERATED_TOKENS_MAX_PER_HOUR', { GENERATED_TOKENS_MAX_PER_HOUR: '10001' }],
    // Otherwise every answer would fail.
    ['OPENAI_API_KEY', { OPENAI_API_KEY: 'sk-hidden\u043a' }],
    ['OPENAI_API_KEY', { OPENAI_API_KEY: 'sk-hidden\nsecond' }],
    ['OPENAI_BASE_URL', { OPENAI_BASE_URL: 'http://localhost/v1?key=hidden' }],
    ['BRAVE_BASE_URL', { BRAVE_BASE_URL: 'ftp://brave.example' }],
    ['DEFAULT_MODEL_ID', { OPENAI_API_KEY: 'sk', MODEL_IDS: 'a,b', DEFAULT_MODEL_ID: 'c' }],
    ['GUARDRAILS_JUDGE_MODEL', { OPENAI_API_KEY: 'sk', MODEL_IDS: 'a,b', GUARDRAILS_JUDGE_MODEL: 'c' }],
    ['MONITOR_JUDGE_MODEL', { OPENAI_API_KEY: 'sk', MODEL_IDS: 'a,b', MONITOR_JUDGE_MODEL: 'c' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://user:hidden%@host/verbatim' }],
    ['NATS_URL', { NATS_URL: 'nats://user:hidden%zz@host:4222' }],
    ['NATS_URL', { NATS_URL: 'nats://user:hidden@no host' }],
    ['NATS_URL', { NATS_URL: 'http://user:hidden@host:4222' }],
    ['NATS_URL', { NATS_URL: 'nats://host:4222,nats://user:hidden@host:port' }],
    ['NATS_PREFIX', { NATS_PREFIX: 'two words' }],
    ['MODEL_IDS', { MODEL_IDS: 'offline,gpt' }],
    ['DEFAULT_MODEL_ID', { DEFAULT_MODEL_ID: 'gpt' }],
    ['TITLE_MODEL_ID', { TITLE_MODEL_ID: 'titles' }],
    ['EMBEDDINGS_MODEL', { EMBEDDINGS_MODEL: 'embed' }],
    ['STT_MODEL', { STT_MODEL: 'ears' }],
    ['TTS_MODEL', { TTS_MODEL: 'mouth' }],
    ['GUARDRAILS_JUDGE_MODEL', { GUARDRAILS_JUDGE_MODEL: 'judge' }],
    ['MONITOR_JUDGE_MODEL', { MONITOR_JUDGE_MODEL: 'judge' }],
  ])('rejects an invalid %s and names it: %o', (variable, environment) => {
    expect(problemsOf(environment)).toEqual([expect.stringMatching(`^${variable} `)]);
    expect(problemsOf(environment)[0]).not.toContain('hidden');
  });

  it('warns of a key that can be guessed, and of a title model that is not offered', () => {
    const encryptionKey = { ENCRYPTION_SECRET_KEY: 'k'.repeat(32) };
    const offered = { ...encryptionKey, OPENAI_API_KEY: 'sk', MODEL_IDS: 'a,b' };
    const weaknesses = (environment: Environment) => [...weaknessesIn(readConfig(environment))];
    expect(weaknesses({ ENCRYPTION_SECRET_KEY: 'k'.repeat(31) })).toEqual([expect.stringMatching(/^ENCRYPTION_SECRET_KEY /)]);
    expect(weaknesses({ ...offered, TITLE_MODEL_ID: 'c' })).toEqual([expect.stringMatching(/^TITLE_MODEL_ID /)]);
    for (const titleModelId of ['a', 'none', '']) expect(weaknesses({ ...offered, TITLE_MODEL_ID: titleModelId })).toEqual([]);
    expect(weaknesses({ ...encryptionKey, OPENAI_API_KEY: 'sk', TITLE_MODEL_ID: 'any' })).toEqual([]);
  });

  it.each(['http://localhost:5173', 'https://[::1]', 'chrome-extension://abcdef', 'capacitor://localhost', 'file://', 'null'])(
    'accepts %s, which is an origin that clients send',
    (origin) => {
      expect(readConfig({ ALLOWED_ORIGINS: origin }).allowedOrigins).toEqual([origin]);
    },
  );

  it('reads an asterisk as all origins', () => {
    expect(readConfig({ ALLOWED_ORIGINS: ' * ' }).allowedOrigins).toEqual([]);
  });

  it('accepts durations of up to 68 years', () => {
    const longest = { TRACES_RETENTION_DAYS: '24855', EVENTS_REPLAY_MAX_AGE_HOURS: '596523', APPROVAL_TTL_SECONDS: '2147483647' };
    const { tracesRetentionSeconds, userEventsAgeMaxMs, approvalTtlMs } = readConfig(longest);
    for (const seconds of [tracesRetentionSeconds, userEventsAgeMaxMs / 1000, approvalTtlMs / 1000]) {
      expect(seconds).toBeLessThanOrEqual(DURATION_SECONDS_MAX);
      expect(seconds).toBeGreaterThan(DURATION_SECONDS_MAX - 86_400);
    }
  });

  it.each(['DATABASE_URL', 'NATS_URL', 'EVENT_STORE'])('says how to write a %% in the password of %s', (variable) => {
    const protocol = { DATABASE_URL: 'postgres', NATS_URL: 'nats', EVENT_STORE: 'esdb' }[variable]!;
    const [problem] = problemsOf({ [variable]: `${protocol}://user:100%@host:1234` });
    expect(problem).toBe(`${variable} has a % that begins no escape; write %25 for the character itself.`);
    expect(problemsOf({ [variable]: `${protocol}://user:100%25@host:1234` })).toEqual([]);
  });

  it('reports all problems together', () => {
    expect(() => readConfig({ PORT: 'x', AUTH_TYPE: 'y' })).toThrow(/PORT .*\n.*AUTH_TYPE /);
  });

  it.each(['127.0.0.1', 'localhost', '::1', '127.8.9.10'])(
    'needs no authentication on %s, which only this machine can reach',
    (HOST) => {
      expect(problemsOf({ HOST })).toEqual([]);
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.7', 'verbatim.example'])(
    'requires authentication or an explicit opt-out on %s',
    (HOST) => {
      expect(problemsOf({ HOST })).toEqual([expect.stringMatching(/^HOST .*AUTH_TYPE.*ALLOW_UNAUTHENTICATED/)]);
      expect(problemsOf({ HOST, AUTH_TYPE: 'session_jwt' })).toEqual([]);
      expect(problemsOf({ HOST, ALLOW_UNAUTHENTICATED: 'true' })).toEqual([]);
    },
  );

  it('requires the settings of the OIDC provider and https for its issuer', () => {
    const OIDC = {
      AUTH_TYPE: 'oidc',
      OIDC_ISSUER: 'https://a.example',
      OIDC_CLIENT_ID: 'c',
      OIDC_FRONTEND_URL: 'https://b.example',
    };
    expect(problemsOf(OIDC)).toEqual([]);
    expect(problemsOf({ AUTH_TYPE: 'oidc' })).toEqual(
      ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_FRONTEND_URL'].map((name) => expect.stringContaining(name) as unknown),
    );
    expect(problemsOf({ ...OIDC, OIDC_ISSUER: 'http://127.0.0.1:8080' })).toEqual([]);
    expect(problemsOf({ ...OIDC, OIDC_ISSUER: 'http://a.example' })).toEqual([expect.stringContaining('https')]);
    expect(problemsOf({ ...OIDC, OIDC_SCOPES: 'email' })).toEqual([expect.stringMatching(/^OIDC_SCOPES .*openid/)]);
  });

  it('splits roles among processes only with NATS and a shared database', () => {
    expect(problemsOf({ ROLES: 'api' })).toEqual([expect.stringContaining('NATS_URL'), expect.stringContaining('DATABASE_URL')]);
    const shared = { NATS_URL: 'nats://127.0.0.1', DATABASE_URL: 'postgres://127.0.0.1/verbatim' };
    expect(readConfig({ ROLES: 'scheduler, worker', ...shared }).roles).toEqual(['worker', 'scheduler']);
  });
});

describe('the configuration of a process', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'verbatim-config-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('takes the environment before the file', () => {
    const file = join(folder, '.env');
    writeFileSync(file, 'PORT=1\nHOST=localhost\nJWT_SECRET_KEY="a secret of thirty-two characters"\n# PORT=3\n');
    const config = loadConfig({ PORT: '2', HOST: '', DATA_DIR: folder }, file);
    expect(config).toMatchObject({ port: 2, host: 'localhost', jwtSecretKey: 'a secret of thirty-two characters' });
  });

  it('is rejected with the name of a folder that cannot be used', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => loadConfig({ DATA_DIR: join(folder, 'file') }, join(folder, 'none'))).toThrow(ConfigInvalid);
    expect(() => loadConfig({ DATA_DIR: join(folder, 'file') }, join(folder, 'none'))).toThrow(/DATA_DIR cannot be used: .*file/);
  });

  it('is rejected with the name of a file that cannot be read, such as a folder', () => {
    expect(() => loadConfig({ DATA_DIR: folder }, folder)).toThrow(ConfigInvalid);
    expect(() => loadConfig({ DATA_DIR: folder }, folder)).toThrow(`${folder} cannot be read: `);
    expect(() => unknownIn(folder)).toThrow(ConfigInvalid);
  });

  it('knows the names in the file that are no settings, and not the values', () => {
    const file = join(folder, '.env');
    writeFileSync(file, 'PORT=1\nOPENAI_BASEURL=http://hidden\nc2VjcmV0==\n');
    expect(unknownIn(file)).toEqual(['OPENAI_BASEURL']);
    expect(unknownIn(join(folder, 'none'))).toEqual([]);
  });

  it('has generated secrets that are created once and only their owner can read', () => {
    const load = () => loadConfig({ DATA_DIR: join(folder, 'data') }, join(folder, 'none'));
    const [first, second] = [load(), load()];
    expect(first.jwtSecretKey).toMatch(/^[0-9a-f]{64}$/);
    expect(first.encryptionSecretKey).toMatch(/^[0-9a-f]{64}$/);
    expect(first.encryptionSecretKey).not.toBe(first.jwtSecretKey);
    expect(second).toEqual(first);
    for (const name of ['jwt-secret-key', 'encryption-secret-key']) {
      expect(statSync(join(folder, 'data', name)).mode & 0o777).toBe(0o600);
    }
  });
});

describe('.env.example', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  const example = parseEnv(text.replaceAll(/^#(?=[A-Z_]+=)/gm, ''));

  it('holds exactly the variables that the service reads', () => {
    expect(Object.keys(example).sort()).toEqual(
      Object.values(settings)
        .map(({ variable }) => variable)
        .sort(),
    );
  });

  it('shows the default of each variable', () => {
    const fallbacks = Object.values(settings).map(({ variable, fallback }) => [variable, fallback ?? '']);
    expect(example).toEqual(Object.fromEntries(fallbacks));
  });

  it('changes no setting when it is copied unchanged', () => {
    expect(readConfig(parseEnv(text))).toEqual(readConfig({}));
  });
});
