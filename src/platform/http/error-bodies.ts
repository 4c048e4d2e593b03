import type { Failure } from './errors.js';
import { SSE_HEADERS } from './sse.js';

export type RenderedError = Readonly<{ headers: Readonly<{ 'content-type': string }>; body: string }>;

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

/** Renders an error body in the format that clients of its route expect. */
export function renderError(path: string, failure: Failure): RenderedError {
  const { message, code, json, details } = failure;
  if (isWithin(path, '/v1')) return asJson(openAiBody(failure));
  if (isWithin(path, '/mcp')) return asJson(jsonRpcBody(failure));
  if (isAt(path, '/api/answer') || isAt(path, '/api/search'))
    return asJson({ error: message, ...(code && { code }), ...details });
  if (!json && isAt(path, '/stream')) {
    const frame = JSON.stringify({ type: 'error', error: message, ...(code && { code }) });
    return { headers: SSE_HEADERS, body: `data: ${frame}\n\n` };
  }
  return asJson({ success: false, message, ...(code && { error: code }), ...details });
}

const asJson = (body: object): RenderedError => ({ headers: JSON_HEADERS, body: JSON.stringify(body) });

const isAt = (path: string, route: string): boolean => path === route || path === `${route}/`;
const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** The JSON-RPC error codes for invalid JSON and, in the range for servers, for all other errors. */
const UNREADABLE = -32_700;
const REFUSED = -32_000;

const jsonRpcBody = ({ status, message, code }: Failure): object => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: status === 400 ? UNREADABLE : REFUSED, message, ...(code && { data: { code } }) },
});

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

const openAiBody = ({ status, message, code, details }: Failure): object => ({
  error: {
    message,
    type: OPENAI_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    code: code ?? details?.['code'] ?? null,
    param: details?.['param'] ?? null,
  },
});
