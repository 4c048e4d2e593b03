import type { OAuthGrant } from './sign-in/oauth.decider.js';

/** The state of a handshake in the format of the API. */
export function handshakeRecord(grant: OAuthGrant, overdue: boolean) {
  const { id: task_id, status, authorizationUrl, tools, reason } = grant;
  if (overdue) return { task_id, status: 'error', message: 'The sign-in took too long.', error: 'The sign-in took too long.' };
  switch (status) {
    case 'awaiting':
      return {
        task_id,
        status: 'awaiting_redirect',
        message: 'Please sign in to the tool server.',
        authorization_url: authorizationUrl,
      };
    case 'granted':
      return { task_id, status: 'completed', message: 'Signed in.', tools, tools_count: tools.length };
    case 'failed':
    case 'lost':
      return { task_id, status: 'error', message: reason, error: reason };
    case 'none':
    case 'started':
    case 'returned':
      return { task_id, status: 'in_progress', message: 'Signing in to the tool server.' };
  }
}

/** The outcome of a return from the authorization server. `used`: an earlier return has used the state. */
type SignInOutcome = 'granted' | 'failed' | 'used';

const PAGES: Readonly<Record<SignInOutcome, readonly [title: string, text: string]>> = {
  granted: ['Signed in', 'The tool server is connected. You can close this window.'],
  failed: ['Not signed in', 'The sign-in did not succeed. Please close this window and try again.'],
  used: ['Already answered', 'This sign-in was answered before. You can close this window.'],
};

/** The page for the window that returned from the authorization server. It repeats nothing from the request. */
export function callbackPage(outcome: SignInOutcome): string {
  const [title, text] = PAGES[outcome];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>\n`;
}

export const CALLBACK_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;
