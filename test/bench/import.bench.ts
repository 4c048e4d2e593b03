import { startService } from './measured-service.js';
import { microsNow } from './program.js';
import { type Bench, median } from './report.js';
import { processorMsSince } from './usage.js';

const TOOLS = 100;
const IMPORT_MS_MAX = 1_000;
/** A user may have 200 tools. */
const USERS = 5;

/** A file with a hundred tools, each of a different server. */
function fileOf(user: number): string {
  const tools = Array.from({ length: TOOLS }, (_, tool) => ({
    type: 'api_tool',
    name: `Tool ${tool}`,
    description: 'Looks',
    config: {
      actions: { look: { name: 'look', url: `http://localhost:${9000 + tool}/look`, method: 'GET', description: 'Looks' } },
    },
  }));
  return JSON.stringify({ apiVersion: 'docsgpt.arc53.com/v1', kind: 'Agent', spec: { name: `Agent ${user}`, tools } });
}

async function imported(url: string, yaml: string): Promise<number> {
  const since = microsNow();
  const response = await fetch(`${url}/api/import_agent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ yaml }),
  });
  const text = await response.text();
  const milliseconds = (microsNow() - since) / 1000;
  const { warnings } = JSON.parse(text) as { warnings?: readonly string[] };
  if (response.status !== 200 || warnings?.length !== 0) throw new Error(`The import was answered ${response.status}: ${text}`);
  return milliseconds;
}

/** The time until an imported agent with a hundred tools exists. */
export const bench: Bench = {
  name: 'import',
  title: 'The import of an agent with a hundred tools',
  async run(context) {
    const durations: number[] = [];
    const processor: number[] = [];
    for (let user = 0; user < USERS; user++) {
      const service = await startService(context, {
        ALLOWED_PRIVATE_HOSTS: 'localhost',
        OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      });
      const before = await service.usage();
      durations.push(await imported(service.url, fileOf(user)));
      processor.push(processorMsSince(before, await service.usage()));
      await service.stop();
    }
    return {
      figures: [
        { name: `${TOOLS} tools, median`, value: median(durations), unit: 'ms', target: { atMost: IMPORT_MS_MAX } },
        { name: `${TOOLS} tools, slowest`, value: Math.max(...durations), unit: 'ms' },
        { name: 'processor time, with the database, median', value: median(processor), unit: 'ms' },
      ],
      notes: [`The first import of each of ${USERS} services, including the start of the thread that parses YAML.`],
    };
  },
};
