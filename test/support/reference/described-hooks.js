let described = {};

export function initialize(data) {
  described = data;
}

export async function load(url, context, next) {
  const source = described[url];
  return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
}
