import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'examples');

/** The languages of the examples, and the program that runs each. */
export const EXAMPLE_LANGUAGES = {
  curl: { program: 'bash', extension: 'sh' },
  javascript: { program: process.execPath, extension: 'mjs' },
  python: { program: 'python3', extension: 'py' },
} as const;

export type ExampleLanguage = keyof typeof EXAMPLE_LANGUAGES;

export const EXAMPLES = ['ask', 'stream', 'approve', 'webhook', 'events'] as const;

export type ExampleRun = Readonly<{
  /** The environment of the example. Beyond it the example gets only the PATH. */
  environment: Readonly<Record<string, string>>;
  arguments?: readonly string[];
  /** The text on its standard input. */
  input?: string;
}>;

/** A running example of `docs/examples`, started as its reader would start it. */
export class RunningExample {
  /** Its output so far. */
  printed = '';
  private complaints = '';
  /** Awaited from the start because the example may end before `end` is called. */
  private readonly closed: Promise<[number | null, string | null]>;

  private constructor(
    child: ChildProcess,
    private readonly name: string,
  ) {
    this.closed = once(child, 'close') as Promise<[number | null, string | null]>;
    child.stdout!.on('data', (text: Buffer) => (this.printed += text.toString()));
    child.stderr!.on('data', (text: Buffer) => (this.complaints += text.toString()));
  }

  static start(language: ExampleLanguage, name: (typeof EXAMPLES)[number], run: ExampleRun): RunningExample {
    const { program, extension } = EXAMPLE_LANGUAGES[language];
    const file = join(FOLDER, language, `${name}.${extension}`);
    const { PATH } = process.env;
    const child = spawn(program, [file, ...(run.arguments ?? [])], { env: { PATH, ...run.environment } });
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input);
    return new RunningExample(child, `${language}/${name}`);
  }

  /** Resolves with its whole output. @throws if it fails or cannot be started */
  async end(): Promise<string> {
    const [code, signal] = await this.closed;
    if (code !== 0) throw new Error(`The example ${this.name} ended with ${code ?? signal}:\n${this.printed}${this.complaints}`);
    return this.printed;
  }
}

/** Runs an example to its end. Returns its output. */
export const printedBy = (...example: Parameters<typeof RunningExample.start>): Promise<string> =>
  RunningExample.start(...example).end();
