/**
 * The rule `consistent-type-imports` of typescript-eslint for code with decorators: what is only used as a type is imported as a
 * type, except in files with decorators, because Nest reads the types of what is decorated as values. The rule that oxlint has
 * makes no such exception.
 */
const typeImports = {
  create(context) {
    const found = [];
    let isDecorated = false;
    return {
      Decorator: () => void (isDecorated = true),
      TSImportType: (node) => context.report({ node, message: '`import()` type annotations are forbidden.' }),
      ImportDeclaration: (node) => {
        if (node.importKind === 'type' || node.attributes.length > 0) return;
        const names = node.specifiers
          .filter((specifier) => specifier.importKind !== 'type' && isOnlyType(context.sourceCode, specifier))
          .map(({ local }) => local.name);
        if (names.length > 0) found.push({ node, message: `Only used as types: ${names.join(', ')}. Use \`import type\`.` });
      },
      'Program:exit': () => {
        if (!isDecorated) for (const each of found) context.report(each);
      },
    };
  },
};

function isOnlyType(sourceCode, specifier) {
  const [{ references }] = sourceCode.getDeclaredVariables(specifier);
  const isType = (use) => (use.isValueReference ? isWithinType(use.identifier) : use.isTypeReference);
  return references.length > 0 && references.every(isType);
}

/** Whether a type names the value: `typeof name`, `typeof name.more` or the key of `{ [name.more]: text }`. */
function isWithinType(node) {
  const { parent } = node;
  if (parent.type === 'TSTypeQuery') return true;
  if (parent.type === 'TSPropertySignature') return parent.key === node;
  return (
    (parent.left === node || parent.object === node) &&
    ['TSQualifiedName', 'MemberExpression'].includes(parent.type) &&
    isWithinType(parent)
  );
}

export default { meta: { name: 'verbatim' }, rules: { 'type-imports': typeImports } };
