import type { CodeFailure, CodeFile, CodeResult } from '../code-runner.port.js';
import type { CodeLimits } from '../code-limits.js';
import { isFileName } from '../file-name.policy.js';
import type { Frame } from './frames.js';

const KINDS = ['error', 'output'] as const;

/**
 * Collects the output of a run. The program in the interpreter's process enforces the limits too, but users' code may have tampered
 * with it, so they are enforced here again.
 */
export class CollectedResult {
  private readonly printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  private readonly files: CodeFile[] = [];
  private framesLeft: number;
  private printedBytesLeft: number;
  private fileBytesLeft: number;

  constructor(private readonly limits: CodeLimits) {
    this.printedBytesLeft = 2 * limits.printedBytesMax;
    this.fileBytesLeft = limits.fileBytesMax;
    this.framesLeft = 2 * limits.printedBytesMax + limits.filesMax + 1;
  }

  /** The failure that ends the run, null if it ends successfully, undefined while it continues. */
  add({ head, body }: Frame): CodeFailure | null | undefined {
    if (--this.framesLeft < 0) return tooMuch;
    switch (head['kind']) {
      case 'stdout':
      case 'stderr':
        return this.print(head['kind'], body);
      case 'file':
        return this.keep(head['name'], body);
      case 'end':
        return this.failureOf(head['failure']);
      default:
        return tooMuch;
    }
  }

  as(failure: CodeFailure | null): CodeResult {
    const textOf = (pieces: readonly Buffer[]) => Buffer.concat(pieces).toString('utf8');
    const files = failure === null ? this.files : [];
    return { stdout: textOf(this.printed.stdout), stderr: textOf(this.printed.stderr), files, failure };
  }

  private print(to: 'stdout' | 'stderr', body: Buffer): CodeFailure | undefined {
    this.printedBytesLeft -= body.byteLength;
    if (this.printedBytesLeft < 0) return tooMuch;
    // A copy, because the body is a view that keeps the whole chunk it was read in alive.
    this.printed[to].push(Buffer.from(body));
    return undefined;
  }

  private keep(name: unknown, body: Buffer): CodeFailure | undefined {
    if (typeof name !== 'string' || !isFileName(name) || name.startsWith('inputs/')) {
      return { kind: 'output', text: `It left a file with a name that cannot be kept: ${JSON.stringify(name).slice(0, 300)}` };
    }
    this.fileBytesLeft -= body.byteLength;
    const isKnown = this.files.some((file) => file.name === name);
    if (isKnown || this.fileBytesLeft < 0 || this.files.length >= this.limits.filesMax) return tooMuch;
    this.files.push({ name, content: body });
    return undefined;
  }

  private failureOf(said: unknown): CodeFailure | null {
    if (said === null) return null;
    const { kind, text } = (said ?? {}) as Record<string, unknown>;
    const shown = String(text).slice(-this.limits.tracebackCharactersMax);
    if (lastLine(shown).startsWith('MemoryError')) return { kind: 'memory', text: shown };
    return { kind: KINDS.find((each) => each === kind) ?? 'error', text: shown };
  }
}

const tooMuch: CodeFailure = { kind: 'output', text: 'It produced more output than a run may.' };

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';
