import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { sleep } from '../../../src/base/async/sleep.ts';
import { createRetrievalPrefetch } from '../../../src/conversation/turns/retrievalPrefetch.ts';
import type { KnowledgeRetriever } from '../../../src/engine/tools/knowledge.ts';
import { createRetrieval } from '../../../src/knowledge/search/retrieval.ts';
import type { KnowledgebaseStore } from '../../../src/knowledge/stores.ts';
import { LOCAL_EMBEDDING_MODEL } from '../../../src/models/ports/embedder.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { type SimulatedCall, simulatedCall } from '../../voice/support/simulatedCall.ts';

const EMBEDDING_MS = 300;
const QUESTION = 'How long is the warranty of the kettle?';

/** Retrieval over one document, with an encoder that takes 300 ms on the call's clock. */
function slowSearch() {
  const embedded: { readonly text: string; readonly atMs: number }[] = [];
  let searches = 0;
  let clock = createSimulatedClock();
  const chunk = { id: 'c', content: 'Three years.', contentLength: 12, isEnabled: true };
  const retrieval = () =>
    createRetrieval({
      knowledgebases: unused<KnowledgebaseStore>('knowledgebases', {
        findSearchable: async () => ({ id: 'kb', encoder: LOCAL_EMBEDDING_MODEL.name, embeddedCount: 1 }),
      }),
      chunks: {
        async nearest() {
          searches += 1;
          return [
            { ...chunk, startOffset: 0, endOffset: 12, score: 0.9, datasetId: 'd', datasetName: 'guide.pdf' },
          ];
        },
        nearestAndMatching: async () => ({ nearest: [], matching: [] }),
      },
      findEmbedder: () => ({
        model: LOCAL_EMBEDDING_MODEL,
        batchSize: 1,
        async embed([text = ''], signal) {
          embedded.push({ text, atMs: clock.monotonicMs() });
          await sleep(clock, EMBEDDING_MS, signal);
          return [new Float32Array(LOCAL_EMBEDDING_MODEL.dimensions)];
        },
      }),
      clock,
    });
  let current = retrieval();
  const knowledge: KnowledgeRetriever = {
    async search(projectId, query, options) {
      const found = await current.search(projectId, query, options);
      return found.map(({ id, content, score, datasetId, datasetName }) => {
        return { chunkId: id, content, score, datasetId, source: datasetName };
      });
    },
    prefetch: (projectId, query, options) => current.prefetch(projectId, query, options),
  };
  return {
    knowledge,
    embedded,
    searches: () => searches,
    useClockOf(call: SimulatedCall) {
      clock = call.clock;
      current = retrieval();
    },
  };
}

const toDocuments = (data: object): PathwayInput => ({
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet.' } },
    { id: 'answer', type: 'knowledge', data: { title: 'Answer', prompt: 'Answer.', ...data } },
  ],
  edges: [{ id: 'on', source: 'start', target: 'answer' }],
});

async function call(pathway: PathwayInput) {
  const world = slowSearch();
  const answer = (index: number) => [{ text: 'Hello.' }, { text: 'Three years.' }][index] ?? {};
  const made = simulatedCall({ answer, pathway, knowledge: world.knowledge });
  world.useClockOf(made);
  await made.agentSpeaks();
  await made.agentFallsSilent();
  await made.stream.advance(100);
  return { ...world, call: made, modelRequests: () => made.model.requests.length };
}

const used = ({ memory }: SimulatedCall) =>
  memory.events().flatMap(({ type, data }) => (type === 'knowledge_used' ? [data] : []));

