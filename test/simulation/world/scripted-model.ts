import {
  LanguageModels,
  type ModelChunk,
  ModelFailed,
  type ModelRequest,
} from '../../../src/resources/models/model/language-model.port.js';
import type { Seeded } from '../../support/seeded.js';
import { MODEL } from '../../support/tool-turns.js';
import type { Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import { planIn } from './plan.js';

const BETWEEN_CHUNKS_MS = 120;

/** A model that follows the plan in the question at a random pace. */
export class ScriptedModel extends LanguageModels {
  constructor(
    private readonly simulation: Simulation,
    private readonly actor: Actor,
    private readonly random: Seeded,
  ) {
    super();
  }

  override async *stream({ question, messages }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const plan = planIn(question);
    const lastQuestion = messages.findLastIndex(({ role }) => role === 'user');
    const round = messages.slice(lastQuestion).filter(({ role }) => role === 'assistant').length;
    const tool = plan.tools[round];
    await this.takesTime();
    if (signal.aborted) return;
    yield { type: 'text', text: `${plan.name}:${round} ` };
    if (tool) {
      yield { type: 'tool-call', id: `call-${round}`, name: tool, arguments: JSON.stringify({ of: `${plan.name}:${round}` }) };
      return;
    }
    for (let piece = 0; piece < plan.pieces; piece++) {
      await this.takesTime();
      if (signal.aborted) return;
      yield { type: 'text', text: `piece ${piece}. ` };
      if (plan.fails) throw new ModelFailed('overloaded', 'The model is overloaded.', true);
    }
    yield { type: 'usage', promptTokens: 10, completionTokens: plan.pieces };
  }

  override list = () => Promise.resolve([MODEL]);
  override defaultModelId = () => Promise.resolve(MODEL.id);
  override has = (id: string) => Promise.resolve(id === MODEL.id);

  private takesTime(): Promise<void> {
    return this.simulation.pause(this.random.next() * BETWEEN_CHUNKS_MS, this.actor, 'the model goes on');
  }
}
