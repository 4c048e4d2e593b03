import ts from 'typescript';

/** A refusal that a handler may throw: the code of its `Rejection`, or the class of a Nest exception, and its message. */
export type Refusal = Readonly<{ code: string; text: string; details?: ts.Type }>;

type Reached = Readonly<{ refusals: readonly Refusal[]; next: readonly ts.Node[] }>;

/** The methods of a class that Nest runs because a decorator names the class. */
const RUN_BY_NEST = ['canActivate', 'intercept'];
const OF_NEST = /^\w+Exception$/;

/**
 * Finds the refusals in the code that a handler may run: its calls, the handlers of the commands that it sends, and the classes
 * that implement ports. A refusal that is caught on the way is included too, but not one that is only written into a stream.
 */
export class ReachableRefusals {
  private readonly known = new Map<ts.Node, Reached>();
  private readonly derived = new Map<ts.ClassLikeDeclaration, ts.ClassDeclaration[]>();
  private readonly handlers = new Map<ts.ClassLikeDeclaration, ts.ClassDeclaration>();

  constructor(
    private readonly checker: ts.TypeChecker,
    files: readonly ts.SourceFile[],
  ) {
    for (const file of files) ts.forEachChild(file, (node) => void (ts.isClassDeclaration(node) && this.note(node)));
  }

  from(root: ts.Node): readonly Refusal[] {
    const seen = new Set<ts.Node>([root]);
    const found = new Map<string, Refusal>();
    for (const node of seen) {
      const { refusals, next } = this.reachedBy(node);
      for (const refusal of refusals) {
        const name = `${refusal.code} ${refusal.text}`;
        if (refusal.details || !found.has(name)) found.set(name, refusal);
      }
      for (const each of next) seen.add(each);
    }
    return [...found.values()].sort((one, other) => (`${one.code} ${one.text}` < `${other.code} ${other.text}` ? -1 : 1));
  }

  private note(node: ts.ClassDeclaration): void {
    for (const { types } of node.heritageClauses ?? [])
      for (const { expression } of types) {
        const base = this.classAt(expression);
        if (base) this.derived.set(base, [...(this.derived.get(base) ?? []), node]);
      }
    for (const decorator of ts.getDecorators(node) ?? []) {
      if (!ts.isCallExpression(decorator.expression) || decorator.expression.expression.getText() !== 'CommandHandler') continue;
      const command = this.classAt(decorator.expression.arguments[0]!);
      if (command) this.handlers.set(command, node);
    }
  }

  private reachedBy(root: ts.Node): Reached {
    const known = this.known.get(root);
    if (known) return known;
    const refusals: Refusal[] = [];
    const next = new Set<ts.Node>();
    const visit = (node: ts.Node): void => {
      if (ts.isTypeNode(node) || isWritten(node)) return;
      if (ts.isNewExpression(node)) {
        refusals.push(...this.refusalsIn(node));
        for (const each of this.madeBy(node)) next.add(each);
      } else if (ts.isIdentifier(node)) for (const each of this.namedBy(node)) next.add(each);
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(root, visit);
    const reached = { refusals, next: [...next] };
    this.known.set(root, reached);
    return reached;
  }

  private refusalsIn({ expression, arguments: args }: ts.NewExpression): readonly Refusal[] {
    const given = [...(args ?? [])];
    const name = expression.getText();
    if (OF_NEST.test(name)) return [{ code: name, text: textOf(given[0]) }];
    if (name !== 'Rejection') return [];
    const type = this.checker.getTypeAtLocation(given[0]!);
    const codes = (type.isUnion() ? type.types : [type]).filter((each) => each.isStringLiteral()).map(({ value }) => value);
    const details = given[2] && this.checker.getTypeAtLocation(given[2]);
    // If one of several codes is thrown, it is unknown which of them has the details.
    return codes.map((code) => ({ code, text: textOf(given[1]), ...(details && codes.length === 1 && { details }) }));
  }

  private madeBy({ expression }: ts.NewExpression): readonly ts.Node[] {
    const made = this.classAt(expression);
    if (!made) return [];
    const handler = this.handlers.get(made);
    const parts = made.members.filter((each) => ts.isConstructorDeclaration(each) || ts.isPropertyDeclaration(each));
    return [...parts, ...(handler ? methodsOf(handler, ['execute']) : [])];
  }

  private namedBy(node: ts.Identifier): readonly ts.Node[] {
    const declaration = this.declarationAt(node);
    if (!declaration || !isOurs(declaration)) return [];
    if (ts.isFunctionDeclaration(declaration) || ts.isVariableDeclaration(declaration)) return [declaration];
    if (ts.isMethodDeclaration(declaration) || ts.isAccessor(declaration) || ts.isPropertyDeclaration(declaration))
      return [declaration, ...this.overriding(declaration)];
    if (ts.isClassDeclaration(declaration)) return methodsOf(declaration, RUN_BY_NEST);
    return [];
  }

  private overriding(member: ts.ClassElement): readonly ts.Node[] {
    const below = (of: ts.ClassLikeDeclaration): readonly ts.ClassDeclaration[] =>
      (this.derived.get(of) ?? []).flatMap((each) => [each, ...below(each)]);
    const name = member.name!.getText();
    return below(member.parent as ts.ClassLikeDeclaration).flatMap((each) => methodsOf(each, [name]));
  }

  private classAt(node: ts.Node): ts.ClassDeclaration | undefined {
    const declaration = this.declarationAt(node);
    return declaration && ts.isClassDeclaration(declaration) ? declaration : undefined;
  }

  private declarationAt(node: ts.Node): ts.Declaration | undefined {
    const symbol = ts.isShorthandPropertyAssignment(node.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.checker.getSymbolAtLocation(node);
    if (!symbol) return undefined;
    const own = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    return own.valueDeclaration;
  }
}

const methodsOf = (of: ts.ClassLikeDeclaration, names: readonly string[]): readonly ts.Node[] =>
  of.members.filter((each) => each.name && names.includes(each.name.getText()));

/** Whether a refusal is not thrown but written into an open stream. */
const isWritten = (node: ts.Node): boolean => ts.isCallExpression(node) && node.expression.getText() === 'failureOf';

const isOurs = (node: ts.Node): boolean => !node.getSourceFile().isDeclarationFile;

/** The message of a refusal as written, with an ellipsis for each part that depends on the request. */
function textOf(node: ts.Expression | undefined): string {
  if (!node) return '';
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  return '';
}
