import type { OAuthEvent } from '../../resources/tools/mcp/sign-in/oauth.events.js';
import type { Notification } from './user.events.js';

/** What is told of the sign-in to a tool server. That tokens were renewed, or are worth nothing any more, is told by the tool. */
export const SIGN_IN_EVENTS = ['OAuthHandshakeStarted', 'OAuthSignInAwaited', 'OAuthGranted', 'OAuthHandshakeFailed'] as const;

/** Undefined where there is nothing to be told. */
export function signInNotification({ type, data }: OAuthEvent): Notification | undefined {
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
    case 'OAuthSignInReturned':
    case 'OAuthTokensRefreshed':
    case 'OAuthGrantLost':
      return undefined;
  }
}
