import type { PathwayNode } from './schema/nodeSchema.ts';

export interface TemplateInNode {
  /** Path within the node, such as `['data', 'prompt']`. */
  readonly path: readonly PropertyKey[];
  readonly template: string;
}

/** Every string of a node that is rendered as a template, and where it stands. */
export function nodeTemplates(node: PathwayNode): TemplateInNode[] {
  const found: TemplateInNode[] = [{ path: ['data', 'prompt'], template: node.data.prompt }];
  if (node.type === 'tool') collectStrings(node.data.arguments, ['data', 'arguments'], found);
  if (node.type === 'knowledge') collectStrings(node.data.query, ['data', 'query'], found);
  if (node.type === 'transfer') collectStrings(node.data.to, ['data', 'to'], found);
  return found;
}

/** Recursive, since the schema bounds the depth of arguments. */
function collectStrings(value: unknown, path: readonly PropertyKey[], found: TemplateInNode[]): void {
  if (typeof value === 'string') found.push({ path, template: value });
  if (typeof value !== 'object' || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    collectStrings(entry, [...path, Array.isArray(value) ? Number(key) : key], found);
  }
}
