import { expressionVariables } from './expressions.ts';
import { nodeTemplates, type PathwayGraph } from './graph.ts';
import { isExpression } from './schema/edgeSchema.ts';
import type { PathwayNode } from './schema/nodeSchema.ts';
import { templatePaths, templateWords } from './templates.ts';

/** The names that a node's templates use, of variables and others. @see templateWords */
export function templateNames(node: PathwayNode): readonly string[] {
  return nodeTemplates(node).flatMap(({ template }) => templateWords(template));
}

/** The variables that a template reads, with their members; none of a malformed one, which its rendering and the review report. */
export function pathsIn(template: string): readonly string[] {
  try {
    return templatePaths(template);
  } catch {
    return [];
  }
}

/** Whether a node's texts, or the conditions of its edges, name a variable. */
export function isNamedAt(name: string, node: PathwayNode, graph: PathwayGraph): boolean {
  const edges = graph.outgoing(node.id).map(({ data }) => data.condition);
  const sentences = edges.filter((condition) => typeof condition === 'string');
  const words = wordsOf(name);
  return (
    templateNames(node).includes(name) ||
    edges.some((condition) => isExpression(condition) && expressionVariables(condition).includes(name)) ||
    [node.data.title, node.data.prompt, ...sentences].some((text) => words.test(text))
  );
}

/** Matches `orderNumber` as a prompt writes it: in one word, or as `order number`. */
function wordsOf(name: string): RegExp {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split('_')
    .filter((part) => part !== '');
  return new RegExp(`(?<![\\p{L}\\p{N}])${parts.join('[\\s_-]*') || name}(?![\\p{L}\\p{N}])`, 'iu');
}
