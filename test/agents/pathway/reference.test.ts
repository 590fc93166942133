import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { NODE_TYPES } from '../../../src/agents/pathway/schema/nodeSchema.ts';
import { pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { TRANSFER_OUTCOMES } from '../../../src/agents/transferOptions.ts';

const page = readFileSync(new URL('../../../docs/guides/nodes-and-edges.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```json [\w.]+\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text).join();
const tables = page.replaceAll(/^```[\s\S]*?^```$/gm, '');

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}
const root = z.toJSONSchema(pathwaySchema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

/** The names of all fields, at any depth, and the values of those that take one. */
function wordsOf({ $ref, ...schema }: JsonSchema): string[] {
  if ($ref !== undefined) return wordsOf(root.$defs?.[$ref.split('/').at(-1) ?? ''] ?? {});
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema;
  const inner = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [
    ...(typeof schema.const === 'string' ? [schema.const] : []),
    ...Object.entries(properties).flatMap(([name, field]) => [name, ...wordsOf(field)]),
    ...[...(items ? [items] : []), ...inner, ...anyOf, ...oneOf].flatMap(wordsOf),
  ];
}

test('The reference of nodes and edges explains every field, type and event, and has an example of each', () => {
  const words = [...new Set([...wordsOf(root), ...NODE_TYPES])].filter(
    (word) => !/^(?:nodes|edges)$/.test(word),
  );
  expect(words.length).toBeGreaterThan(70);
  const named = (word: string) => new RegExp(`[\`".]${word}[\`":]`).test(tables);
  expect(words.filter((word) => !named(word))).toEqual([]);
  expect(words.filter((word) => !examples.includes(`"${word}"`))).toEqual(['mediaId']);
  expect(TRANSFER_OUTCOMES.filter((outcome) => !named(outcome))).toEqual([]);
});
