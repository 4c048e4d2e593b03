import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A value, and the name under which an events file, or `notified.ts` in this folder, exports its type. */
export type Shaped = Readonly<{ label: string; type: string; value: unknown }>;

/**
 * The compiler's errors for values that do not match their type exactly: a field is missing, additional, or of another type. So a
 * shape cannot change in the code while the log still has the old one.
 */
export function misshapen(root: string, values: readonly Shaped[]): readonly string[] {
  const source = join(root, 'test/event-samples/every-sample.ts');
  const declaredIn = declarations(root);
  const lines = values.map(({ type, value }) => {
    const file = declaredIn.get(type);
    const expected = file ? `import(${JSON.stringify(file)}).${type}` : 'never';
    return `(${JSON.stringify(value)}) satisfies ${expected};`;
  });
  const text = `export {};\n${lines.join('\n')}\n`;
  const program = compile(root, source, text);
  const file = program.getSourceFile(source)!;
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return found.map(({ start, messageText }) => {
    const { label } = values[file.getLineAndCharacterOfPosition(start!).line - 1]!;
    return `${label}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

function declarations(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.events.ts'),
  );
  return new Map(
    [...files.map((file) => `src/${file}`), 'test/event-samples/notified.ts'].flatMap((file) => {
      const names = readFileSync(join(root, file), 'utf8').matchAll(/^export type (\w+)/gm);
      return [...names].map(([, name]) => [name!, `../../${file.replace(/\.ts$/, '.js')}`] as const);
    }),
  );
}

function compile(root: string, path: string, text: string): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, root);
  const { tsBuildInfoFile: _, ...rest } = options;
  const quiet = { ...rest, noEmit: true, incremental: false, types: [] };
  const host = ts.createCompilerHost(quiet);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...how) => (name === path ? ts.createSourceFile(name, text, how[0]) : read(name, ...how));
  host.fileExists = (name) => name === path || ts.sys.fileExists(name);
  return ts.createProgram([path], quiet, host);
}
