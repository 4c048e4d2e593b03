import type { Frame } from '../../journal/message.events.js';
import type { AnswerDelta } from '../loop/answer-delta.js';

type Shown = Extract<AnswerDelta, { type: 'progress' | 'notice' }>;

/** What a reader has been told of a research, by all producers: it is not told twice. */
export class SaidFrames {
  private readonly names: Set<string>;

  /** `before`: what was said in the runs before a pause; `shown`: in this run, by a producer that is gone. */
  constructor(before: readonly string[], shown: readonly Frame[]) {
    this.names = new Set([...before, ...shown.flatMap((frame) => nameOf(frame) ?? [])]);
  }

  get all(): readonly string[] {
    return [...this.names];
  }

  /** Whether the answer itself was announced: no step begins after that. */
  get isSynthesizing(): boolean {
    return this.names.has('synthesizing');
  }

  get isPlanning(): boolean {
    return this.names.has('planning');
  }

  /** The delta, unless the reader has it. */
  *unsaid(delta: Shown): Generator<Shown> {
    const name = nameOf(delta.type === 'progress' ? delta.frame : { type: 'notice', notice: delta.text });
    if (name === undefined || this.names.has(name)) return;
    this.names.add(name);
    yield delta;
  }
}

/** A frame by what it tells. The numbers that come with it may be others in another process. */
function nameOf(frame: Frame): string | undefined {
  if (frame.type === 'notice') return `notice:${frame.notice}`;
  if (frame.type === 'research_plan') return 'plan';
  if (frame.type !== 'research_progress') return undefined;
  const { status, step } = frame.data;
  return step === undefined ? status : `${status}:${step}`;
}
