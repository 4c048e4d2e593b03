import { Writable } from 'node:stream';
import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type LogOptions = Readonly<{
  level: string;
  format: 'json' | 'pretty';
  /** Where the lines go: standard output unless told. */
  destination?: { write(line: string): void };
}>;

const SECRET_KEYS = ['authorization', 'cookie', 'api_key', 'apiKey', 'x-api-key', 'token', 'access_token', 'password', 'secret'];

/** Secrets as they stand in URLs, headers and JSON that somebody put into a message. */
const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/([?&](?:api_key|token|access_token)=)[\w.~%+/=-]+/gi, '$1***'],
  [/(\bBearer\s+)[\w.~+/=-]+/gi, '$1***'],
  [/("(?:api_key|apiKey|token|access_token|password|secret)\\*"\s*:\s*\\*")[^"\\]*/gi, '$1***'],
  [/(\b\w+:\/\/[^\s:/@]+:)[^\s@/]+@/g, '$1***@'],
];

export const withoutSecrets = (text: string): string =>
  SECRETS_IN_TEXT.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);

/** The log of the process: one JSON object a line, or lines for people. Credentials do not get into it. */
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

/** Without what drivers hang on their errors: statements and parameters are what clients sent. */
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

/** What Nest says of itself while it starts is for those who look into it. */
const FRAMEWORK = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/** The log as Nest and, through Nest's `Logger`, the features know it. */
export class NestLog implements LoggerService {
  readonly verbose = this.writer('trace');
  readonly debug = this.writer('debug');
  readonly log = this.writer('info');
  readonly warn = this.writer('warn');
  readonly error = this.writer('error');
  readonly fatal = this.writer('fatal');

  constructor(private readonly pino: Logger) {}

  /** Nest passes a message or error, perhaps more of them or a stack, and last the name of who speaks. */
  private writer(usual: Level) {
    return (message: unknown, ...rest: unknown[]): void => {
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
