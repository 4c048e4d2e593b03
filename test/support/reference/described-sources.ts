import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

/** The type of the plugin, as far as it is used. */
type Plugin = Readonly<{
  before(options: object, program: ts.Program): ts.TransformerFactory<ts.SourceFile>;
}>;

/** Which comments and rules of fields Nest's plugin makes descriptions of. */
const PLUGIN_OPTIONS = {
  classValidatorShim: true,
  introspectComments: true,
  esmCompatible: true,
  dtoFileNameSuffix: ['.http.ts', '.dto.ts'],
  controllerFileNameSuffix: ['.http.ts'],
};

/** The sources of the service, read by the compiler and not checked. */
export function readSources(): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(
    'tsconfig.build.json',
    { noCheck: true, incremental: false, tsBuildInfoFile: undefined! },
    host,
  )!;
  return ts.createProgram({ rootNames: fileNames, options });
}

/** From here on controllers and bodies of requests are loaded with what their types and comments say of them. */
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
