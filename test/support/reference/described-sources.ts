import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/** The type of the plugin, as far as it is used here. */
type Plugin = Readonly<{
  before(options: object, program: ts.Program): ts.TransformerFactory<ts.SourceFile>;
}>;

/** The options of Nest's plugin: which comments and validation rules become descriptions. */
const PLUGIN_OPTIONS = {
  classValidatorShim: true,
  introspectComments: true,
  esmCompatible: true,
  dtoFileNameSuffix: ['.http.ts', '.dto.ts'],
  controllerFileNameSuffix: ['.http.ts'],
};

/** The sources of the service, parsed by the compiler without type errors being reported. */
export function readSources(): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(
    'tsconfig.build.json',
    { noCheck: true, incremental: false, tsBuildInfoFile: undefined! },
    host,
  )!;
  return ts.createProgram({ rootNames: fileNames, options });
}

/** From now on controllers and body classes are loaded with descriptions from their types and comments. */
export async function describeSources(program: ts.Program): Promise<void> {
  const { before } = (await import('@nestjs/swagger/plugin')) as unknown as Plugin;
  const described: Record<string, string> = {};
  for (const file of program.getSourceFiles()) {
    if (!/\.(http|dto)\.ts$/.test(file.fileName)) continue;
    const keep = (path: string, text: string) => {
      if (path.endsWith('.js')) described[pathToFileURL(file.fileName).href] = text;
    };
    program.emit(file, keep, undefined, false, { before: [before(PLUGIN_OPTIONS, program)] });
  }
  register('./described-hooks.js', import.meta.url, { data: described });
}
