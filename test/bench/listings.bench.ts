import postgres, { type Sql } from 'postgres';
import { SignJWT } from 'jose';
import { type Bench, type Figure, interleaved, median } from './report.js';
import { type MeasuredService, startService } from './measured-service.js';
import { fillReadModel } from './listed-conversations.js';
import { startProgram } from './program.js';
import { read } from './token-reader.js';

const SECRET = 'a secret for listings that is long enough';
const FEW = 5;
const MANY = 50_000;
const SEARCHED = 5_000;
const TURNS = 20;
const ROUNDS = 30;
const WARM_UP_ROUNDS = 10;
const SEARCH_MS_MAX = 50;
const TIMES_MAX = 1.5;
/**
 * Search texts: in one answer, in every answer, in one name, nowhere, too short for the index, and with a special character of
 * `like`.
 */
const SOUGHT = {
  'one answer': 'answer 17 of conversation 2503',
  'all answers': 'scatters SHORT waves',
  'one name': 'conversation number 4711',
  'no text': 'nothing like this',
  'two letters': 'sk',
  'a sign': '50% of',
};

type User = Readonly<{ id: string; headers: Readonly<Record<string, string>> }>;

/** A signed-in user, whose account exists after their first request. */
async function userCalled(name: string, { url }: MeasuredService, sql: Sql): Promise<User> {
  const key = new TextEncoder().encode(SECRET);
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).setSubject(name).sign(key);
  const headers = { Authorization: `Bearer ${token}` };
  await read(`${url}/api/get_conversations`, { headers }, {});
  const [row] = await sql<{ id: string }[]>`select user_id as id from identity.user_account where value = ${name}`;
  return { id: row!.id, headers };
}

/** The cost of lists and searches, which should depend on what is shown and not on how much there is. */
export const bench: Bench = {
  name: 'listings',
  title: `Listings of ${FEW} and of ${MANY} conversations, and the search in ${SEARCHED} of ${TURNS} turns`,
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, {
      OPENAI_BASE_URL: `${model.url}/v1`,
      AUTH_TYPE: 'session_jwt',
      JWT_SECRET_KEY: SECRET,
    });
    const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
    const [few, many, searching] = [
      await userCalled('few', service, sql),
      await userCalled('many', service, sql),
      await userCalled('searching', service, sql),
    ];
    const [index] = await sql<{ indexdef: string }[]>`
      select indexdef from pg_indexes where schemaname = 'conversations' and indexname = 'turn_text'`;
    await sql.unsafe(`set synchronous_commit = off; set maintenance_work_mem = '256MB'; drop index conversations.turn_text`);
    await fillReadModel(sql, few.id, FEW, 1);
    await fillReadModel(sql, many.id, MANY, 1);
    await fillReadModel(sql, searching.id, SEARCHED, TURNS);
    context.say('the rows are there');
    await sql.unsafe(index!.indexdef);
    await sql.unsafe('analyze conversations.conversation; analyze conversations.turn');
    await sql.end();

    const timed = async (path: string, { headers }: User): Promise<number> => {
      const since = performance.now();
      await read(`${service.url}${path}`, { headers }, {});
      return performance.now() - since;
    };
    const paths = { get_conversations: '/api/get_conversations', 'activity/now': '/api/activity/now' };
    const subjects = Object.fromEntries(
      Object.entries(paths).flatMap(([name, path]) => [
        [`${name} of few`, () => timed(path, few)],
        [`${name} of many`, () => timed(path, many)],
      ]),
    );
    const searches = Object.fromEntries(
      Object.entries(SOUGHT).map(([name, text]) => [
        name,
        () => timed(`/api/search_conversations?q=${encodeURIComponent(text)}`, searching),
      ]),
    );
    await interleaved(WARM_UP_ROUNDS, { ...subjects, ...searches });
    const listed = await interleaved(ROUNDS, subjects);
    const searched = await interleaved(ROUNDS, searches);
    await Promise.all([service.stop(), model.stop()]);
    const flat = (name: string): Figure => {
      const ofFew = median(listed[`${name} of few`]!);
      return {
        name: `${name}, of ${MANY} conversations, median`,
        value: median(listed[`${name} of many`]!),
        unit: 'ms',
        baseline: { name: `of ${FEW}`, value: ofFew },
        target: { atMost: TIMES_MAX * ofFew },
      };
    };
    return {
      figures: [
        ...Object.keys(paths).map(flat),
        ...Object.entries(searched).map(([name, values]) => ({
          name: `search, ${name}, median`,
          value: median(values),
          unit: 'ms',
          target: { atMost: SEARCH_MS_MAX },
        })),
      ],
      notes: [`Medians of ${ROUNDS}, in turns. A page shows 30 of ${MANY} conversations, or all of ${FEW}.`],
    };
  },
};
