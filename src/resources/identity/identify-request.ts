import type { FastifyReply, FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { clientOf } from './client-address.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import { type Authenticator, bearerOf } from './authenticator.js';
import type { AuthType, DeviceCaller, SignedInUser } from './caller.js';
import type { DeviceDirectory } from './device-directory.port.js';
import { Identity, type IdentityMeans } from './identity.js';
import { deviceTokenInvalid, deviceTokenMissing } from './identity.rejections.js';
import type { IdentifiedRequest } from './identity.http.js';
import { type AccessTokenDirectory, isAccessToken } from './access-token-directory.port.js';
import type { AskingLinks } from './links/asking-links.port.js';
import type { OpenResponses } from './open-responses.js';
import type { WrongCredentials } from './client-limits.port.js';
import { isJsonObject } from '../json-object.policy.js';

/** On these paths the bearer token is an agent key, because clients of these protocols send it there. */
export const BEARER_IS_AGENT_KEY = /^\/(v1|mcp)(\/|\?|$)/;
/**
 * On these paths the only credential is in the path or the body. A bearer token is ignored: it is for another service or expired.
 */
export const BRINGS_OWN_CREDENTIAL = /^\/api\/(webhooks\/|auth\/oidc\/|devices\/pairings\/redeem(\/|\?|$))/;
/** On these paths the bearer token is the token of a device, and there is no user. */
export const BEARER_IS_DEVICE = /^\/api\/devices\/(poll|me|sessions)(\/|\?|$)/;

/**
 * Routes of the incumbent's interface that change something by GET: two delete, one creates the token of a webhook. Two more
 * routes do so, `/api/webhooks/` and the callback of a sign-in, but other sites have to reach them, and each request contains a
 * secret.
 */
const CHANGES_BY_GET: ReadonlySet<string | undefined> = new Set([
  '/api/delete_old',
  '/api/delete_all_conversations',
  '/api/agent_webhook',
]);
/** On this path the key may be in a form that only the route reads. */
const KEY_IS_IN_FORM = /^\/api\/store_attachment(\?|\/|$)/;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** The directories in which credentials are looked up. */
type Directories = Readonly<{
  keys: () => AgentKeyDirectory;
  links: () => AskingLinks;
  tokens: () => AccessTokenDirectory;
  devices: () => DeviceDirectory;
}>;

/**
 * The hook that determines the identity of each request before its body is read. It refuses an invalid bearer token before
 * anything else of the request is checked, on all paths on which bearer tokens count.
 */
export const identifyRequest =
  (
    authenticator: Authenticator,
    directories: Directories,
    wrong: WrongCredentials,
    allowedOrigins: readonly string[],
    responses: OpenResponses,
  ) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    refuseOtherSites(request, allowedOrigins);
    const { authorization } = request.headers;
    if (BEARER_IS_DEVICE.test(request.url)) {
      const device = await deviceOf(directories.devices(), authorization, request, wrong);
      (request as FastifyRequest & IdentifiedRequest).identity = ofDevice(device);
      return responses.add(device, reply.raw);
    }
    const bearerIsKey = BEARER_IS_AGENT_KEY.test(request.url);
    const bearerIsUser = !bearerIsKey && !BRINGS_OWN_CREDENTIAL.test(request.url);
    const countWrong = () => wrong.count(request);
    const bearer = bearerIsUser ? bearerOf(authorization) : undefined;
    const signingIn = isAccessToken(bearer)
      ? userOfToken(directories.tokens(), bearer, request)
      : authenticator.userOf(bearerIsUser ? authorization : undefined, request.id);
    const user = await signingIn.catch(async (error: unknown) => {
      // An expired token is not counted: it was valid once, so it was not guessed.
      if (error instanceof Rejection && error.code === 'invalid-token') await countWrong();
      throw error;
    });
    // A page that sends an access token has a credential, so its origin does not matter.
    const isForeign =
      !user?.token && authenticator.authType === 'none' && changesSomething(request) && isForeignPage(request, allowedOrigins);
    const presentedKey = () => (bearerIsKey ? bearerOf(authorization) : undefined) ?? keyIn(request);
    const identity = new Identity(request.id, isForeign ? undefined : user, presentedKey, {
      directory: directories.keys,
      links: directories.links,
      countWrong,
      letsIn: (caller) => responses.add(caller, reply.raw),
      origin: request.headers.origin,
    });
    (request as FastifyRequest & IdentifiedRequest).identity = identity;
    if (user) responses.add(user, reply.raw);
  };

