import { types } from 'node:util';
import { BlobsUnavailable } from '../../kernel/blobs.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { ReadModelsBehind } from '../../kernel/event-sourcing/freshness.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { isSocketAway } from '../unix-socket.js';
import { WorkQueueUnavailable } from '../../kernel/messaging/work-queue.js';

const UNAVAILABLE = [StoreUnavailable, KeyValueUnavailable, WorkQueueUnavailable, BlobsUnavailable, ReadModelsBehind];

/** SQLSTATE classes that concern the server and not the statement: connection, rollback, resources, operator, system. */
const SERVER_CLASSES = new Set(['08', '40', '53', '57', '58']);
const SERVER_STATES = new Set(['55P03', '25006', '25P03', '25P04', 'XX000']);

const CONNECTION_CODES =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

const CAUSES_MAX = 5;

/** Whether an error is the outage of a dependency, so that the work should be retried without a limit. */
export function isOutage(error: unknown): boolean {
  if (isDiskFull(error)) return true;
  for (let cause = error, depth = 0; types.isNativeError(cause) && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    if (UNAVAILABLE.some((kind) => cause instanceof kind)) return true;
    const code = (cause as { code?: unknown }).code;
    if (typeof code !== 'string') continue;
    if (CONNECTION_CODES.test(code) || isSocketAway(cause)) return true;
    if (/^[0-9A-Z]{5}$/.test(code) && (SERVER_CLASSES.has(code.slice(0, 2)) || SERVER_STATES.has(code))) return true;
  }
  return false;
}
