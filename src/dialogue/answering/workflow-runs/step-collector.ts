import type { Source, Usage } from '../../conversation/conversation.events.js';
import { type ToolCallRecord, withToolCalls } from '../../conversation/tool-call.policy.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import type { StepToolCall } from './run/workflow-run.events.js';

/** The additions of a step to the answer so far. A pause stores them as JSON. */
export type StepAdditions = Readonly<{
  answer: string;
  thought: string;
  sources: readonly Source[];
  toolCalls: readonly ToolCallRecord[];
  usage: Usage | null;
}>;

const NOTHING: StepAdditions = { answer: '', thought: '', sources: [], toolCalls: [], usage: null };

/** Collects the deltas of a step. */
export class StepCollector {
  /** Whether the step has yielded a delta that a reader sees. */
  isShown = false;

  constructor(private made: StepAdditions = NOTHING) {}

  get soFar(): StepAdditions {
    return this.made;
  }

  /** The calls as the record of the step contains them. */
  get toolCalls(): readonly StepToolCall[] {
    return this.made.toolCalls.map(({ tool_name, action_name, status, call_id }) => ({
      tool_name,
      action_name,
      status,
      call_id,
    }));
  }

  note(delta: AnswerDelta): void {
    const { answer, thought, sources, toolCalls, usage } = this.made;
    switch (delta.type) {
      case 'text':
        return this.show({ answer: answer + delta.text });
      case 'thought':
        return this.show({ thought: thought + delta.text });
      case 'notice':
        return this.show({});
      case 'tool-call':
        return this.show({ toolCalls: [...toolCalls.filter(({ call_id: id }) => id !== delta.record.call_id), delta.record] });
      case 'calls':
        this.made = { ...this.made, toolCalls: withToolCalls(toolCalls, delta.records) as StepAdditions['toolCalls'] };
        return;
      case 'found':
        this.made = { ...this.made, sources: [...sources, ...delta.sources] };
        return;
      case 'usage':
        this.made = { ...this.made, usage: sumOf(usage, delta) };
        return;
      default:
    }
  }

  /** Replaces the texts by masked ones. */
  rewrite(texts: Pick<StepAdditions, 'answer' | 'thought'>): void {
    this.made = { ...this.made, ...texts };
  }

  private show(change: Partial<StepAdditions>): void {
    this.made = { ...this.made, ...change };
    this.isShown = true;
  }
}

const sumOf = (known: Usage | null, { promptTokens, completionTokens }: Usage): Usage => ({
  promptTokens: (known?.promptTokens ?? 0) + promptTokens,
  completionTokens: (known?.completionTokens ?? 0) + completionTokens,
});
