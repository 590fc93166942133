import { z } from 'zod';
import { edgeSchema } from './edgeSchema.ts';
import { nodeSchema } from './nodeSchema.ts';

export const MAX_NODES = 500;
export const MAX_EDGES = 2_000;

/** A pathway by itself; {@link checkStructure} checks the references between its parts. */
export const pathwaySchema = z
  .strictObject({
    nodes: z.array(nodeSchema).min(1).max(MAX_NODES),
    edges: z.array(edgeSchema).max(MAX_EDGES),
  })
  .meta({
    id: 'Pathway',
    description:
      'The graph that conversations follow: nodes with title, prompt and tools, and the edges between them.',
    examples: [
      {
        nodes: [
          { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet the caller.' } },
          { id: 'end', type: 'end', data: { title: 'Goodbye', prompt: 'Thank the caller and say goodbye.' } },
        ],
        edges: [{ id: 'done', source: 'start', target: 'end', data: { condition: 'The caller is done.' } }],
      },
    ],
  });

/** A graph with defaults applied. */
export type Pathway = z.output<typeof pathwaySchema>;

/** A graph as a user sends it: fields with defaults are optional. */
export type PathwayInput = z.input<typeof pathwaySchema>;
