import type { CallContext } from '../../../src/resources/tools/toolbox/tool-kind.port.js';
import { ToolFailed } from '../../../src/resources/tools/toolbox/tool-kind.port.js';
import { type OfferedAction, OpenTools, Toolbox } from '../../../src/resources/tools/toolbox/toolbox.port.js';
import type { Seeded } from '../../support/seeded.js';
import { offeredAction } from '../../support/tool-turns.js';
import type { Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Network } from '../ports/network.js';

const TAKES_MS = 200;
/** 1 in this many calls takes longer, if calls may become jobs. */
const LONG_ONE_IN = 3;
const LONG_MS = [300, 3_000] as const;
/** How long a monitored value stays the same. */
const NEWS_EVERY_MS = 1_700;
/** The action with which monitors check. */
export const WATCHED = 'look';
const FAILS_ONE_IN = 12;

/** An effect of a tool outside the service, which cannot be undone. */
export type Effect = Readonly<{ turnId: string; callId: string; tool: string; args: string }>;

const ACTIONS: readonly OfferedAction[] = [
  offeredAction('look'),
  offeredAction('send', { access: 'write' }),
  offeredAction('pay', { access: 'write', requiresApproval: true }),
];

/** The world outside the service. It records what was done to it. */
export class Outside {
  readonly effects: Effect[] = [];
  /** The checks of monitors, by their calls. */
  readonly looks: string[] = [];

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
    private readonly random: Seeded,
    private readonly hasLongCalls: boolean,
  ) {}

  toolbox(actor: Actor): Toolbox {
    return new OutsideToolbox((action, args, context) => this.run(actor, action, args, context));
  }

  private run(actor: Actor, { actionName, access }: OfferedAction, args: object, context: CallContext): Promise<unknown> {
    const { turnId, callId } = context;
    return this.network.call(actor, `tool ${actionName} ${callId}`, async () => {
      if (access === 'write') this.effects.push({ turnId, callId, tool: actionName, args: JSON.stringify(args) });
      const isLook = callId.startsWith(`${turnId}:`);
      if (isLook) this.looks.push(callId);
      await this.simulation.pause(this.takesMs(), this.simulation.world, 'outside');
      if (this.random.oneIn(FAILS_ONE_IN)) throw new ToolFailed('The other side does not want to.');
      if (isLook) return `News ${Math.floor(this.simulation.nowMs / NEWS_EVERY_MS)}.`;
      return `${actionName} is done`;
    });
  }

  private takesMs(): number {
    if (this.hasLongCalls && this.random.oneIn(LONG_ONE_IN)) return this.random.between(...LONG_MS);
    return this.random.next() * TAKES_MS;
  }
}

type Run = (action: OfferedAction, args: Readonly<Record<string, unknown>>, context: CallContext) => Promise<unknown>;

class OutsideToolbox extends Toolbox {
  constructor(private readonly run: Run) {
    super();
  }

  override pin = () => Promise.resolve([{ toolId: 'tool-1', revision: 0 }]);
  override open = (): Promise<OpenTools> => Promise.resolve(new OutsideTools(this.run));
}

class OutsideTools extends OpenTools {
  override readonly actions = ACTIONS;
  override readonly notices: readonly string[] = [];

  constructor(override readonly run: Run) {
    super();
  }
}
