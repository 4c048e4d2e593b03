import { resolve } from 'node:path';
import { ROLES, SECRET_BYTES_MIN, type Settings, settings } from './settings.js';
import type { Setting } from './setting.js';

/**
 * The configuration of this process. It is read once, checked as a whole and never changed. Names of times end with their unit.
 */
export class Config extends (class {} as new () => Settings) {
  constructor(values: Settings) {
    super();
    Object.assign(this, values);
    Object.freeze(this);
  }
}

/** The environment is invalid. Each problem names its variable. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid';
  constructor(readonly problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and checks the environment. An empty variable counts as unset. @throws ConfigInvalid with all problems */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(settings).map(([name, { variable, fallback, parse }]) => {
      const given = environment[variable]?.trim() || fallback;
      try {
        return [name, given === undefined ? undefined : parse(given)];
      } catch (error) {
        problems.push(`${variable} ${(error as Error).message}`);
        return [name, undefined];
      }
    }),
  ) as Settings;
  if (problems.length === 0) problems.push(...contradictionsIn(values));
  if (problems.length > 0) throw new ConfigInvalid(problems);
  return new Config({ ...values, dataDir: resolve(values.dataDir), modelIds: modelIdsOf(values) });
}

/** Finds combinations of values that contradict each other. */
function* contradictionsIn(values: Settings): Generator<string> {
  const { host, authType, allowUnauthenticated, roles, natsUrl, databaseUrl, modelIds } = values;
  if (authType === 'none' && !allowUnauthenticated && !isLoopback(host)) {
    yield `HOST is ${host}, which other machines can reach, while AUTH_TYPE is unset and so nobody has to sign in. Set AUTH_TYPE, or ALLOW_UNAUTHENTICATED=true if that is meant.`;
  }
  if (authType === 'oidc') yield* gapsInOidc(values);
  if (!hasEndpoint(values)) yield* modelsWithoutEndpoint(values);
  if (roles.length < ROLES.length) {
    if (natsUrl === undefined) yield `ROLES leaves out a role, but its process could not be reached: NATS_URL is unset.`;
    if (databaseUrl === undefined)
      yield `ROLES leaves out a role, but its process could not share the database: DATABASE_URL is unset.`;
  }
  if (modelIds.length > 0) yield* modelsNotOffered(values);
}

/** A judge that is not offered would fail each time, and a policy that fails open would check nothing. */
function* modelsNotOffered({
  modelIds,
  defaultModelId,
  guardrailsJudgeModelId,
  monitorJudgeModelId,
}: Settings): Generator<string> {
  const named = {
    DEFAULT_MODEL_ID: defaultModelId,
    GUARDRAILS_JUDGE_MODEL: guardrailsJudgeModelId,
    MONITOR_JUDGE_MODEL: monitorJudgeModelId,
  };
  for (const [variable, id] of Object.entries(named)) {
    if (id !== undefined && !modelIds.includes(id)) yield `${variable} is ${id}, which is not among MODEL_IDS.`;
  }
}

/** Finds values that the service accepts, but that weaken it or leave a part of it without effect. */
export function* weaknessesIn({ encryptionSecretKey, modelIds, titleModelId }: Config): Generator<string> {
  if (Buffer.byteLength(encryptionSecretKey) < SECRET_BYTES_MIN)
    yield `ENCRYPTION_SECRET_KEY has fewer than ${SECRET_BYTES_MIN} bytes: whoever gets a copy of the database can guess it, and then read credentials and forge seals.`;
  if (titleModelId !== undefined && titleModelId !== NO_MODEL && modelIds.length > 0 && !modelIds.includes(titleModelId))
    yield `TITLE_MODEL_ID is ${titleModelId}, which is not among MODEL_IDS, so no conversation gets a title.`;
}

function* gapsInOidc({ oidcIssuer, oidcClientId, oidcFrontendUrl }: Settings): Generator<string> {
  const needed = { OIDC_ISSUER: oidcIssuer, OIDC_CLIENT_ID: oidcClientId, OIDC_FRONTEND_URL: oidcFrontendUrl };
  for (const [variable, value] of Object.entries(needed)) {
    if (value === undefined) yield `${variable} is unset, which AUTH_TYPE=oidc needs.`;
  }
  if (oidcIssuer?.startsWith('http:') && !isLoopback(new URL(oidcIssuer).hostname)) {
    yield `OIDC_ISSUER is ${oidcIssuer}: a provider that is not on this machine must be reached over https.`;
  }
}

/** The built-in model, which needs no endpoint. */
const OFFLINE_MODEL_ID = 'offline';

/** The value of TITLE_MODEL_ID with which conversations get no titles. */
const NO_MODEL = 'none';

const hasEndpoint = ({ openaiBaseUrl, openaiApiKey }: Settings): boolean =>
  openaiBaseUrl !== undefined || openaiApiKey !== undefined;

function* modelsWithoutEndpoint(values: Settings): Generator<string> {
  const named = {
    MODEL_IDS: values.modelIds,
    DEFAULT_MODEL_ID: [values.defaultModelId],
    TITLE_MODEL_ID: [values.titleModelId],
    EMBEDDINGS_MODEL: [values.embeddingsModel],
    STT_MODEL: [values.sttModel],
    TTS_MODEL: [values.ttsModel],
    GUARDRAILS_JUDGE_MODEL: [values.guardrailsJudgeModelId],
    MONITOR_JUDGE_MODEL: [values.monitorJudgeModelId],
  };
  for (const [variable, ids] of Object.entries(named)) {
    const unserved = ids.find((id) => id !== undefined && id !== OFFLINE_MODEL_ID);
    if (unserved !== undefined)
      yield `${variable} names ${unserved}, but no endpoint serves it: set OPENAI_BASE_URL or OPENAI_API_KEY.`;
  }
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

/** The configured models. An empty list means all models of the endpoint. Without an endpoint there is only the offline model. */
const modelIdsOf = (values: Settings): readonly string[] =>
  values.modelIds.length > 0 || hasEndpoint(values) ? values.modelIds : [OFFLINE_MODEL_ID];
