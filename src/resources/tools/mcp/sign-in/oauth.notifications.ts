import { type Notification, notificationRule } from '../../../../kernel/event-sourcing/notifications.js';
import { oauthCodec } from './oauth.codec.js';
import type {
  OAuthEvent,
  OAuthGranted,
  OAuthHandshakeFailed,
  OAuthHandshakeStarted,
  OAuthSignInAwaited,
} from './oauth.events.js';

type About<Type extends string, Payload extends object> = Notification<Type, 'mcp_oauth', { task_id: string } & Payload>;

export type SignInNotification =
  | About<'mcp.oauth.in_progress', { message: string }>
  | About<'mcp.oauth.awaiting_redirect', { message: string; authorization_url: string }>
  | About<'mcp.oauth.completed', { tools: readonly { name: string; description: string }[]; tools_count: number }>
  | About<'mcp.oauth.failed', { error: string }>;

type NotifiedEvent = OAuthHandshakeStarted | OAuthSignInAwaited | OAuthGranted | OAuthHandshakeFailed;

function signInNotification({ type, data }: NotifiedEvent): SignInNotification {
  const { handshakeId: task_id } = data;
  const scope = { kind: 'mcp_oauth', id: task_id } as const;
  switch (type) {
    case 'OAuthHandshakeStarted':
      return { type: 'mcp.oauth.in_progress', scope, payload: { task_id, message: 'Signing in to the tool server.' } };
    case 'OAuthSignInAwaited': {
      const { authorizationUrl: authorization_url } = data;
      const message = 'Please sign in to the tool server.';
      return { type: 'mcp.oauth.awaiting_redirect', scope, payload: { task_id, message, authorization_url } };
    }
    case 'OAuthGranted':
      return { type: 'mcp.oauth.completed', scope, payload: { task_id, tools: data.tools, tools_count: data.tools.length } };
    case 'OAuthHandshakeFailed':
      return { type: 'mcp.oauth.failed', scope, payload: { task_id, error: data.reason } };
  }
}

/** Notifications about the user's sign-ins to tool servers. Renewed or lost tokens cause none, because the tool shows them. */
export const signInNotifications = [
  notificationRule({
    category: 'oauth',
    codec: oauthCodec,
    about: ['OAuthHandshakeStarted', 'OAuthSignInAwaited', 'OAuthGranted', 'OAuthHandshakeFailed'],
    initial: undefined,
    evolve: (ownerId: string | undefined, { type, data }: OAuthEvent) =>
      type === 'OAuthHandshakeStarted' ? data.ownerId : ownerId,
    foldedMax: 1,
    ownerOf: (ownerId) => ownerId,
    noticesOf: (event) => [{ notification: signInNotification(event) }],
  }),
];
