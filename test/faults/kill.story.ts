import { expect } from '@jest/globals';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { MakeBacking, Backing } from '../support/backing.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';
import { ScriptedModelServer, type Step } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TurnLog } from '../support/turn-log.js';
import { Viewer } from '../support/viewer.js';
import { expectTurnWhole } from '../support/whole-turn.js';

export type KillPlan = Readonly<{
  kills: number;
  streams: number;
  seed: number;
  /** After this many kills the service lives until all is sealed. */
  restEvery: number;
  aliveMsMax: number;
}>;

/** From the moment it takes requests again, every turn that was left must be at its end within this time. */
const SEALED_MS_MAX = 10_000;

/** Words as models send them, with what is hard on escaping and on encoding. */
const WORDS = ['because ', 'sky ', 'Grüße ', '青い ', '🌍🚀 ', 'line\nbreak ', '\u2028 ', '"quoted" \\ ', 'data: x\n\nid: 7\n\n'];

/** Streams in flight, a service that is killed again and again, and clients that want their answers all the same. */
export class KillStory {
  readonly viewers: Viewer[] = [];
  private readonly random: Seeded;
  private readonly over = new AbortController();
  private asking = true;

  private constructor(
    private readonly plan: KillPlan,
    private readonly backing: Backing,
    private readonly model: ScriptedModelServer,
    private readonly service: ServiceProcess,
    readonly log: TurnLog,
  ) {
    setMaxListeners(0, this.over.signal);
    this.random = new Seeded(plan.seed);
    model.always(() => this.script());
  }

  static async begin(plan: KillPlan, makeBacking: MakeBacking, dataDir: string): Promise<KillStory> {
    const [backing, model] = await Promise.all([makeBacking(), ScriptedModelServer.start()]);
    const environment = {
      ...backing.environment,
      DATA_DIR: dataDir,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
      SEED_DEMO: 'false',
      LOG_LEVEL: 'warn',
    };
    const service = await ServiceProcess.start({ environment, standbys: 2 });
    return new KillStory(plan, backing, model, service, new TurnLog(backing.store));
  }

  get client(): Client {
    return new Client(this.service.url);
  }

  async run(): Promise<void> {
    const clients = Array.from({ length: this.plan.streams }, () => this.askOn());
    const failed = Promise.all(clients);
    failed.catch(() => (this.asking = false));
    for (let kill = 1; kill <= this.plan.kills && this.asking; kill++) {
      await pause(this.random.next() ** 2 * this.plan.aliveMsMax);
      await this.service.kill();
      await this.service.start();
      if (kill % this.plan.restEvery === 0) await this.expectAllSealed();
    }
    this.asking = false;
    await failed;
    await this.expectAllSealed();
  }

  get summary(): string {
    const outcomes = [...this.log.turns.values()].map(({ outcomes }) => outcomes[0]?.type);
    const count = (type: string) => outcomes.filter((each) => each === type).length;
    const connections = this.viewers.reduce((sum, viewer) => sum + viewer.connections, 0);
    return `${outcomes.length} answers over ${connections} connections: ${count('TurnAnswered')} whole, ${count('TurnFailed')} interrupted or failed, ${count('TurnStopped')} stopped`;
  }

  /** Told from the log, from a second reader, from the conversation and from what each client saw. */
  async expectAnswersWhole(): Promise<void> {
    const byQuestion = new Map([...this.log.turns].map(([turnId, { question }]) => [question, turnId]));
    expect(byQuestion.size).toBe(this.log.turns.size);
    await forEach([...this.log.turns.keys()], (turnId) => expectTurnWhole(this.log, turnId, this.client));
    for (const viewer of this.viewers) {
      const turnId = byQuestion.get(viewer.body['question'] as string);
      if (viewer.accepted) expect(turnId).toBeDefined();
      if (!viewer.messageId) continue;
      expect(viewer.messageId).toBe(turnId);
      expect(await this.log.journalOf(viewer.messageId)).toBe(viewer.seen);
      if (viewer.stopAccepted) expect(this.log.turns.get(viewer.messageId)!.outcomes[0]!.type).toBe('TurnStopped');
    }
  }

  async close(): Promise<void> {
    this.over.abort();
    await this.service.close();
    await this.model.close();
    await this.backing.close();
  }

  /** Whatever was asked before now is at its end in time. */
  private async expectAllSealed(): Promise<void> {
    const left = (await this.log.refresh()).unsealed;
    await eventually(
      async () => {
        await this.log.refresh();
        return left.every((turnId) => this.log.turns.get(turnId)!.seals.length > 0);
      },
      SEALED_MS_MAX,
      `all turns of before the restart are sealed; seed ${this.plan.seed}`,
    ).catch((error: unknown) => {
      const open = left.filter((turnId) => this.log.turns.get(turnId)!.seals.length === 0);
      throw new Error(`${open.length} turns are open, as ${open[0]}:\n${this.service.output}`, { cause: error });
    });
  }

  private async askOn(): Promise<void> {
    for (let asked = 0; this.asking; asked++) {
      const number = this.viewers.length;
      const style = this.random.between(0, 7);
      const viewer = new Viewer({
        client: this.client,
        body: { question: `Question ${number}: why?`, visibility: 'listed' },
        ...(style !== 0 && { idempotencyKey: `key ${number}` }),
        asksAgain: style === 1,
        ...(style === 2 && { stopsAfterFrames: this.random.between(1, 10) }),
      });
      this.viewers.push(viewer);
      await viewer.watch(this.over.signal);
    }
  }

  private script(): readonly Step[] {
    const steps: Step[] = [];
    for (let left = this.random.between(5, 40); left > 0; left--) {
      const text = this.random.oneIn(4) ? WORDS[this.random.between(0, WORDS.length - 1)]! : `word${left} `;
      steps.push({ do: this.random.oneIn(10) ? 'think' : 'say', text }, { do: 'wait', ms: this.random.between(5, 60) });
    }
    if (this.random.oneIn(20)) steps.push({ do: 'cut' });
    return steps;
  }
}

const AT_ONCE = 16;

async function forEach<T>(all: readonly T[], run: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const work = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await run(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
