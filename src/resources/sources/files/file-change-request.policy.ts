import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import { isNameable } from '../../../kernel/nameable.js';
import { Rejection } from '../../../kernel/rejection.js';

/** The maximum length of a file's path in a source. */
const PATH_CHARACTERS_MAX = 1_024;
const PATHS_MAX = 1_000;

/** The requested change. The contents of added files are passed separately. */
export type FileChangeRequest =
  | Readonly<{ operation: 'add'; parentDirectory: string }>
  | Readonly<{ operation: 'remove'; paths: readonly string[] }>
  | Readonly<{ operation: 'remove_directory'; directory: string }>;

const refused = (text: string) => new Rejection('invalid-request', text);

/** Reads the fields of a form or of a JSON body. @throws Rejection invalid-request */
export function fileChangeIn(field: (name: string) => unknown): FileChangeRequest {
  const operation = field('operation');
  switch (operation) {
    case 'add': {
      const parentDirectory = pathIn('parent_dir', field('parent_dir') ?? '');
      if (!isNameable(parentDirectory)) throw refused('parent_dir must not hold NUL or half of a surrogate pair');
      return { operation, parentDirectory };
    }
    case 'remove':
      return { operation, paths: pathsIn(field('file_paths')) };
    case 'remove_directory': {
      const directory = pathIn('directory_path', field('directory_path') ?? '');
      if (directory === '') throw refused('Missing required fields: directory_path');
      return { operation, directory };
    }
    default:
      throw refused('operation must be one of add, remove, remove_directory');
  }
}

function pathsIn(given: unknown): readonly string[] {
  const paths = typeof given === 'string' && given !== '' ? parsed(given) : given;
  if (paths === undefined || paths === null || paths === '') throw refused('Missing required fields: file_paths');
  if (!Array.isArray(paths) || paths.length === 0) throw refused('file_paths must be a JSON array of paths');
  if (paths.length > PATHS_MAX) throw refused(`file_paths holds more than ${PATHS_MAX} paths`);
  return paths.map((path) => pathIn('file_paths', path));
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, 'file_paths');
  } catch (error) {
    throw error instanceof SyntaxError ? refused('file_paths must be a JSON array of paths') : error;
  }
}

/** Normalizes a path in a source: without leading, trailing and double slashes. @throws Rejection invalid-request */
function pathIn(name: string, given: unknown): string {
  if (typeof given !== 'string') throw refused(`${name} must be text`);
  if (given.length > PATH_CHARACTERS_MAX) throw refused(`${name} has more than ${PATH_CHARACTERS_MAX} characters`);
  const segments = given.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..')) throw refused(`${name} must not lead out of the source`);
  return segments.join('/');
}
