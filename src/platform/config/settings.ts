import { JSON_ENTRIES_MAX } from '../../kernel/bounded-json.js';
import { connectionTarget } from '../event-store/eventstoredb/connection-string.js';
import { CONNECTIONS_MIN } from '../http/connections/connection-limit.js';
import { checkTrustedProxies } from '../http/trusted-proxies.js';
import { checkNatsPrefix, natsTarget } from '../messaging/nats/nats-target.js';
import { PrivateHosts } from '../outgoing/private-hosts.js';
import { percentDecoded } from '../percent-decoded.js';
import {
  checked,
  daysAsSeconds,
  DURATION_SECONDS_MAX,
  flag,
  hoursAsMs,
  integer,
  list,
  listOf,
  oneOf,
  optional,
  origins,
  secondsAsMs,
  type Setting,
  text,
  url,
  webUrl,
} from './setting.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** Bounds of durations that are only compared with dates. */
const BETWEEN_DATES = { max: DURATION_SECONDS_MAX };

/** The roles of a process. */
export const ROLES = ['api', 'worker', 'projector', 'scheduler'] as const;

/** HS256 needs a key as long as its hash (RFC 7518, 3.2). A shorter one can be guessed from a single token. */
export const SECRET_BYTES_MIN = 32;

function checkSecret(secret: string | undefined): void {
  if (secret && Buffer.byteLength(secret) < SECRET_BYTES_MIN) throw new Error(`must have at least ${SECRET_BYTES_MIN} bytes.`);
}

