/** Every string of a node that is rendered as a template, and where it stands. */
export function nodeTemplates(node) {
  const found = [{ path: ['data', 'prompt'], template: node.data.prompt }];
  if (node.type === 'tool') collectStrings(node.data.arguments, ['data', 'arguments'], found);
  if (node.type === 'knowledge') collectStrings(node.data.query, ['data', 'query'], found);
  if (node.type === 'transfer') collectStrings(node.data.to, ['data', 'to'], found);
  return found;
}
/** Recursive, since the schema bounds the depth of arguments. */
function collectStrings(value, path, found) {
  if (typeof value === 'string') found.push({ path, template: value });
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    collectStrings(entry, [...path, Array.isArray(value) ? Number(key) : key], found);
  }
}
