import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import type { decode } from '../../kernel/event-sourcing/codec.js';
import { ChangeBatch, type TablePlace } from './change-batch.js';
import { decodingOnce } from './changes.js';
import { enter } from './schema.js';

/** Somebody else has begun to write to the schema, or has replaced it: what is known of it no longer holds. */
export class FencedOut extends Error {
  override readonly name = 'Relieved';
  constructor(schema: string) {
    super(`Another writer has taken over ${schema}.`);
  }
}

/** How a checkpoint moves: only for the writer of this epoch, and only from where that writer believes it to be. */
export type CheckpointMove = Readonly<{ schema: string; from: bigint; to: bigint; epoch: bigint; eventAt: Date | null }>;

/** One projection's part in a transaction: how its checkpoint moves, what it changes, and what it knows once that is committed. */
export type Portion = Readonly<{
  move: CheckpointMove;
  /** @throws TooManyHeld */
  gather: (batch: ChangeBatch, tx: TransactionSql, decodes: typeof decode) => void;
  committed: () => void;
}>;

/**
 * Writes the portions of one projection or several in one transaction: one statement moves all checkpoints, and each table
 * is changed by one statement of each kind. All is sent without waiting for answers. `lockMsMax`: how long it waits for a
 * rebuild that holds a projection still. @throws FencedOut, TooManyHeld, or the first refusal; then nothing has changed
 */
export async function writeTogether(sql: Sql, portions: readonly Portion[], lockMsMax = 0): Promise<void> {
  const decodes = decodingOnce();
  await sql.begin(async (tx) => {
    const answers: Promise<unknown>[] = [];
    const send = (statement: Pick<PendingQuery<Row[]>, 'execute'>) => void answers.push(handled(statement.execute()));
    send(tx`select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', ${String(lockMsMax)}, true)`);
    answers.push(handled(moveCheckpoints(tx, portions.map(({ move }) => move)))); // prettier-ignore
    let entered: string | undefined;
    const placeOf = (schema: string): TablePlace => ({
      named: (table) => `${schema}.${table}`,
      enter: () => {
        if (entered !== schema) send(enter(tx, schema));
        entered = schema;
      },
    });
    for (const { move, gather } of portions) {
      const batch = new ChangeBatch(tx, placeOf(move.schema));
      gather(batch, tx, decodes);
      answers.push(handled(batch.sent()));
    }
    await Promise.all(answers);
  });
  for (const { committed } of portions) committed();
}

/**
 * One statement for all of them, sent at once: a rebuild that holds a projection still has to stop its writer before that changes a
 * row. @throws FencedOut
 */
export async function moveCheckpoints(tx: TransactionSql, moves: readonly CheckpointMove[]): Promise<void> {
  const values: (string | Date | null)[] = [];
  const value = (each: string | Date | null, type: string) => `$${values.push(each)}::${type}`;
  const updates = moves.map(({ schema, from, to, epoch, eventAt }, index) => {
    const set = `position = ${value(String(to), 'bigint')}, event_at = ${value(eventAt, 'timestamptz')}`;
    const where = `epoch = ${value(String(epoch), 'bigint')} and position = ${value(String(from), 'bigint')}`;
    return `m${index} as (update "${schema}".checkpoint set ${set} where ${where} returning ${index} as moved)`;
  });
  const found = moves.map((_, index) => `select moved from m${index}`).join(' union all ');
  const statement = tx.unsafe<{ moved: number }[]>(`with ${updates.join(', ')} ${found}`, values, { prepare: true });
  const rows = await statement.execute();
  const moved = new Set(rows.map((row) => row.moved));
  const fenced = moves.find((_, index) => !moved.has(index));
  if (fenced) throw new FencedOut(fenced.schema);
}

/** The first refusal is thrown by whoever awaits all answers; until then none of them goes unhandled. */
function handled<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  return answer;
}
