import { AcceptDelivery, type Accepted } from '../../../src/triggers/webhooks/delivery.commands.js';
import type { Seeded } from '../../support/seeded.js';
import { noteIn } from './asker.js';
import { Connection } from './connection.js';
import { planOf, questionOf } from './plan.js';
import { AGENT_ID } from './roles.js';
import type { World } from './world.js';

const TRIES_MAX = 40;
const AGAIN_AFTER_MS = [20, 500] as const;

/** A program that delivers to a webhook, repeats each delivery until it is accepted, and sometimes sends it twice at once. */
export class Deliverer {
  private requests = 0;
  private readonly random: Seeded;

  constructor(
    private readonly world: World,
    private readonly name: string,
  ) {
    this.random = world.simulation.random(name);
  }

  async run(deliveries: number): Promise<void> {
    const { simulation, coverage } = this.world;
    const { random } = this;
    for (let count = 0; count < deliveries; count++) {
      if (!this.world.parts.has(`delivery ${count} of ${this.name}`)) continue;
      const plan = planOf(`${this.name}d${count}`, random);
      const key = `delivery ${plan.name}`;
      const times = random.oneIn(2) ? 2 : 1;
      if (times > 1) coverage.note('a delivery came twice at once');
      await Promise.all(Array.from({ length: times }, () => this.deliver(key, questionOf({ ...plan, fails: false }))));
      await simulation.pause(random.between(...AGAIN_AFTER_MS), simulation.world, 'delivers on');
    }
  }

  private async deliver(key: string, input: string): Promise<void> {
    const { simulation, network, history, coverage } = this.world;
    const { random } = this;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const fromMs = simulation.nowMs;
      const requestId = `${this.name}-r${++this.requests}`;
      const cause = { actor: 'webhook', credential: 'webhook-token', correlationId: requestId, causationId: requestId } as const;
      const delivery = { agentId: AGENT_ID, ownerId: 'alice', key, input, value: input };
      const connection = new Connection<Accepted>(
        simulation,
        network,
        this.world.anyProcess(this.random),
        `delivers ${key}`,
        (roles) => roles.commands.execute(new AcceptDelivery(delivery, cause)),
      );
      const reply = await connection.reply;
      if (reply.how === 'answered') noteIn(history.tasksOfKey, key, reply.value.taskId);
      if (reply.how === 'unavailable') this.world.noteUnavailable(key, fromMs, reply.error);
      if (reply.how === 'answered' && !random.oneIn(4)) return;
      coverage.note('a delivery was repeated');
      await simulation.pause(random.between(...AGAIN_AFTER_MS), simulation.world, 'delivers again');
    }
    history.violations.push(`The delivery under ${key} was never accepted.`);
  }
}