describe('Retrieval prefetch in a call', () => {
  test('searches during the endpointing delay, and the turn uses the result', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 900);
    await world.call.stream.until(() => world.embedded.length === 1);
    const searchedAtMs = world.call.clock.monotonicMs();
    // The turn has not started: the endpointing delay is not over.
    expect(world.modelRequests()).toBe(1);
    await world.call.agentSpeaks();
    expect(world.call.clock.monotonicMs()).toBeGreaterThan(searchedAtMs);
    await world.call.agentFallsSilent();
    await world.call.stream.advance(100);
    await world.call.stream.hangUp();
    await world.call.report;
    expect([world.embedded.length, world.searches()]).toEqual([1, 1]);
    const [lookUp] = used(world.call);
    expect(lookUp).toMatchObject({ query: QUESTION, chunks: [{ source: 'guide.pdf' }] });
    expect(lookUp?.durationMs).toBeLessThan(EMBEDDING_MS);
  });

  test('searches for an interim transcript while the caller speaks', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 600);
    world.call.caller.hearInterim('How long is the warranty of the kettle');
    expect(world.embedded).toHaveLength(0); // the knowledgebase is looked up first
    await world.call.say('', 600);
    expect(world.embedded.map(({ text }) => text)).toEqual(['How long is the warranty of the kettle']);
    await world.call.agentSpeaks();
    await world.call.stream.hangUp();
    await world.call.report;
    expect([world.embedded.length, world.searches()]).toEqual([1, 1]);
    expect(used(world.call)).toMatchObject([{ query: QUESTION, durationMs: 0 }]);
  });

  test('is repeated for the final transcript when that differs', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 600);
    world.call.caller.hearInterim('How long is the war');
    await world.call.say('', 300);
    await world.call.agentSpeaks();
    await world.call.stream.hangUp();
    await world.call.report;
    expect(world.embedded.map(({ text }) => text)).toEqual(['How long is the war', QUESTION]);
    expect(used(world.call)).toMatchObject([{ query: QUESTION }]);
  });

  test('uses the query and the options of the next node', async () => {
    const asked: unknown[] = [];
    const knowledge: KnowledgeRetriever = {
      search: async () => [],
      prefetch: async (projectId, query, options) => void asked.push([projectId, query, options]),
    };
    const pathway = toDocuments({ query: 'opening hours', topK: 3, scoreThreshold: 0.5 });
    const made = simulatedCall({ answer: () => ({ text: 'Hello.' }), pathway, knowledge });
    await made.agentSpeaks();
    await made.agentFallsSilent();
    await made.stream.advance(100);
    await made.say('When do you open?', 600);
    await made.agentSpeaks();
    await made.hangUp();
    expect(asked).toEqual([['project-1', 'opening hours', { topK: 3, scoreThreshold: 0.5 }]]);
  });

  test.each<[string, string[], number]>([
    ['with the knowledge tool', ['query_knowledgebase'], 1],
    ['without it', [], 0],
  ])('runs at a node %s', async (_, tools, count) => {
    const world = await call({
      nodes: [{ id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Talk.', tools } }],
      edges: [],
    });
    await world.call.say(QUESTION, 900);
    await world.call.agentSpeaks();
    await world.call.stream.hangUp();
    await world.call.report;
    expect(world.embedded).toHaveLength(count);
  });
});

describe('Retrieval prefetch', () => {
  function searching() {
    const clock = createSimulatedClock();
    const started: string[] = [];
    const ends: (() => void)[] = [];
    const prefetch = createRetrievalPrefetch(clock, (words) => {
      started.push(words);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    const end = async () => {
      for (const one of ends.splice(0)) one();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { clock, started, prefetch, end };
  }

  test('searches for a growing transcript once a second, one search at a time, after 8 new characters', async () => {
    const { clock, started, prefetch, end } = searching();
    prefetch.onInterimTranscript('how');
    prefetch.onInterimTranscript('how long');
    expect(started).toEqual(['how long']);
    clock.advance(5000);
    prefetch.onInterimTranscript('how long is the warranty of it'); // the first search is still pending
    expect(started).toHaveLength(1);
    await end();
    prefetch.onInterimTranscript('how long is');
    expect(started).toHaveLength(1);
    prefetch.onInterimTranscript('how long is the w');
    await end();
    clock.advance(999);
    prefetch.onInterimTranscript('how long is the warranty of it');
    expect(started).toEqual(['how long', 'how long is the w']);
    clock.advance(1);
    prefetch.onInterimTranscript('how long is the warranty of it');
    expect(started.at(-1)).toBe('how long is the warranty of it');
    await end();
    clock.advance(1000);
    prefetch.onInterimTranscript('what is it'); // another utterance
    expect(started.at(-1)).toBe('what is it');
  });

  test('searches for a transcript up to a pause at once, with at most 3 pending searches', async () => {
    const { started, prefetch, end } = searching();
    prefetch.onInterimTranscript('how long');
    for (const words of ['a', 'b', 'c', 'd', '']) prefetch.onTranscript(words);
    expect(started).toEqual(['how long', 'a', 'b']);
    await end();
    prefetch.onTranscript('e');
    prefetch.onTranscript('');
    expect(started.at(-1)).toBe('e');
  });

  test('counts no search where there is nothing to search', () => {
    let asked = 0;
    const prefetch = createRetrievalPrefetch(createSimulatedClock(), () => {
      asked += 1;
      return undefined;
    });
    for (let n = 0; n < 5; n += 1) prefetch.onTranscript('how long');
    expect(asked).toBe(5);
  });
});
