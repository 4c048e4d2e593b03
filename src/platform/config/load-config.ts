import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Config, ConfigInvalid, type Environment, readConfig } from './config.js';
import { secretIn } from './secrets.js';
import { settings } from './settings.js';

/** Loads the configuration: the environment first, then `.env`, and secrets that are generated on first use. */
export function loadConfig(environment: Environment = process.env, file = '.env'): Config {
  const config = readConfig({ ...variablesIn(file), ...withoutBlanks(environment) });
  try {
    return new Config({
      ...config,
      jwtSecretKey: config.jwtSecretKey || secretIn(config.dataDir, 'jwt-secret-key'),
      encryptionSecretKey: config.encryptionSecretKey || secretIn(config.dataDir, 'encryption-secret-key'),
    });
  } catch (error) {
    throw new ConfigInvalid([`DATA_DIR cannot be used: ${(error as Error).message}`]);
  }
}

/** The names in the file that no setting has, such as misspelt ones. */
export function unknownIn(file = '.env'): readonly string[] {
  const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));
  return Object.keys(variablesIn(file)).filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name) && !known.has(name));
}

/** EX_CONFIG of `sysexits.h`: the configuration is wrong. */
const EXIT_CONFIG = 78;

/** Loads the configuration, or prints its problems and ends the process with EXIT_CONFIG. */
export function configOrExit(): Config {
  try {
    const unknown = unknownIn();
    if (unknown.length > 0)
      process.stderr.write(`.env has names that are no settings: ${unknown.join(', ')}. See .env.example.\n`);
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    exitOn(error);
  }
}

/** Prints the problems of the configuration and ends the process with EXIT_CONFIG. */
export function exitOn({ message }: ConfigInvalid): never {
  process.stderr.write(`${message}\n`);
  process.exit(EXIT_CONFIG);
}

function variablesIn(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ConfigInvalid([`${file} cannot be read: ${(error as Error).message}`]);
  }
}

const withoutBlanks = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== ''));
