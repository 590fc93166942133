import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { makeDocx, makePdf } from '../support/documents.ts';
import { type FakeEmbeddings, startFakeEmbeddings } from '../support/fakeEmbeddings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createKnowledge, type TestKnowledge } from '../support/knowledge.ts';
import {
  calling,
  type RequestBody,
  type ScriptedUpstream,
  saying,
  startScriptedUpstream,
} from '../support/scriptedUpstream.ts';

const WARRANTY = 'The warranty of the kettle lasts three years from the day of purchase.';
const REFUND = 'Refunds go to the card within ten days.';
const DETAIL = 'Many more details of the toaster, which nobody has ever read to their end, are told here. ';
/** Maximum of document text in a prompt: 3,000 tokens of four characters. */
const MOST_CHARACTERS = 12_000;

const BY_NODE = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Hello', prompt: '' } },
    {
      id: 'answer',
      type: 'knowledge',
      data: { title: 'Answer', prompt: 'Answer.', topK: 50, scoreThreshold: 0.05 },
    },
  ],
  edges: [{ id: 'on', source: 'start', target: 'answer' }],
};
const BY_TOOL = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Help.', tools: ['query_knowledgebase'] } },
  ],
  edges: [],
};

let upstream: ScriptedUpstream;
let embeddings: FakeEmbeddings;
let gateway: TestGateway;
let knowledge: TestKnowledge;
const datasetIds = new Map<string, string>();
beforeAll(async () => {
  [upstream, embeddings] = await Promise.all([startScriptedUpstream(answer), startFakeEmbeddings()]);
  gateway = await startTestGateway({
    env: { OPENAI_BASE_URL: upstream.baseUrl, EMBEDDING_BASE_URL: embeddings.baseUrl },
  });
  knowledge = await createKnowledge(gateway);
  const files: [string, Buffer | string][] = [
    ['guide.pdf', makePdf([['Our shop'], [WARRANTY]])],
    ['terms.docx', makeDocx(['# Refunds', REFUND])],
    ['toaster.txt', Array.from({ length: 60 }, (_, index) => `${index}: ${DETAIL.repeat(5)}`).join('\n\n')],
  ];
  for (const [name, content] of files) {
    const { id, status } = await knowledge.add(name, content);
    expect([name, status]).toEqual([name, 'ready']);
    datasetIds.set(name, id);
  }
}, 180_000);
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.close(), embeddings?.close()]);
});

interface WireMessage {
  readonly role: string;
  readonly content: string | null;
}
const messagesOf = ({ messages }: RequestBody) => messages as readonly WireMessage[];

/** Queries the documents once when it can, and answers from the results. */
function answer(body: RequestBody) {
  const question = messagesOf(body).findLast(({ role }) => role === 'user')?.content ?? '';
  if (body.tools && messagesOf(body).at(-1)?.role !== 'tool') {
    return { steps: calling('query_knowledgebase', JSON.stringify({ query: question })) };
  }
  const shown = shownIn(body);
  // The best match is first.
  const [first] = [WARRANTY, REFUND, DETAIL.trim()]
    .filter((text) => shown.includes(text))
    .toSorted((one, other) => shown.indexOf(one) - shown.indexOf(other));
  return { steps: saying(first ?? 'I do not know.') };
}

/** All document text in a request: in the prompt or as a tool result. */
function shownIn(body: RequestBody): string {
  const texts = messagesOf(body).map(({ content }) => content ?? '');
  return (
    texts
      .findLast(
        (content) => content.includes('.pdf)') || content.includes('.docx)') || content.includes('.txt)'),
      )
      ?.replace(/^[\s\S]*?(?=(?:\[1\] )?\([a-z]+\.(?:pdf|docx|txt)\))/, '') ?? ''
  );
}

async function ask(pathway: object, question: string, sessionId: string) {
  const { project } = knowledge;
  const key = project.developerKey;
  const put = await gateway.api('PUT', `${project.path}/pathway`, { key, body: pathway });
  expect(put.status).toBe(200);
  const { status, body } = await gateway.api('POST', `${project.path}/chat/completions`, {
    key,
    headers: { 'x-session-id': sessionId },
    body: { messages: [{ role: 'user', content: question }] },
  });
  expect(status).toBe(200);
  const history = await gateway.api('GET', `${project.path}/session-history/${sessionId}`, { key });
  const used = history.body.events.filter(({ type }: { type: string }) => type === 'knowledge_used');
  const [{ data }] = used;
  const shown = shownIn(upstream.requests.at(-1)?.body ?? {});
  return { text: body.choices[0].message.content as string, count: used.length as number, data, shown };
}

describe.each([
  ['node', BY_NODE],
  ['tool', BY_TOOL],
])('by a knowledge %s', (how, pathway) => {
  test.each([
    ['PDF', 'guide.pdf', 'How long does the warranty of the kettle last?', WARRANTY],
    ['DOCX', 'terms.docx', 'When do refunds go to the card?', REFUND],
  ])('a model answers from a %s; prompt and history contain its name', async (kind, name, question, fact) => {
    const { text, count, data, shown } = await ask(pathway, question, `${how}-${kind}`);
    expect(text).toBe(fact);
    expect(shown).toMatch(new RegExp(`^(?:\\[1\\] )?\\(${name}\\) `));
    expect([count, data.query]).toEqual([1, question]);
    expect(data.durationMs).toBeGreaterThanOrEqual(0);
    expect(data.chunks[0]).toEqual({
      chunkId: expect.any(String),
      datasetId: datasetIds.get(name),
      source: name,
      score: expect.any(Number),
    });
  });
});

test('a model gets no more document text than the limit, and the history contains the amount', async () => {
  const { data, shown } = await ask(BY_NODE, 'Many more details of the toaster', 'long');
  const passages = shown.split('\n').filter((line) => /^\[\d+\] /.test(line));
  expect(passages.join('').length).toBeGreaterThan(MOST_CHARACTERS / 2);
  expect(passages.join('').length).toBeLessThanOrEqual(MOST_CHARACTERS * 1.1);
  expect(passages.length).toBeLessThan(50);
  expect(data.chunks).toHaveLength(passages.length);
});
