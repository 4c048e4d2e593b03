import type { JobProgress } from './job.events.js';
import { shortened } from '../../kernel/cut-text.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

export const MESSAGE_CHARACTERS_MAX = 500;
/** Maximum length of the recorded end of a job's progress messages. */
export const OUTPUT_TAIL_CHARACTERS = 2_000;

/** The progress after a further report. A report whose `progress` is not a finite number is ignored. */
export function progressAfter(before: JobProgress | null, { progress, total, message = '' }: ToolReport): JobProgress | null {
  if (!Number.isFinite(progress)) return before;
  const words = shortened(message.trim().toWellFormed(), MESSAGE_CHARACTERS_MAX);
  const report = { progress, ...(Number.isFinite(total) && { total: total! }), ...(words !== '' && { message: words }) };
  const said = [before?.outputTail, words].filter(Boolean).join('\n');
  return { report, outputTail: said === '' ? null : said.slice(-OUTPUT_TAIL_CHARACTERS).toWellFormed() };
}

/** Whether two states of the progress are equal. */
export const isSameProgress = (one: JobProgress, other: JobProgress | null): boolean =>
  one.outputTail === other?.outputTail &&
  one.report.progress === other.report.progress &&
  one.report.total === other.report.total &&
  one.report.message === other.report.message;
