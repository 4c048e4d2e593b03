import type { ClientTool } from '../../conversation/conversation.events.js';
import type { ModelTool } from '../../../resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../../resources/tools/toolbox/toolbox.port.js';

/** What model endpoints accept as the name of a function. */
export const TOOL_NAME_CHARACTERS_MAX = 64;

/** No model is offered more functions than this: endpoints refuse more, and each costs its description in every round. */
export const FUNCTIONS_MAX = 128;

/** Something a model may call: an action of a tool of the service, or the caller's own code. */
export type Offer = Readonly<{ runBy: 'server'; action: OfferedAction } | { runBy: 'client'; tool: ClientTool }>;

const bareName = (offer: Offer): string => (offer.runBy === 'server' ? offer.action.actionName : offer.tool.name);
const longName = (offer: Offer): string =>
  offer.runBy === 'server' ? `${offer.action.toolName}_${offer.action.actionName}` : `client_${offer.tool.name}`;

/** What a model is offered, each under a name of its own: the action's where that is unique, else with its tool's before it. The first FUNCTIONS_MAX are. */
export class OfferedTools {
  private readonly offers = new Map<string, Offer>();
  /** How many there are, with those that are not offered. */
  readonly total: number;

  constructor(actions: readonly OfferedAction[], clientTools: readonly ClientTool[]) {
    const all: Offer[] = [
      ...clientTools.map((tool): Offer => ({ runBy: 'client', tool })),
      ...actions.map((action): Offer => ({ runBy: 'server', action })),
    ];
    this.total = all.length;
    for (const offer of all.slice(0, FUNCTIONS_MAX)) {
      const isUnique = all.filter((other) => bareName(other) === bareName(offer)).length === 1;
      this.offers.set(this.freeName(isUnique ? bareName(offer) : longName(offer)), offer);
    }
  }

  get size(): number {
    return this.offers.size;
  }

  /** The notice that the user gets where not everything is offered. */
  get notice(): string | undefined {
    if (this.total <= FUNCTIONS_MAX) return undefined;
    return `The model is offered the first ${FUNCTIONS_MAX} of ${this.total} functions; the others were left out.`;
  }

  byName(name: string): Offer | undefined {
    return this.offers.get(name);
  }

  get forModel(): readonly ModelTool[] {
    return [...this.offers].map(([name, offer]) => {
      const { description, parameters } = offer.runBy === 'server' ? offer.action : offer.tool;
      return { name, description, parameters };
    });
  }

  private freeName(wanted: string): string {
    const clean = wanted.replace(/[^\w-]/g, '_').slice(0, TOOL_NAME_CHARACTERS_MAX) || 'tool';
    for (let count = 1, name = clean; ;) {
      if (!this.offers.has(name)) return name;
      const suffix = `_${++count}`;
      name = clean.slice(0, TOOL_NAME_CHARACTERS_MAX - suffix.length) + suffix;
    }
  }
}
