import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backing, onPostgres } from './backing.js';
import { Client } from './client.js';
import { ServiceProcess } from './process.js';
import { ScriptedModelServer } from './scripted-model-server.js';
import { TEST_SETTINGS } from './service.js';

/** A service in a process of its own, over data of its own, whose model does as it is told. */
export type ScriptedProcess = Readonly<{
  service: ServiceProcess;
  backing: Backing;
  model: ScriptedModelServer;
  client: Client;
  close(): Promise<void>;
}>;

export async function startScriptedProcess(
  settings: Readonly<Record<string, string>> = {},
  { backing: given, standbys = 0 }: Readonly<{ backing?: Backing; standbys?: number }> = {},
): Promise<ScriptedProcess> {
  const [backing, model] = await Promise.all([given ?? onPostgres(), ScriptedModelServer.start()]);
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-process-'));
  const endpoint = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' };
  const environment = { ...TEST_SETTINGS, ...backing.environment, ...endpoint, DATA_DIR: dataDir, ...settings };
  const service = await ServiceProcess.start({ environment, standbys });
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
