import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { estimateTokens } from '../../../src/engine/history/contextWindow.ts';
import type { KnowledgePassage, KnowledgeRetriever } from '../../../src/engine/tools/knowledge.ts';
import { KNOWLEDGE_BUDGET_TOKENS } from '../../../src/engine/tools/retrieval.ts';
import type { CurrentNode } from '../../../src/engine/turn/delivery.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { type ScriptedAnswer, scriptedModel } from '../../support/scriptedModel.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const passage = (index: number, content: string): KnowledgePassage => ({
  content,
  score: 0.9 - index / 100,
  datasetId: 'dataset',
  chunkId: `chunk-${index}`,
  source: 'guide.pdf',
});
const LONG = 'Some words about the kettle. '.repeat(70);

const byNode: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Hello', prompt: '' } },
    { id: 'answer', type: 'knowledge', data: { title: 'Answer', prompt: 'Answer.' } },
  ],
  edges: [{ id: 'on', source: 'start', target: 'answer' }],
};
const byTool: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools: ['query_knowledgebase'] } },
  ],
  edges: [],
};
const asks: ScriptedAnswer = { calls: [{ name: 'query_knowledgebase', arguments: { query: 'warranty' } }] };

/** What the model was shown, and what the history tells, of a question to documents that say this. */
async function asked(pathway: PathwayInput, search: KnowledgeRetriever['search'], waitedMs = 0) {
  const clock = createSimulatedClock();
  const model = scriptedModel((_request, index) =>
    pathway === byTool && index === 0 ? asks : { text: 'Three years.' },
  );
  const knowledge: KnowledgeRetriever = {
    async search(...query) {
      clock.advance(70);
      setImmediate(() => clock.advance(waitedMs));
      return await search(...query);
    },
  };
  const conversation = memoryEngine({ model, pathway, knowledge, clock });
  expect(await conversation.say('How long is it?')).toBe('Three years.');
  const shown = model.requests
    .at(-1)
    ?.messages.find(({ content, role }) =>
      pathway === byTool ? role === 'tool' : content?.includes('You are at this step'),
    );
  const events = conversation.events().filter(({ type }) => type === 'knowledge_used' || type === 'error');
  return { shown: shown?.content ?? '', events: events.map(({ type, data }) => ({ type, data })) };
}

describe.each<[string, PathwayInput, string]>([
  ['a knowledge node', byNode, 'How long is it?'],
  ['the tool query_knowledgebase', byTool, 'warranty'],
])('Retrieval by %s', (_, pathway, query) => {
  test('shows the model passages with their document, and records them with their duration', async () => {
    const found = [passage(0, 'It lasts three years.'), passage(1, 'Or four.')];
    const { shown, events } = await asked(pathway, async () => found);
    expect(shown).toContain('(guide.pdf) It lasts three years.');
    expect(shown).toContain('(guide.pdf) Or four.');
    const chunks = found.map(({ content: _content, ...where }) => where);
    expect(events).toEqual([{ type: 'knowledge_used', data: { query, chunks, durationMs: 70 } }]);
  });

  test('stays within the token budget, and records what it showed', async () => {
    const found = Array.from({ length: 20 }, (_one, index) => passage(index, `${index}: ${LONG}`));
    const { shown, events } = await asked(pathway, async () => found);
    const count = Math.floor(KNOWLEDGE_BUDGET_TOKENS / estimateTokens(`(guide.pdf) 10: ${LONG}`));
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(20);
    expect(shown.match(/\d+: Some words/g)).toHaveLength(count);
    expect(events[0]?.data.chunks).toHaveLength(count);
  });

  test('shows the best passage alone where it is over the budget', async () => {
    const huge = LONG.repeat(1 + Math.ceil(KNOWLEDGE_BUDGET_TOKENS / estimateTokens(LONG)));
    const { shown, events } = await asked(pathway, async () => [passage(0, huge), passage(1, 'Short.')]);
    expect(shown).not.toContain('Short.');
    expect(events[0]?.data.chunks).toHaveLength(1);
  });

  test('gives up a slow search', async () => {
    const { events } = await asked(pathway, () => new Promise(() => undefined), 4_000);
    expect(events).toEqual([
      {
        type: 'error',
        data: { code: 'knowledge_failed', message: 'The documents were not searched within 4 s' },
      },
    ]);
  });

  test('records a failed search, and the agent answers without passages', async () => {
    const { events } = await asked(pathway, async () => {
      throw new Error('The encoder is away');
    });
    expect(events).toEqual([
      { type: 'error', data: { code: 'knowledge_failed', message: 'The encoder is away' } },
    ]);
  });
});

/** Lets the customer say "where" at the first node, and returns what is searched meanwhile. */
async function prefetched(pathway: PathwayInput) {
  const fetched: unknown[] = [];
  const knowledge: KnowledgeRetriever = {
    search: async () => [],
    prefetch: async (...query) => void fetched.push(query),
  };
  const conversation = memoryEngine({ model: scriptedModel(() => ({ text: 'Yes.' })), pathway, knowledge });
  const places: CurrentNode[] = [];
  const delivery = {
    onSession: () => undefined,
    onNode: (place: CurrentNode) => void places.push(place),
    finish: async () => ({ text: 'Yes.', interrupted: false }),
    heardSoFar: () => ({ text: '', interrupted: false }),
  };
  await conversation.turn({ kind: 'begin' }, { delivery, variables: { name: 'Ann' } });
  await places[0]?.prefetchRetrieval?.('where');
  return fetched;
}

const [start, knows] = byNode.nodes;
const query = { query: 'Of {{ name }}.', topK: 3, scoreThreshold: 0.5 };
test.each<[string, PathwayInput, unknown[]]>([
  ['of the next node', byNode, [['project-1', 'where', {}]]],
  [
    'of the next node by its own query',
    { ...byNode, nodes: [start, { ...knows, data: { ...knows?.data, ...query } }] } as PathwayInput,
    [['project-1', 'Of Ann.', { topK: 3, scoreThreshold: 0.5 }]],
  ],
  ['of a tool', byTool, [['project-1', 'where', {}]]],
  ['that no node uses: none', { nodes: [start], edges: [] } as PathwayInput, []],
])(
  'The documents are searched while the customer still speaks, those %s',
  async (_what, pathway, expected) => {
    expect(await prefetched(pathway)).toEqual(expected);
  },
);
