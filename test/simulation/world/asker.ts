import type { AcceptedQuestion } from '../../../src/dialogue/answering/intake/ask-question-intake.js';
import type { QuestionRequest } from '../../../src/dialogue/answering/intake/question.dto.js';
import { StopAnswer } from '../../../src/dialogue/answering/runner/stop-answer.commands.js';
import { DeleteConversation } from '../../../src/dialogue/conversation/conversation.commands.js';
import type { PendingToolCall } from '../../../src/dialogue/journal/message.events.js';
import type { SignedInUser } from '../../../src/resources/identity/caller.js';
import type { FrameBatch } from '../../../src/dialogue/journal/frame-batch.js';
import type { Seeded } from '../../support/seeded.js';
import { Connection, type Reply } from './connection.js';
import { Reading } from './history.js';
import { planOf, questionOf } from './plan.js';
import type { Roles } from './roles.js';
import type { World } from './world.js';

const TRIES_MAX = 40;
const THINKS_MS = [5, 700] as const;

/** A question, as far as the asker knows. */
type Asked = { conversationId: string | undefined; reading: Reading };

/**
 * A user who asks questions in a conversation: with or without a key, again when the response is lost, twice at once, and who
 * reads on elsewhere, stops, approves and edits.
 */
export class Asker {
  private conversationId: string | undefined;
  private questions = 0;
  private requests = 0;
  private readonly random: Seeded;

  constructor(
    private readonly world: World,
    readonly name: string,
  ) {
    this.random = world.simulation.random(name);
  }

  /** The conversation of the last answered question. Undefined if there is none. */
  get conversation(): string | undefined {
    return this.conversationId;
  }

  async run(questions: number): Promise<void> {
    for (let count = 0; count < questions; count++) {
      if (!this.world.parts.has(`question ${count} of ${this.name}`)) continue;
      await this.ask();
      await this.thinks();
    }
  }

  private async ask(): Promise<void> {
    const { history, coverage } = this.world;
    const { random } = this;
    const plan = planOf(`${this.name}q${++this.questions}`, random);
    const isEdit = this.conversationId !== undefined && random.oneIn(5);
    const request: QuestionRequest = {
      question: questionOf(plan),
      ...(this.conversationId !== undefined && { conversation_id: this.conversationId }),
      ...(isEdit && { index: random.between(0, 1) }),
    };
    const key = random.oneIn(3) ? undefined : `key of ${plan.name}`;
    if (key) history.keysAsked.set(key, { question: plan.name, namesPlace: isEdit });
    if (isEdit) coverage.note('a question was edited');
    const times = key !== undefined && random.oneIn(3) ? 2 : 1;
    if (times > 1) coverage.note('a question was asked twice at once');
    const asked = Array.from({ length: times }, () => this.askUntilAnswered(request, key, plan.name));
    const [first] = await Promise.all(asked);
    if (first?.conversationId) this.conversationId = first.conversationId;
    if (first) await this.mayDecide(first);
  }

