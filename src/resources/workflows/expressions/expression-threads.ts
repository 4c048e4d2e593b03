import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type * as WorkerThreads from 'node:worker_threads';
import type * as Cel from '@marcbachmann/cel-js';
import { BoundedThreads, ThreadFailed } from '../../../platform/sandbox/bounded-threads.js';
import { ExpressionFailed } from './expressions.port.js';
import { needsTooMuchMemory, tooManyExpressions } from './expression-failures.js';
import type { ExpressionLimits } from './expression-limits.js';

/** `state` is JSON text, because the thread converts its numbers to types of the expression language. */
export type ExpressionQuestion = Readonly<{ expression: string; state: string } | { compile: readonly string[] }>;

/** `json` is the value as JSON text. `problems` has one entry per expression in the same order; null means that it compiles. */
export type ExpressionAnswer = Readonly<
  { json: string } | { problems: readonly (string | null)[] } | { invalid: string } | { failed: string } | { tooLarge: true }
>;

/** Evaluates expressions of users in threads with time limits, because nested macros and regular expressions may run endlessly. */
export class ExpressionThreads {
  private readonly threads: BoundedThreads<ExpressionQuestion, ExpressionAnswer>;

  constructor(private readonly limits: ExpressionLimits) {
    const engine = pathToFileURL(createRequire(import.meta.url).resolve('@marcbachmann/cel-js')).href;
    this.threads = new BoundedThreads(evaluateOnRequest, { engine, resultCharactersMax: limits.resultCharactersMax }, limits);
  }

  /** @throws ExpressionFailed, or the signal's reason */
  ask(question: ExpressionQuestion, signal: AbortSignal): Promise<ExpressionAnswer> {
    return this.threads.run(question, signal).catch((error: unknown) => {
      throw error instanceof ThreadFailed ? this.failureOf(error) : error;
    });
  }

  private failureOf({ failure }: ThreadFailed): ExpressionFailed {
    if (failure === 'busy') return tooManyExpressions();
    if (failure === 'died') return needsTooMuchMemory();
    return new ExpressionFailed('out-of-time', `The expression took longer than ${this.limits.deadlineMs} ms.`);
  }
}

/** The complete program of a thread. */
function evaluateOnRequest(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads;
  const parent = threads.parentPort!;
  const { engine, resultCharactersMax } = threads.workerData as { engine: string; resultCharactersMax: number };

  type Question = { expression: string; state: string } | { compile: readonly string[] };

  /** Converts integers to `int`, other numbers to `double`, and null to false. */
  const asValue = (json: unknown): unknown => {
    if (json === null || json === undefined) return false;
    if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json;
    if (Array.isArray(json)) return json.map(asValue);
    if (typeof json !== 'object') return json;
    // Without a prototype, so that expressions cannot read inherited properties such as `constructor`.
    const entries = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of Object.entries(json)) entries[name] = asValue(value);
    return entries;
  };

  const asJson = (value: unknown): unknown => {
    if (value === null || value === undefined) return null;
    if (typeof value === 'bigint') return Number(value);
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw new Error('The result is not a finite number');
      return value;
    }
    if (typeof value === 'string' || typeof value === 'boolean') return value;
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
    if (value instanceof Date) return value.toISOString();
    if (Array.isArray(value)) return value.map(asJson);
    const entries = value instanceof Map ? [...value] : isPlain(value) ? Object.entries(value) : undefined;
    if (entries) return Object.fromEntries(entries.map(([name, each]) => [String(name), asJson(each)]));
    const other = value as { valueOf(): unknown; toString(): string };
    return other.constructor.name === 'UnsignedInt' ? Number(other.valueOf()) : other.toString();
  };

  const isPlain = (value: unknown): value is object => {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || prototype === Object.prototype;
  };

  const textOf = (error: unknown): string => {
    const { summary, message } = error as { summary?: string; message?: string };
    return (summary ?? message ?? String(error)).split('\n', 1)[0]!.slice(0, 300);
  };

  const serve = ({ Environment }: typeof Cel): void => {
    const language = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
    // JSON does not distinguish 2 from 2.0, so expressions must be able to combine an `int` of the state with a `double`.
    const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
      '+': (a, b) => a + b,
      '-': (a, b) => a - b,
      '*': (a, b) => a * b,
      '/': (a, b) => a / b,
    };
    for (const [sign, operate] of Object.entries(operations)) {
      language.registerOperator(`int ${sign} double`, (a: bigint, b: number) => operate(Number(a), b));
      language.registerOperator(`double ${sign} int`, (a: number, b: bigint) => operate(a, Number(b)));
    }
    const read = (expression: string): ReturnType<typeof language.parse> | { problem: string } => {
      try {
        return language.parse(expression);
      } catch (error) {
        return { problem: textOf(error) };
      }
    };
    const problemOf = (expression: string): string | null => {
      const found = read(expression);
      return 'problem' in found ? found.problem : null;
    };
    const answerTo = (question: Question): unknown => {
      if ('compile' in question) return { problems: question.compile.map(problemOf) };
      const found = read(question.expression);
      if ('problem' in found) return { invalid: found.problem };
      try {
        const json = JSON.stringify(asJson(found(asValue(JSON.parse(question.state)) as Record<string, unknown>)));
        return json.length > resultCharactersMax ? { tooLarge: true } : { json };
      } catch (error) {
        return { failed: textOf(error) };
      }
    };
    parent.postMessage('ready');
    parent.on('message', (question: Question) => parent.postMessage(answerTo(question)));
  };

  void import(engine).then((module) => serve(module as typeof Cel));
}
