import { expect } from '@jest/globals';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ground } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import type { Step } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { Seeded } from '../support/seeded.js';
import { USUAL_DEADLINES } from '../support/service.js';
import { TurnLog } from '../support/turn-log.js';
import { Viewer } from '../support/viewer.js';
import { expectTurnWhole } from '../support/whole-turn.js';

export type KillPlan = Readonly<{
  kills: number;
  streams: number;
  seed: number;
  /** After every `restEvery` kills, the service runs until all turns are sealed. */
  restEvery: number;
  aliveMsMax: number;
  standbys?: number;
}>;

/** The time from a restart within which every abandoned turn must end, even on a slow machine. */
const SEALED_MS_MAX = 150_000;

/** Words as models send them, with characters that are hard to escape or encode. */
const WORDS = ['because ', 'sky ', 'Grüße ', '青い ', '🌍🚀 ', 'line\nbreak ', '\u2028 ', '"quoted" \\ ', 'data: x\n\nid: 7\n\n'];

/** Streams in flight, a service that is killed repeatedly, and clients that still need complete answers. */
class KillStory {
  readonly viewers: Viewer[] = [];
  private readonly random: Seeded;
  private readonly over = new AbortController();
  private asking = true;
  private up: Promise<unknown> = Promise.resolve();
  private slowestSealingMs = 0;

  private constructor(
    private readonly plan: KillPlan,
    private readonly running: ScriptedProcess<Ground>,
    readonly log: TurnLog,
  ) {
    setMaxListeners(0, this.over.signal);
    this.random = new Seeded(plan.seed);
    running.model.always(() => this.script());
  }

  static async begin(plan: KillPlan, backing: Ground, settings: Readonly<Record<string, string>> = {}): Promise<KillStory> {
    // With the default deadlines, so that the measured delays are those of users.
    const environment = { ...USUAL_DEADLINES, STALE_PRODUCER_SECONDS: '10', LOG_LEVEL: 'warn', ...settings };
    const running = await startScriptedProcess(environment, { backing, standbys: plan.standbys ?? 2 });
    return new KillStory(plan, running, new TurnLog(backing.store));
  }

  /** The end of the service's log output. */
  get output(): string {
    return this.running.service.output;
  }

  get client(): Client {
    return this.running.client;
  }

  async run(): Promise<void> {
    const clients = Array.from({ length: this.plan.streams }, () => this.askOn());
    const failed = Promise.all(clients);
    failed.catch(() => (this.asking = false));
    for (let kill = 1; kill <= this.plan.kills && this.asking; kill++) {
      await pause(this.random.next() ** 2 * this.plan.aliveMsMax);
      this.up = this.running.service.kill().then(() => this.running.service.start());
      await this.up;
      if (kill % this.plan.restEvery === 0) await this.rest();
    }
    this.asking = false;
    await failed;
    await this.expectAllSealed();
  }

  get summary(): string {
    const outcomes = [...this.log.turns.values()].map(({ outcomes }) => outcomes[0]?.type);
    const count = (type: string) => outcomes.filter((each) => each === type).length;
    const connections = this.viewers.reduce((sum, viewer) => sum + viewer.connections, 0);
    const slowest = (this.slowestSealingMs / 1000).toFixed(1);
    return (
      `${outcomes.length} answers over ${connections} connections: ${count('TurnAnswered')} whole, ` +
      `${count('TurnFailed')} interrupted or failed, ${count('TurnStopped')} stopped; ` +
      `all that was left sealed at most ${slowest} s after a restart`
    );
  }

  /** Compares the log, a second reader, the conversation, and what each client received. */
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
    await this.running.close();
  }

  private async rest(): Promise<void> {
    const since = performance.now();
    await this.expectAllSealed();
    this.slowestSealingMs = Math.max(this.slowestSealingMs, performance.now() - since);
  }

  /** Expects everything that was asked so far to be sealed in time. */
  private async expectAllSealed(): Promise<void> {
    const left = (await this.log.refresh()).unsealed;
    await eventually(
      async () => {
        await this.log.refresh();
        return left.every((turnId) => this.log.turns.get(turnId)!.seals.length > 0);
      },
      SEALED_MS_MAX,
      `all turns of before the restart are sealed; seed ${this.plan.seed}`,
    ).catch(async (error: unknown) => {
      const open = left.filter((turnId) => this.log.turns.get(turnId)!.seals.length === 0);
      const facts = await Promise.all(open.map((turnId) => this.log.factsOf(turnId)));
      throw new Error(`${open.length} turns are open:\n${facts.join('\n')}\n${this.running.service.output}`, { cause: error });
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
        // Most viewers wait for the restart, like people do, instead of retrying all the time.
        ...(style > 2 && { untilWorthwhile: () => this.up }),
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

/** The whole story, from the first question to the last check. */
export async function killStory(plan: KillPlan, backing: Ground, settings?: Readonly<Record<string, string>>): Promise<void> {
  const story = await KillStory.begin(plan, backing, settings);
  try {
    await story.run();
    await story.expectAnswersWhole();
    expect(story.viewers.length).toBeGreaterThanOrEqual(plan.streams);
    process.stdout.write(`${story.summary}\n`);
  } catch (error) {
    // The error alone does not explain much without the service's log.
    throw new Error(`Seed ${plan.seed}: ${String(error)}\n${story.output}`, { cause: error });
  } finally {
    await story.close();
  }
}