/** Paths are appended to the URL. */
function checkExtensible(value: string): void {
  if (/[?#]/.test(value)) throw new Error('must have no query and no fragment.');
}

/** The key becomes part of a header. */
function checkHeaderValue(value: string): void {
  if (!/^[\x21-\x7e]*$/.test(value)) throw new Error('must hold printable ASCII characters without spaces.');
}

/** All environment variables of the service, by the name of their value in the code. */
export const settings = {
  host: text('HOST', '127.0.0.1'),
  port: integer('PORT', 7091, { max: 65_535 }),
  connectionsMax: optional(integer('CONNECTIONS_MAX', 0, { min: CONNECTIONS_MIN })),
  dataDir: text('DATA_DIR', '.data'),
  databaseUrl: optional(
    checked(url('DATABASE_URL', 'postgres:', 'postgresql:'), (value) => {
      const { username, password } = new URL(value);
      for (const part of [username, password]) percentDecoded(part);
    }),
  ),
  databasePoolMax: integer('DATABASE_POOL_MAX', 10, { min: 5, max: 500 }),
  eventStore: checked(text('EVENT_STORE', 'postgres'), (value) => {
    if (value !== 'postgres') connectionTarget(value);
  }),
  eventStoreDeadlineMs: secondsAsMs('EVENT_STORE_DEADLINE_SECONDS', 5),
  eventStorePatienceMs: secondsAsMs('EVENT_STORE_PATIENCE_SECONDS', 8),
  natsUrl: optional(checked(text('NATS_URL'), natsTarget)),
  natsPrefix: checked(text('NATS_PREFIX', 'verbatim'), checkNatsPrefix),
  natsDeadlineMs: secondsAsMs('NATS_DEADLINE_SECONDS', 2),
  roles: listOf('ROLES', ROLES),
  serverMode: oneOf('SERVER_MODE', 'async', 'async', 'plain'),
  seedDemo: flag('SEED_DEMO', true),
  publicApiBaseUrl: optional(url('PUBLIC_API_BASE_URL', 'http:', 'https:')),
  shutdownMs: secondsAsMs('SHUTDOWN_SECONDS', 10),
  workerConcurrency: integer('WORKER_CONCURRENCY', 16, { min: 1, max: 1000 }),
  turnsConcurrentMax: integer('TURNS_CONCURRENT_MAX', 1000, { min: 1, max: 10_000 }),

  logLevel: oneOf('LOG_LEVEL', 'info', 'fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  logFormat: optional(oneOf('LOG_FORMAT', 'json', 'json', 'pretty')),

  openaiBaseUrl: optional(checked(url('OPENAI_BASE_URL', 'http:', 'https:'), checkExtensible)),
  openaiApiKey: optional(checked(text('OPENAI_API_KEY'), checkHeaderValue)),
  modelIds: list('MODEL_IDS'),
  defaultModelId: optional(text('DEFAULT_MODEL_ID')),
  titleModelId: optional(text('TITLE_MODEL_ID')),
  modelsFile: optional(text('MODELS_FILE')),
  embeddingsModel: optional(text('EMBEDDINGS_MODEL')),
  sttModel: optional(text('STT_MODEL')),
  ttsModel: optional(text('TTS_MODEL')),
  ttsVoice: text('TTS_VOICE', 'alloy'),
  modelFirstTokenTimeoutMs: secondsAsMs('MODEL_FIRST_TOKEN_TIMEOUT_SECONDS', 60),
  modelTimeoutMs: secondsAsMs('MODEL_TIMEOUT_SECONDS', 600),

  authType: oneOf('AUTH_TYPE', 'none', 'none', 'simple_jwt', 'session_jwt', 'oidc'),
  allowUnauthenticated: flag('ALLOW_UNAUTHENTICATED', false),
  localModeAdmin: flag('LOCAL_MODE_ADMIN', false),
  oidcIssuer: optional(url('OIDC_ISSUER', 'https:', 'http:')),
  oidcClientId: optional(text('OIDC_CLIENT_ID')),
  oidcClientSecret: optional(text('OIDC_CLIENT_SECRET')),
  oidcScopes: checked(text('OIDC_SCOPES', 'openid email profile'), (scopes) => {
    if (!scopes.split(' ').includes('openid')) throw new Error('must contain openid.');
  }),
  oidcUserIdClaim: text('OIDC_USER_ID_CLAIM', 'sub'),
  oidcFrontendUrl: optional(url('OIDC_FRONTEND_URL', 'https:', 'http:')),
  oidcRedirectUri: optional(url('OIDC_REDIRECT_URI', 'https:', 'http:')),
  oidcSessionLifetimeMs: secondsAsMs('OIDC_SESSION_LIFETIME_SECONDS', 28_800, { min: 1, ...BETWEEN_DATES }),
  oidcProviderName: optional(text('OIDC_PROVIDER_NAME')),
  oidcAllowedGroups: list('OIDC_ALLOWED_GROUPS'),
  oidcGroupsClaim: text('OIDC_GROUPS_CLAIM', 'groups'),
  oidcAdminGroups: list('OIDC_ADMIN_GROUPS'),
  jwtSecretKey: checked(text('JWT_SECRET_KEY'), checkSecret),
  encryptionSecretKey: text('ENCRYPTION_SECRET_KEY'),
  allowedOrigins: origins('ALLOWED_ORIGINS'),
  trustedProxies: checked(list('TRUSTED_PROXIES'), checkTrustedProxies),
  wrongCredentialsPerMinuteMax: integer('WRONG_CREDENTIALS_MAX_PER_MINUTE', 100, { max: 10_000 }),
  generatedTokensPerHourMax: integer('GENERATED_TOKENS_MAX_PER_HOUR', 100, { max: 10_000 }),

  devicePairingMs: secondsAsMs('REMOTE_DEVICE_PAIRING_TTL_SECONDS', 600, { max: 86_400 }),
  deviceRedeemsPerMinuteMax: integer('REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE', 10, { max: 10_000 }),
  deviceSessionIdleMs: secondsAsMs('REMOTE_DEVICE_SESSION_IDLE_SECONDS', 60, { max: 3600 }),
  deviceRequiresSignature: flag('REMOTE_DEVICE_REQUIRE_SIGNATURE', false),

  accessTokensEnabled: flag('PAT_ENABLED', true),
  accessTokenDefaultDays: integer('PAT_DEFAULT_LIFETIME_DAYS', 90, { min: 1, max: 36_500 }),
  accessTokenDaysMax: integer('PAT_MAX_LIFETIME_DAYS', 365, { min: 1, max: 36_500 }),
  accessTokensNonExpiring: flag('PAT_ALLOW_NON_EXPIRING', false),
  accessTokensPerUserMax: integer('PAT_MAX_PER_USER', 25, { min: 1, max: 1000 }),

  quotaPeriod: oneOf('QUOTA_PERIOD', 'month', 'day', 'week', 'month'),
  quotaTokensPerUser: optional(integer('QUOTA_TOKENS_PER_USER', 0)),
  linkRequestsPerDayMax: integer('SHARED_LINK_MAX_REQUESTS_PER_DAY', 100),
  linkTokensPerDayMax: integer('SHARED_LINK_MAX_TOKENS_PER_DAY', 500_000),

  bodyBytesMax: integer('BODY_MAX_BYTES', 10 * MiB, { min: KiB }),
  bodyEntriesMax: integer('BODY_MAX_ENTRIES', JSON_ENTRIES_MAX, { min: 1000, max: 1_000_000 }),
  webhookBodyBytesMax: integer('WEBHOOK_BODY_MAX_BYTES', 256 * KiB, { min: KiB, max: 512 * KiB }),
  uploadRequestBytesMax: integer('UPLOAD_MAX_REQUEST_BYTES', 256 * MiB, { min: 1 }),
  uploadFileBytesMax: integer('UPLOAD_MAX_FILE_BYTES', 100 * MiB, { min: 1 }),
  uploadFilesMax: integer('UPLOAD_MAX_FILES', 100, { min: 1 }),
  uploadArchiveBytesMax: integer('UPLOAD_MAX_ARCHIVE_BYTES', 250 * MiB, { min: 1 }),
  uploadArchiveFilesMax: integer('UPLOAD_MAX_ARCHIVE_FILES', 10_000, { min: 1 }),
  uploadArchiveRatioMax: integer('UPLOAD_MAX_ARCHIVE_RATIO', 1000, { min: 1 }),
  uploadArchiveDepthMax: integer('UPLOAD_MAX_ARCHIVE_DEPTH', 3),
  attachmentTextBytesMax: integer('ATTACHMENT_TEXT_MAX_BYTES', 5_000_000, { min: 1 }),
  // One event holds the outcome of all pages, whose addresses may be as long as allowed.
  remotePagesMax: integer('REMOTE_MAX_PAGES', 100, { min: 1, max: 128 }),
  remoteFilesMax: integer('REMOTE_MAX_FILES', 2_000, { min: 1, max: 10_000 }),
  remotePageBytesMax: integer('REMOTE_MAX_PAGE_BYTES', 5 * MiB, { min: KiB, max: 100 * MiB }),
  remoteBytesMax: integer('REMOTE_MAX_BYTES', 50 * MiB, { min: KiB }),
  remoteCrawlDepthMax: integer('REMOTE_CRAWL_MAX_DEPTH', 3, { max: 20 }),
  remotePageMs: secondsAsMs('REMOTE_PAGE_TIMEOUT_SECONDS', 20),
  remoteTotalMs: secondsAsMs('REMOTE_TIMEOUT_SECONDS', 600),
  agentImageBytesMax: integer('AGENT_IMAGE_MAX_BYTES', 5_000_000, { min: 1 }),

  allowedPrivateHosts: checked(list('ALLOWED_PRIVATE_HOSTS'), (hosts) => new PrivateHosts(hosts)),
  parseSpecBytesMax: integer('PARSE_SPEC_MAX_BYTES', 10 * MiB, { min: KiB }),
  githubApiBaseUrl: webUrl('GITHUB_API_BASE_URL', 'https://api.github.com'),
  githubRawBaseUrl: webUrl('GITHUB_RAW_BASE_URL', 'https://raw.githubusercontent.com'),
  braveBaseUrl: webUrl('BRAVE_BASE_URL', 'https://api.search.brave.com'),
  duckDuckGoBaseUrl: webUrl('DUCKDUCKGO_BASE_URL', 'https://duckduckgo.com'),
  duckDuckGoHtmlBaseUrl: webUrl('DUCKDUCKGO_HTML_BASE_URL', 'https://html.duckduckgo.com'),
  ntfyBaseUrl: webUrl('NTFY_BASE_URL', 'https://ntfy.sh'),
  telegramBaseUrl: webUrl('TELEGRAM_BASE_URL', 'https://api.telegram.org'),
  cryptoPriceBaseUrl: webUrl('CRYPTOPRICE_BASE_URL', 'https://min-api.cryptocompare.com'),

  sseKeepaliveMs: secondsAsMs('SSE_KEEPALIVE_SECONDS', 15),
  sseStallMs: secondsAsMs('SSE_STALL_SECONDS', 30),
  sseBufferedBytesMax: integer('SSE_BUFFER_MAX_BYTES', MiB, { min: KiB }),
  sseConcurrentPerUserMax: integer('SSE_MAX_CONCURRENT_PER_USER', 8, { max: 1000 }),
  sseConnectionsMax: integer('ASYNC_REDIS_MAX_CONNECTIONS', 2000, { min: 1 }),
  ssePushEnabled: flag('ENABLE_SSE_PUSH', true),
  userEventsMax: integer('EVENTS_STREAM_MAXLEN', 1000, { min: 1, max: 1_000_000 }),
  userEventsAgeMaxMs: hoursAsMs('EVENTS_REPLAY_MAX_AGE_HOURS', 48),
  replayEventsPerRequestMax: integer('EVENTS_REPLAY_MAX_PER_REQUEST', 200, { min: 1 }),
  replayRequestsPerWindowMax: integer('EVENTS_REPLAY_BUDGET_REQUESTS_PER_WINDOW', 30, { max: 10_000 }),
  replayWindowMs: secondsAsMs('EVENTS_REPLAY_BUDGET_WINDOW_SECONDS', 60),

  messageEventsRetentionSeconds: daysAsSeconds('MESSAGE_EVENTS_RETENTION_DAYS', 14),
  scheduleRunOutputRetentionSeconds: daysAsSeconds('SCHEDULE_RUN_OUTPUT_RETENTION_DAYS', 90),
  guardrailsEventsRetentionSeconds: daysAsSeconds('GUARDRAILS_EVENTS_RETENTION_DAYS', 30),
  tracesRetentionSeconds: daysAsSeconds('TRACES_RETENTION_DAYS', 30),
  retentionEveryMs: secondsAsMs('RETENTION_EVERY_SECONDS', 3600),
  backgroundResultRetentionSeconds: daysAsSeconds('BACKGROUND_RESULT_RETENTION_DAYS', 7),

  guardrailsEnabled: flag('GUARDRAILS_ENABLED', true),
  guardrailsChecksEnabled: list('GUARDRAILS_CHECKS_ENABLED'),
  guardrailsFloor: text('GUARDRAILS_FLOOR', '{}'),
  guardrailsJudgeModelId: optional(text('GUARDRAILS_JUDGE_MODEL')),

  approvalTtlMs: secondsAsMs('APPROVAL_TTL_SECONDS', 1800, BETWEEN_DATES),
  backgroundJobsEnabled: flag('BACKGROUND_JOBS_ENABLED', true),
  backgroundYieldMs: secondsAsMs('BACKGROUND_YIELD_SECONDS', 30),
  backgroundJobMsMax: secondsAsMs('BACKGROUND_JOB_MAX_SECONDS', 1000),
  backgroundStaleMs: secondsAsMs('BACKGROUND_STALE_SECONDS', 60),
  backgroundJobsPerConversationMax: integer('BACKGROUND_MAX_JOBS_PER_CONVERSATION', 2, { min: 1, max: 100 }),
  backgroundJobsPerUserMax: integer('BACKGROUND_MAX_JOBS_PER_USER', 5, { min: 1, max: 1000 }),
  backgroundJobsPerProcessMax: integer('BACKGROUND_POOL_SIZE', 16, { min: 1, max: 1000 }),
  autoResumeEnabled: flag('AUTO_RESUME_ENABLED', true),
  idempotencyTtlMs: secondsAsMs('IDEMPOTENCY_TTL_SECONDS', 86_400, BETWEEN_DATES),
  scheduleMinIntervalSeconds: integer('SCHEDULE_MIN_INTERVAL', 900),
  schedulesPerUserMax: integer('SCHEDULE_MAX_PER_USER', 50),
  scheduleRunTimeoutMs: secondsAsMs('SCHEDULE_RUN_TIMEOUT', 600),
  scheduleMisfireGraceMs: secondsAsMs('SCHEDULE_MISFIRE_GRACE', 60, BETWEEN_DATES),
  scheduleAutopauseFailures: integer('SCHEDULE_AUTOPAUSE_FAILURES', 3),
  scheduleOnceHorizonMs: secondsAsMs('SCHEDULE_ONCE_MAX_HORIZON', 31_536_000, BETWEEN_DATES),
  monitorsEnabled: flag('MONITORS_ENABLED', true),
  monitorIntervalSeconds: integer('MONITOR_DEFAULT_INTERVAL_SECONDS', 900, { min: 60 }),
  monitorIntervalSecondsMin: integer('MONITOR_MIN_INTERVAL_SECONDS', 300, { min: 60 }),
  monitorTtlSeconds: daysAsSeconds('MONITOR_DEFAULT_TTL_DAYS', 7),
  monitorTtlSecondsMax: daysAsSeconds('MONITOR_MAX_TTL_DAYS', 30),
  monitorFollowUps: integer('MONITOR_DEFAULT_MAX_WAKES', 1, { min: 1 }),
  monitorFollowUpsMax: integer('MONITOR_MAX_WAKES', 20, { min: 1 }),
  monitorFollowUpsPerHourMax: integer('MONITOR_MAX_WAKES_PER_HOUR', 5, { min: 1 }),
  monitorsPerUserMax: integer('MONITOR_MAX_ACTIVE_PER_USER', 5),
  monitorUnreachableGraceMs: secondsAsMs('MONITOR_UNREACHABLE_GRACE_SECONDS', 3600, BETWEEN_DATES),
  monitorJudgeModelId: optional(text('MONITOR_JUDGE_MODEL')),
  monitorJudgeTokensMax: integer('MONITOR_JUDGE_TOKEN_BUDGET', 100_000),
  missedSlotDelayMs: secondsAsMs('MISSED_SLOT_DELAY_SECONDS', 600, BETWEEN_DATES),
  staleProducerMs: secondsAsMs('STALE_PRODUCER_SECONDS', 10),
  noWorkerTurnMs: secondsAsMs('NO_WORKER_TURN_SECONDS', 60, BETWEEN_DATES),
  freshnessWaitMs: secondsAsMs('FRESHNESS_WAIT_SECONDS', 5),
  codeNodes: flag('CODE_NODES', true),
  codeRunsMax: integer('CODE_RUNS_MAX', 2, { min: 1, max: 64 }),
  // The interpreter uses 192 MiB of it.
  codeMemoryBytesMax: integer('CODE_MEMORY_MAX_BYTES', 512 * MiB, { min: 256 * MiB, max: 4096 * MiB }),
  codeTimeoutMsMax: secondsAsMs('CODE_TIMEOUT_MAX_SECONDS', 300),
  artifactBytesMax: integer('ARTIFACT_MAX_BYTES', 50 * MiB),
  artifactsPerUserMax: integer('ARTIFACT_MAX_COUNT_PER_USER', 5000),
  artifactBytesPerUserMax: integer('ARTIFACT_MAX_TOTAL_BYTES_PER_USER', 5 * 1024 * MiB),
  webhookKeyMismatch: oneOf('WEBHOOK_KEY_MISMATCH', 'original', 'original', 'reject'),
} as const satisfies Record<string, Setting<unknown>>;

type ValueOf<S> = S extends { optional: true; parse: (text: string) => infer T }
  ? T | undefined
  : S extends Setting<infer T>
    ? T
    : never;

export type Settings = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> };