  /** Asks with a key until the outcome is known, or without one only once. */
  private async askUntilAnswered(request: QuestionRequest, key: string | undefined, name: string): Promise<Asked | undefined> {
    const { history, coverage } = this.world;
    const { random } = this;
    const asked: Asked = { conversationId: request.conversation_id ?? undefined, reading: new Reading(history) };
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const reply = await this.stream(request, key, asked);
      if (asked.reading.messageId !== undefined) {
        history.accepted.set(name, asked.reading.messageId);
        if (key) noteIn(history.messagesOfKey, key, asked.reading.messageId);
      }
      if (reply.how === 'answered') return asked;
      if (reply.how === 'refused') {
        if (reply.code !== 'conversation-not-found' && reply.code !== 'index-out-of-range')
          history.violations.push(`${name} was refused: ${reply.code}.`);
        return undefined;
      }
      if (asked.reading.messageId !== undefined && (key === undefined || random.oneIn(2))) {
        coverage.note('a stream was read on from its cursor');
        await this.readOn(asked);
        return asked;
      }
      if (key === undefined) return undefined;
      coverage.note('a key was repeated');
      // A repeated question is answered from the first frame on.
      asked.reading = new Reading(history);
      await this.thinks();
    }
    history.violations.push(`${name} never got an answer.`);
    return undefined;
  }

  private async stream(request: QuestionRequest, key: string | undefined, asked: Asked): Promise<Reply<void>> {
    const { simulation, coverage } = this.world;
    const { random } = this;
    const fromMs = simulation.nowMs;
    const connection = this.connect<AcceptedQuestion>(`asks ${request.question ?? 'to go on'}`, asked, (roles) =>
      roles.intake.accept(request, this.caller(), { route: 'stream', idempotencyKey: key }),
    );
    if (random.oneIn(4)) {
      simulation.after(random.next() * 600, simulation.world, 'cuts', () => {
        coverage.note('a client cut its stream');
        connection.cut();
      });
    }
    if (random.oneIn(6)) void this.stops(asked);
    const reply = await connection.reply;
    if (reply.how === 'unavailable') this.world.noteUnavailable(request.question ?? 'resume', fromMs, reply.error);
    return reply;
  }

  /** Opens the stream of an answer, from its first frame. */
  private connect<T extends AcceptedQuestion>(label: string, asked: Asked, accept: (roles: Roles) => Promise<T>) {
    const { simulation, network } = this.world;
    return new Connection<void, FrameBatch>(
      simulation,
      network,
      this.world.anyProcess(this.random),
      label,
      async (roles, { send, signal }) => {
        const accepted = await accept(roles);
        if (accepted.after >= 0 && asked.reading.frames.length === 0) asked.reading.next = accepted.after + 1;
        for await (const batch of roles.tail.tail(accepted, accepted.after, signal)) send(batch);
      },
      (batch) => this.hear(asked, batch),
    );
  }

  private hear(asked: Asked, batch: FrameBatch): void {
    asked.reading.take(batch);
    for (const each of batch.data) {
      const frame = JSON.parse(each) as { type: string; id?: string; conversation_id?: string | null };
      if (frame.type === 'id') asked.conversationId = frame.id!;
      if (frame.type === 'message_id' && frame.conversation_id) asked.conversationId = frame.conversation_id;
    }
  }

  /** Reads from the last received frame to the end, at any process. */
  private async readOn(asked: Asked): Promise<void> {
    const { simulation, network } = this.world;
    const messageId = asked.reading.messageId!;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const conversationId = await this.world.conversationOf(messageId);
      const connection = new Connection<void, FrameBatch>(
        simulation,
        network,
        this.world.anyProcess(this.random),
        `reads ${messageId} after ${asked.reading.next - 1}`,
        async (roles, { send, signal }) => {
          const turn = { conversationId, turnId: messageId };
          for await (const batch of roles.tail.tail(turn, asked.reading.next - 1, signal)) send(batch);
        },
        (batch) => this.hear(asked, batch),
      );
      if ((await connection.reply).how === 'answered') return;
      await this.thinks();
    }
  }

  /** Decides on a paused turn: approves or denies, perhaps by two requests at once, or lets it expire or be superseded. */
  private async mayDecide(asked: Asked): Promise<void> {
    const { coverage } = this.world;
    const { random } = this;
    for (let rounds = 0; rounds < 4; rounds++) {
      const pending = pendingIn(asked.reading);
      if (!pending || !asked.conversationId) return;
      coverage.note('a turn waited for a decision');
      if (random.oneIn(4)) return;
      await this.thinks();
      const decision = random.oneIn(3) ? 'denied' : 'approved';
      const actions = pending.map(({ call_id }) => ({ call_id, decision }));
      const request: QuestionRequest = { conversation_id: asked.conversationId, tool_actions: actions };
      const times = random.oneIn(2) ? 2 : 1;
      if (times > 1) coverage.note('a call was decided on twice at once');
      const messageId = asked.reading.messageId!;
      const replies = await Promise.all(Array.from({ length: times }, () => this.resumeOnce(request, messageId, asked)));
      const goneOn = replies.find((each) => each !== undefined);
      if (!goneOn) return;
      asked = { conversationId: asked.conversationId, reading: goneOn };
    }
  }

  private async resumeOnce(request: QuestionRequest, messageId: string, before: Asked): Promise<Reading | undefined> {
    const { history, simulation } = this.world;
    const reading = new Reading(history, before.reading.next);
    reading.messageId = messageId;
    const asked: Asked = { conversationId: before.conversationId, reading };
    const fromMs = simulation.nowMs;
    let isAccepted = false;
    const connection = this.connect('decides', asked, async (roles) => {
      const accepted = await roles.intake.accept(request, this.caller(), {
        route: 'stream',
        idempotencyKey: undefined,
      });
      isAccepted = true;
      return accepted;
    });
    const reply = await connection.reply;
    if (reply.how === 'unavailable') this.world.noteUnavailable('a decision', fromMs, reply.error);
    if (isAccepted) history.resumed.set(messageId, (history.resumed.get(messageId) ?? 0) + 1);
    if (
      reply.how === 'refused' &&
      !['tool-call-not-pending', 'resume-in-progress', 'conversation-not-found'].includes(reply.code)
    )
      history.violations.push(`A decision was refused: ${reply.code}.`);
    return reply.how === 'answered' ? reading : undefined;
  }

  private async stops(asked: Asked): Promise<void> {
    const { simulation, network, history, coverage } = this.world;
    const { random } = this;
    await simulation.pause(random.next() * 800, simulation.world, 'wants to stop');
    const { messageId } = asked.reading;
    if (messageId === undefined) return;
    const conversationId = await this.world.conversationOf(messageId);
    const connection = new Connection<void>(
      simulation,
      network,
      this.world.anyProcess(this.random),
      `stops ${messageId}`,
      (roles) => roles.commands.execute(new StopAnswer(conversationId, messageId, this.caller().cause)),
    );
    if ((await connection.reply).how !== 'answered') return;
    coverage.note('a stop was accepted');
    history.stopsAccepted.add(messageId);
  }

  async deletes(): Promise<void> {
    const { simulation, network, history, coverage } = this.world;
    const { conversationId } = this;
    if (!conversationId) return;
    const command = new DeleteConversation(conversationId, this.name, this.caller().cause);
    const connection = new Connection(
      simulation,
      network,
      this.world.anyProcess(this.random),
      `deletes ${conversationId}`,
      (roles) => roles.commands.execute(command),
    );
    if ((await connection.reply).how !== 'answered') return;
    coverage.note('a conversation was deleted');
    history.deleted.add(conversationId);
    this.conversationId = undefined;
  }

  private thinks(): Promise<void> {
    const { simulation } = this.world;
    const { random } = this;
    return simulation.pause(random.between(...THINKS_MS), simulation.world, `${this.name} thinks`);
  }

  private caller(): SignedInUser {
    const requestId = `${this.name}-r${++this.requests}`;
    const cause = {
      actor: `user:${this.name}`,
      credential: 'session-token',
      correlationId: requestId,
      causationId: requestId,
    } as const;
    return { kind: 'user', userId: this.name, roles: ['user'], credential: 'session-token', cause };
  }
}

/** The calls that a turn waits for, if its last run ended in a pause. */
function pendingIn({ frames }: Reading): readonly PendingToolCall[] | undefined {
  for (const each of [...frames].reverse()) {
    const frame = JSON.parse(each) as { type: string; data?: { pending_tool_calls: readonly PendingToolCall[] } };
    if (frame.type === 'message_id') return undefined;
    if (frame.type === 'tool_calls_pending') {
      return frame.data!.pending_tool_calls.filter(({ pause_type }) => pause_type === 'awaiting_approval');
    }
  }
  return undefined;
}

export function noteIn(map: Map<string, Set<string>>, key: string, value: string): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}
