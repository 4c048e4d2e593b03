import type { OpenAPIObject } from '@nestjs/swagger';
import ts from 'typescript';
import {
  BEARER_IS_AGENT_KEY,
  BEARER_IS_DEVICE,
  BRINGS_OWN_CREDENTIAL,
} from '../../../src/resources/identity/identify-request.js';
import type { Route } from './controllers.js';
import type { ReachableRefusals, Refusal } from './reachable-refusals.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const refusal = (code: string, text: string): Refusal => ({ code, text });

const NOT_READABLE = refusal('invalid-request', 'The request cannot be read, or a field or parameter of it is not as described.');
const OF_BODIES = [
  refusal('too-large', 'The body is too large.'),
  refusal('media-type-not-accepted', 'The type or the encoding of the body is not accepted.'),
];
const OF_DEVICES = ['device-token-missing', 'device-token-invalid'];
const OF_BEARERS = ['invalid-token', 'token-expired', 'token-revoked'];
const OF_PAGES = 'origin-not-allowed';
/** Routes of these need nothing that can be full or unavailable. */
const NEED_NOTHING = ['Operations', 'StartUp', 'EmptyLists'];
const AWAY = [
  refusal('unavailable', 'Something that the service needs does not answer.'),
  refusal('disk-full', 'No space is left to store anything.'),
];
const CLOSING = refusal('shutting-down', 'The service is shutting down. Please try again.');
const FAILED = refusal('internal', 'Something went wrong.');

/** The functions that run before every handler: they identify the caller and refuse pages of other sites. */
const HOOKS = ['identifyRequest', 'refuseForeignPages'];
/** Runs before handlers of webhooks: it looks up the token in the path. */
const HOOKS_OF_WEBHOOKS = ['findWebhook'];
const OF_WEBHOOKS = /^\/api\/webhooks\//;

/** Whether the bearer is a user's, and thus may be a personal access token. */
export const readsUser = (path: string): boolean =>
  ![BRINGS_OWN_CREDENTIAL, BEARER_IS_DEVICE, BEARER_IS_AGENT_KEY].some((each) => each.test(path));

/** The refusals that an operation has because of its path, its method and its body. */
export function generalRefusals(reachable: ReachableRefusals, files: readonly ts.SourceFile[]) {
  const declared = files
    .flatMap(({ statements }) => [...statements])
    .filter((each) => ts.isVariableStatement(each))
    .flatMap(({ declarationList }) => declarationList.declarations);
  const refusalsOf = (hooks: readonly string[]) =>
    declared.filter(({ name }) => hooks.includes(name.getText())).flatMap((each) => reachable.from(each));
  const [before, beforeWebhooks] = [refusalsOf(HOOKS), refusalsOf(HOOKS_OF_WEBHOOKS)];
  return (path: string, verb: string, operation: Operation, { access }: Route): readonly Refusal[] => {
    const isOwn = BRINGS_OWN_CREDENTIAL.test(path);
    const isDevice = BEARER_IS_DEVICE.test(path);
    const hasBearerOfUser = readsUser(path);
    const isLetThrough = ({ code }: Refusal) => {
      if (OF_DEVICES.includes(code)) return isDevice;
      if (OF_BEARERS.includes(code)) return hasBearerOfUser;
      if (code === OF_PAGES)
        return (
          verb !== 'get' ||
          path === '/api/delete_old' ||
          path === '/api/agent_webhook' ||
          path === '/api/delete_all_conversations'
        );
      return !isOwn;
    };
    const needsNothing = operation.tags?.some((tag) => NEED_NOTHING.includes(tag));
    const mayBeUnknown = access?.for === 'user' && !access.userIsAskedLater;
    return [
      ...before.filter(isLetThrough),
      ...(OF_WEBHOOKS.test(path) ? beforeWebhooks : []),
      ...(mayBeUnknown ? [refusal('unauthenticated', 'Unauthorized')] : []),
      NOT_READABLE,
      ...(operation.requestBody || verb !== 'get' ? OF_BODIES : []),
      ...(needsNothing ? [] : AWAY),
      CLOSING,
      FAILED,
    ];
  };
}
