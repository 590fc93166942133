import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { sleep } from '../../../src/base/sleep.ts';
import type { KnowledgeRetriever } from '../../../src/engine/tools/knowledge.ts';
import { createRetrieval } from '../../../src/knowledge/search/retrieval.ts';
import { LOCAL_EMBEDDING_MODEL } from '../../../src/providers/ports/embedder.ts';
import { createRetrievalPrefetch } from '../../../src/voice/turns/retrievalPrefetch.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { type SimulatedCall, simulatedCall } from '../support/simulatedCall.ts';

const EMBEDDING_MS = 300;
const QUESTION = 'How long is the warranty of the kettle?';

/** The search over documents that all say the same, with an encoder that takes its time on the call's own clock. */
function slowSearch() {
  const embedded: { readonly text: string; readonly atMs: number }[] = [];
  let searches = 0;
  let clock = createSimulatedClock();
  const chunk = { id: 'c', content: 'Three years.', contentLength: 12, isEnabled: true };
  const retrieval = () =>
    createRetrieval({
      knowledgebases: {
        searchable: async () => ({ id: 'kb', encoder: LOCAL_EMBEDDING_MODEL.name, embeddedCount: 1 }),
      },
      chunks: {
        async nearest() {
          searches += 1;
          return [
            { ...chunk, startOffset: 0, endOffset: 12, score: 0.9, datasetId: 'd', datasetName: 'guide.pdf' },
          ];
        },
        nearestAndMatching: async () => ({ nearest: [], matching: [] }),
      },
      embedderOf: () => ({
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
  let over = retrieval();
  const knowledge: KnowledgeRetriever = {
    async search(projectId, query, options) {
      const found = await over.search(projectId, query, options);
      return found.map(({ id, content, score, datasetId, datasetName }) => {
        return { chunkId: id, content, score, datasetId, source: datasetName };
      });
    },
    prefetch: (projectId, query, options) => over.prefetch(projectId, query, options),
  };
  return {
    knowledge,
    embedded,
    searches: () => searches,
    /** Of the call that it is made for. */
    goBy(call: SimulatedCall) {
      clock = call.clock;
      over = retrieval();
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
  world.goBy(made);
  await made.agentSpeaks();
  await made.agentFallsSilent();
  await made.stream.advance(100);
  return { ...world, call: made, askedModelAt: () => made.model.requests.length };
}

const used = ({ memory }: SimulatedCall) =>
  memory.events().flatMap(({ type, data }) => (type === 'knowledge_used' ? [data] : []));

describe('the documents', () => {
  test('are searched while the caller may still go on, and the turn finds it done', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 900);
    await world.call.stream.until(() => world.embedded.length === 1);
    const searchedAtMs = world.call.clock.monotonicMs();
    // The turn is not taken yet: only the pause's length tells that it is over.
    expect(world.askedModelAt()).toBe(1);
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

  test('are searched for the recogniser’s partial words, in the midst of speech', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 600);
    world.call.caller.hearPartly('How long is the warranty of the kettle');
    expect(world.embedded).toHaveLength(0); // it begins after the look at the knowledgebase
    await world.call.say('', 600);
    expect(world.embedded.map(({ text }) => text)).toEqual(['How long is the warranty of the kettle']);
    await world.call.agentSpeaks();
    await world.call.stream.hangUp();
    await world.call.report;
    expect([world.embedded.length, world.searches()]).toEqual([1, 1]);
    expect(used(world.call)).toMatchObject([{ query: QUESTION, durationMs: 0 }]);
  });

  test('that were searched for other words are searched anew, and what was found first is not used', async () => {
    const world = await call(toDocuments({}));
    await world.call.say(QUESTION, 600);
    world.call.caller.hearPartly('How long is the war');
    await world.call.say('', 300);
    await world.call.agentSpeaks();
    await world.call.stream.hangUp();
    await world.call.report;
    expect(world.embedded.map(({ text }) => text)).toEqual(['How long is the war', QUESTION]);
    expect(used(world.call)).toMatchObject([{ query: QUESTION }]);
  });

  test('are asked what the node asks of them, with its own options', async () => {
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
    await made.stream.hangUp();
    await made.report;
    expect(asked).toEqual([['project-1', 'opening hours', { topK: 3, scoreThreshold: 0.5 }]]);
  });

  test.each<[string, string[], number]>([
    ['a node whose model may ask them', ['query_knowledgebase'], 1],
    ['a node that never asks them', [], 0],
  ])('at %s', async (_, tools, count) => {
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

describe('words that grow', () => {
  function searching() {
    const clock = createSimulatedClock();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const ahead = createRetrievalPrefetch(clock, (words) => {
      begun.push(words);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    const end = async () => {
      for (const one of ends.splice(0)) one();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { clock, begun, ahead, end };
  }

  test('begin one search a second, one at a time, and only once they grew by some', async () => {
    const { clock, begun, ahead, end } = searching();
    ahead.onInterimTranscript('how');
    ahead.onInterimTranscript('how long');
    expect(begun).toEqual(['how long']);
    clock.advance(5000);
    ahead.onInterimTranscript('how long is the warranty of it'); // the first one is still under way
    expect(begun).toHaveLength(1);
    await end();
    ahead.onInterimTranscript('how long is');
    expect(begun).toHaveLength(1);
    ahead.onInterimTranscript('how long is the w');
    await end();
    clock.advance(999);
    ahead.onInterimTranscript('how long is the warranty of it');
    expect(begun).toEqual(['how long', 'how long is the w']);
    clock.advance(1);
    ahead.onInterimTranscript('how long is the warranty of it');
    expect(begun.at(-1)).toBe('how long is the warranty of it');
    await end();
    clock.advance(1000);
    ahead.onInterimTranscript('what is it'); // another utterance
    expect(begun.at(-1)).toBe('what is it');
  });

  test('are searched for at once when they are all up to a pause, but not without bound', async () => {
    const { begun, ahead, end } = searching();
    ahead.onInterimTranscript('how long');
    for (const words of ['a', 'b', 'c', 'd', '']) ahead.onTranscript(words);
    expect(begun).toEqual(['how long', 'a', 'b']);
    await end();
    ahead.onTranscript('e');
    ahead.onTranscript('');
    expect(begun.at(-1)).toBe('e');
  });

  test('begin nothing where there is nothing to search', () => {
    let asked = 0;
    const ahead = createRetrievalPrefetch(createSimulatedClock(), () => {
      asked += 1;
      return undefined;
    });
    for (let n = 0; n < 5; n += 1) ahead.onTranscript('how long');
    expect(asked).toBe(5);
  });
});
