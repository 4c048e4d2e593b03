import type { ClientTool } from '../../conversation/conversation.events.js';
import type { ModelTool } from '../../../resources/models/model/language-model.port.js';
import type { OfferedAction } from '../../../resources/tools/toolbox/toolbox.port.js';

/** Maximum length of a function name that model endpoints accept. */
export const TOOL_NAME_CHARACTERS_MAX = 64;

/**
 * Maximum number of functions that a model is offered. Endpoints refuse more, and each one's description costs tokens in every
 * round.
 */
export const FUNCTIONS_MAX = 128;

/** A function that a model may call: an action of a server-side tool, or client-side code. */
export type Offer = Readonly<{ runBy: 'server'; action: OfferedAction } | { runBy: 'client'; tool: ClientTool }>;

const bareName = (offer: Offer): string => (offer.runBy === 'server' ? offer.action.actionName : offer.tool.name);
const longName = (offer: Offer): string =>
  offer.runBy === 'server' ? `${offer.action.toolName}_${offer.action.actionName}` : `client_${offer.tool.name}`;

/**
 * The first FUNCTIONS_MAX functions, each under a unique name: the action's name if that is unique, otherwise prefixed with its
 * tool's name.
 */
export class OfferedTools {
  private readonly offers = new Map<string, Offer>();
  /** The number of all functions, including those that are not offered. */
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

  /** The notice for the user if some functions are not offered. */
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
