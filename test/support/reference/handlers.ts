import ts from 'typescript';
import type { Route } from './controllers.js';

/** What a handler sends: its return value, or what its return type declares that it sends itself. */
export type Sent = Readonly<{ as: 'body' | 'Sent' | 'Streamed' | 'Lines'; type: ts.Type }>;

/** Return types that declare what a handler sends by other means than its return value. */
const TOLD = ['Sent', 'Streamed', 'Lines'] as const;

/** A handler and its class in the source. */
export class Handler {
  constructor(
    private readonly declaration: ts.MethodDeclaration,
    private readonly checker: ts.TypeChecker,
  ) {}

  /** The code that a request runs: the method, and the decorators of the method and its class. */
  roots(): readonly ts.Node[] {
    return [this.declaration, ...(ts.getDecorators(this.declaration.parent as ts.ClassDeclaration) ?? [])];
  }

  sent(): readonly Sent[] {
    const told = this.told(this.declaration.type);
    if (told.length > 0) return told;
    const signature = this.checker.getSignatureFromDeclaration(this.declaration)!;
    return [{ as: 'body', type: this.checker.getAwaitedType(this.checker.getReturnTypeOfSignature(signature))! }];
  }

  /** Whether the handler refuses every request. */
  isRefused(): boolean {
    return this.sent().every(({ type }) => (type.flags & ts.TypeFlags.Never) !== 0);
  }

  /** The statuses that the handler's code names. */
  statuses(): readonly number[] {
    const text = this.declaration.getText();
    return [...text.matchAll(/(?:\.(?:status|code)\(|\.redirect\([^;]*, )(?:\w+ \? (\d{3}) : )?(\d{3})\)/g)].flatMap((match) =>
      match.slice(1).filter(Boolean).map(Number),
    );
  }

  private told(node: ts.TypeNode | undefined): readonly Sent[] {
    if (!node) return [];
    if (!ts.isTypeReferenceNode(node)) return [];
    const [argument, other] = node.typeArguments ?? [];
    const name = node.typeName.getText();
    if (name === 'Promise') return this.told(argument);
    const as = TOLD.find((each) => each === name);
    return as && argument ? [{ as, type: this.checker.getTypeFromTypeNode(argument) }, ...this.told(other)] : [];
  }
}

/** The handlers of the service by class, path of the class, and method. */
export class Handlers {
  private readonly found = new Map<string, ts.MethodDeclaration[]>();

  constructor(
    files: readonly ts.SourceFile[],
    private readonly checker: ts.TypeChecker,
  ) {
    for (const file of files.filter(({ fileName }) => fileName.endsWith('.http.ts')))
      for (const statement of file.statements) if (ts.isClassDeclaration(statement)) this.note(statement);
  }

  /** The handler of a route. Controllers of different modules may share a name, which the path of the handler resolves. */
  at({ controller, at, method, path }: Route): Handler {
    const found = this.found.get(`${controller} ${at} ${method}`) ?? [];
    const declaration = found.length > 1 ? found.find((each) => each.getText().includes(`('${path}')`)) : found[0];
    if (!declaration) throw new Error(`${controller}.${method} is not found in the sources.`);
    return new Handler(declaration, this.checker);
  }

  private note(controller: ts.ClassDeclaration): void {
    const calls = (ts.getDecorators(controller) ?? [])
      .map(({ expression }) => expression)
      .filter((each) => ts.isCallExpression(each));
    const decorator = calls.find(({ expression }) => expression.getText() === 'Controller');
    if (!decorator) return;
    const [path] = decorator.arguments;
    const at = path ? (path as ts.StringLiteral).text : '/';
    for (const member of controller.members.filter((each) => ts.isMethodDeclaration(each))) {
      const key = `${controller.name!.text} ${at} ${member.name.getText()}`;
      this.found.set(key, [...(this.found.get(key) ?? []), member]);
    }
  }
}
