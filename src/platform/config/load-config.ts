import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Config, ConfigInvalid, type Environment, readConfig } from './config.js';
import { secretIn } from './secrets.js';

/** Loads the configuration: the environment first, then `.env`, and secrets that are generated on first use. */
export function loadConfig(environment: Environment = process.env, file = '.env'): Config {
  const config = readConfig({ ...variablesIn(file), ...withoutBlanks(environment) });
  return new Config({
    ...config,
    jwtSecretKey: config.jwtSecretKey || secretIn(config.dataDir, 'jwt-secret-key'),
    encryptionSecretKey: config.encryptionSecretKey || secretIn(config.dataDir, 'encryption-secret-key'),
  });
}

/** EX_CONFIG of `sysexits.h`: the configuration is wrong. */
export const EXIT_CONFIG = 78;

/** Loads the configuration, or prints its problems and ends the process with EXIT_CONFIG. */
export function configOrExit(): Config {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
}

function variablesIn(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

const withoutBlanks = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''));
