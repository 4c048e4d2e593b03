import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backing, type Ground, onPostgres } from './backing.js';
import { Client } from './client.js';
import { type ProcessOptions, ServiceProcess } from './process.js';
import { ScriptedModelServer } from './scripted-model-server.js';
import { TEST_SETTINGS } from './service.js';

/** The clock of the process is this far from that of the store, so nothing may depend on their being equal. */
const CLOCK_OFF_MS = -600_000;

/** A service in a separate process with its own data and a scripted model. */
export type ScriptedProcess<On extends Ground = Backing> = Readonly<{
  service: ServiceProcess;
  backing: On;
  model: ScriptedModelServer;
  client: Client;
  close(): Promise<void>;
}>;

export async function startScriptedProcess<On extends Ground = Backing>(
  settings: Readonly<Record<string, string>> = {},
  { backing: given, ...options }: Readonly<{ backing?: On } & Omit<ProcessOptions, 'environment'>> = {},
): Promise<ScriptedProcess<On>> {
  const model = await ScriptedModelServer.start();
  const backing = given ?? ((await onPostgres()) as Ground as On);
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-process-'));
  const endpoint = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' };
  const environment = { ...TEST_SETTINGS, ...backing.environment, ...endpoint, DATA_DIR: dataDir, ...settings };
  const service = await ServiceProcess.start({ environment, clockOffMs: CLOCK_OFF_MS, ...options });
  return {
    service,
    backing,
    model,
    client: new Client(service.url),
    close: async () => {
      await service.close();
      await model.close();
      await backing.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
