import { initialValue, isObject, type JsonSchema, resolved } from '../../../schemaForm/jsonSchema.ts';
import type { GraphNode, NodeType } from './graph.ts';

const NODE = { $ref: '#/components/schemas/PathwayNodeInput' };
const EDGE = { $ref: '#/components/schemas/PathwayEdgeInput' };

/** The schema of `data` of a type of nodes. */
export function nodeDataSchema(document: unknown, type: NodeType): JsonSchema {
  const branches = resolved(NODE, document).schema.anyOf ?? [];
  const branch = branches.find(({ properties }) => {
    const of = properties?.type;
    return of?.const === type || of?.enum?.includes(type);
  });
  return branch?.properties?.data ?? {};
}

export function edgeDataSchema(document: unknown): JsonSchema {
  return resolved(EDGE, document).schema.properties?.data ?? {};
}

/** The node with another type: it keeps the fields that the type knows. */
export function retyped(node: GraphNode, type: NodeType, document: unknown): GraphNode {
  const schema = nodeDataSchema(document, type);
  const known = Object.entries(node.data).filter(([name]) => name in (schema.properties ?? {}));
  const required = initialValue(schema, document);
  const data = { ...(isObject(required) ? required : {}), ...Object.fromEntries(known) };
  return { ...node, type, data };
}
