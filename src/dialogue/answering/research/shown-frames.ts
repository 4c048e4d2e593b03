import type { Frame } from '../../journal/message.events.js';
import type { AnswerDelta } from '../loop/answer-delta.js';

type Shown = Extract<AnswerDelta, { type: 'progress' | 'notice' }>;

/**
 * Remembers which progress frames and notices of a research the reader has got from any producer, so that none is shown twice.
 */
export class ShownFrames {
  private readonly names: Set<string>;

  /**
   * @param before the names of frames shown in the runs before a pause
   * @param shown the frames that a former producer has shown in this run
   */
  constructor(before: readonly string[], shown: readonly Frame[]) {
    this.names = new Set([...before, ...shown.flatMap((frame) => nameOf(frame) ?? [])]);
  }

  get all(): readonly string[] {
    return [...this.names];
  }

  /** Whether the writing of the answer was announced. No step begins after that. */
  get isSynthesizing(): boolean {
    return this.names.has('synthesizing');
  }

  get isPlanning(): boolean {
    return this.names.has('planning');
  }

  /** Yields the delta, unless the reader has it already. */
  *unlessShown(delta: Shown): Generator<Shown> {
    const name = nameOf(delta.type === 'progress' ? delta.frame : { type: 'notice', notice: delta.text });
    if (name === undefined || this.names.has(name)) return;
    this.names.add(name);
    yield delta;
  }
}

/** Identifies a frame by its meaning. The numbers in it are left out, because they may differ in another process. */
function nameOf(frame: Frame): string | undefined {
  if (frame.type === 'notice') return `notice:${frame.notice}`;
  if (frame.type === 'research_plan') return 'plan';
  if (frame.type !== 'research_progress') return undefined;
  const { status, step } = frame.data;
  return step === undefined ? status : `${status}:${step}`;
}