/** @throws Rejection device-token-missing, device-token-invalid, too-many-wrong-credentials */
async function deviceOf(
  devices: DeviceDirectory,
  authorization: string | undefined,
  request: FastifyRequest,
  wrong: WrongCredentials,
): Promise<DeviceCaller> {
  const token = /^bearer /i.test(authorization ?? '') ? authorization!.slice('bearer '.length).trim() : '';
  if (token === '') throw deviceTokenMissing();
  const device = await devices.holderOf(token, request.id);
  if (!device) {
    await wrong.count(request);
    throw deviceTokenInvalid();
  }
  devices.noteUse(device.tokenId, clientOf(request));
  return device;
}

const ofDevice = (device: DeviceCaller): Identity => {
  const { correlationId } = device.cause;
  return new Identity(correlationId, undefined, () => undefined, NO_KEYS, device);
};

/** Requests of devices have no agent key, so none is looked up. */
const noKeys = () => {
  throw new Error('No key is looked up for a device.');
};
const NO_KEYS: IdentityMeans = {
  directory: noKeys,
  links: noKeys,
  countWrong: () => Promise.resolve(),
  letsIn: () => undefined,
  origin: undefined,
};

/**
 * The user of an access token. The cause contains the id of the token, never its secret.
 * @throws Rejection invalid-token, token-expired
 */
async function userOfToken(tokens: AccessTokenDirectory, bearer: string, request: FastifyRequest): Promise<SignedInUser> {
  const { userId, grant: token } = await tokens.holderOf(bearer);
  tokens.noteUse(token.id, clientOf(request));
  const cause = {
    actor: `access-token:${token.id}`,
    credential: 'access-token',
    correlationId: request.id,
    causationId: request.id,
  } as const;
  return { kind: 'user', userId, roles: ['user'], credential: 'access-token', token, cause };
}

/**
 * If authentication is off, every request is from the local user, so a page of any site could change that user's resources. Such
 * a page gets no identity and is refused unless it sends a credential. This hook runs after the body is read, which may contain a
 * key.
 */
export const refuseForeignPages =
  (authType: AuthType, allowedOrigins: readonly string[]) =>
  async (request: FastifyRequest): Promise<void> => {
    if (authType !== 'none' || !changesSomething(request) || !isForeignPage(request, allowedOrigins)) return;
    const mayHoldKey = KEY_IS_IN_FORM.test(request.url);
    if (
      mayHoldKey ||
      BRINGS_OWN_CREDENTIAL.test(request.url) ||
      BEARER_IS_AGENT_KEY.test(request.url) ||
      BEARER_IS_DEVICE.test(request.url) ||
      bearerOf(request.headers.authorization) ||
      keyIn(request)
    )
      return;
    throw new Rejection(
      'origin-not-allowed',
      'Pages of this origin need a credential to change anything. ALLOWED_ORIGINS lists the origins that do not.',
    );
  };

/**
 * Refuses cross-site requests to routes that change something by GET. Any page can cause such a request by a picture or a link.
 */
function refuseOtherSites(request: FastifyRequest, allowedOrigins: readonly string[]): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== 'cross-site' || !isChangeByGet(request)) return;
  if (origin !== undefined && !isForeignPage(request, allowedOrigins)) return;
  throw new Rejection(
    'origin-not-allowed',
    'Pages of other sites may not change anything by GET, unless ALLOWED_ORIGINS lists their origin.',
  );
}

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

const changesSomething = (request: FastifyRequest): boolean => !SAFE_METHODS.includes(request.method) || isChangeByGet(request);

/** Compares the route and not the path, because one path can be written in several ways. */
const isChangeByGet = ({ method, routeOptions }: FastifyRequest): boolean =>
  method !== 'OPTIONS' && SAFE_METHODS.includes(method) && CHANGES_BY_GET.has(routeOptions.url);

function isForeignPage({ headers: { origin } }: FastifyRequest, allowedOrigins: readonly string[]): boolean {
  if (origin === undefined || allowedOrigins.includes(origin)) return false;
  return !(URL.canParse(origin) && LOOPBACK.test(new URL(origin).hostname));
}

/** An agent key in the body, the query or the header, in this order. Blank keys count as absent. */
function keyIn(request: FastifyRequest): string | undefined {
  const places = [field(request.body, 'api_key'), field(request.query, 'api_key'), request.headers['x-api-key']];
  return places.find((place): place is string => typeof place === 'string' && place.trim() !== '')?.trim();
}

const field = (holder: unknown, name: string): unknown => (isJsonObject(holder) ? holder[name] : undefined);
