import { Writable } from 'node:stream';
import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type LogOptions = Readonly<{
  level: string;
  format: 'json' | 'pretty';
  /** The destination of the lines; standard output by default. */
  destination?: { write(line: string): void };
}>;

const SECRET_KEYS = ['authorization', 'cookie', 'api_key', 'apiKey', 'x-api-key', 'token', 'access_token', 'password', 'secret'];

/** Patterns of secrets in URLs, headers and JSON inside messages. */
const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/([?&](?:api_key|token|access_token)=)[\w.~%+/=-]+/gi, '$1***'],
  [/(\bBearer\s+)[\w.~+/=-]+/gi, '$1***'],
  [/("(?:api_key|apiKey|token|access_token|password|secret)\\*"\s*:\s*\\*")[^"\\]*/gi, '$1***'],
  [/(\b\w+:\/\/[^\s:/@]+:)[^\s@/]+@/g, '$1***@'],
];

export const withoutSecrets = (text: string): string =>
  SECRETS_IN_TEXT.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);

/** The log of the process: one JSON object per line, or lines for people. Credentials are masked. */
export function openLog({ level, format, destination }: LogOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_KEYS.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`]), censor: '***' },
    serializers: { err: serializeError },
    hooks: { streamWrite: withoutSecrets },
  };
  if (format === 'json') return destination ? pino(options, destination) : pino(options);
  return pino(options, pretty({ sync: true, ...(destination && { destination: asStream(destination) }) }));
}

/** Leaves out properties that drivers add to errors, such as statements and parameters, which contain client data. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  const cause = error.cause === undefined ? {} : { cause: serializeError(error.cause) };
  return { type: error.name, message: error.message, ...(code !== undefined && { code }), stack: error.stack, ...cause };
}

const asStream = (destination: { write(line: string): void }) =>
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      destination.write(chunk.toString());
      done();
    },
  });

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** The contexts of Nest's own start-up messages, which are logged at debug level. */
const FRAMEWORK = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** Adapts the log to Nest's `Logger`. */
export class NestLog implements LoggerService {
  readonly verbose = this.writer('trace');
  readonly debug = this.writer('debug');
  readonly log = this.writer('info');
  readonly warn = this.writer('warn');
  readonly error = this.writer('error');
  readonly fatal = this.writer('fatal');

  constructor(private readonly pino: Logger) {}

  /** Nest passes a message or error, optional further ones or a stack, and finally the context name. */
  private writer(usual: Level) {
    return (message: unknown, ...more: unknown[]): void => {
      const rest = more.filter((each) => each !== undefined);
      const context = typeof rest.at(-1) === 'string' && rest.length > 0 ? (rest.pop() as string) : undefined;
      const level = usual === 'info' && context !== undefined && FRAMEWORK.has(context) ? 'debug' : usual;
      const fields: Record<string, unknown> = context === undefined ? {} : { context };
      const error = [message, ...rest].find((each) => each instanceof Error);
      if (error) fields['err'] = error;
      else if (typeof rest[0] === 'string') fields['stack'] = rest[0];
      else if (rest.length > 0) fields['more'] = rest;
      if (message instanceof Error) return this.pino[level](fields, message.message);
      if (typeof message === 'object' && message !== null) return this.pino[level]({ ...message, ...fields });
      this.pino[level](fields, String(message));
    };
  }
}
