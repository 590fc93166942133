import { beforeAll, expect, test } from 'vitest';

import { makeDocx, makePdf } from '../support/documents.ts';
import { sharedGateway } from '../support/gateway.ts';
import { createKnowledge, type TestKnowledge } from '../support/knowledge.ts';

const gateway = sharedGateway();
let knowledge: TestKnowledge;
const WARRANTY = 'The warranty of the kettle lasts three years from the day of purchase.';
beforeAll(async () => {
  knowledge = await createKnowledge(gateway());
}, 60_000);

const node = (id: string, type: string, data: object) => ({
  id,
  type,
  data: { title: id, prompt: '', tools: [], ...data },
  position: { x: 0, y: 0 },
});
const edge = (source: string, target: string, condition: object) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label: 'always', condition },
});

test.each([
  ['PDF', 'guide.pdf', makePdf([[WARRANTY]])],
  ['DOCX', 'guide.docx', makeDocx(['# Warranty', WARRANTY])],
])(
  'the agent answers from a real %s, and the history contains the source',
  { timeout: 120_000 },
  async (_, name, content) => {
    const { project } = knowledge;
    const key = project.developerKey;
    const api = (method: string, path: string, body?: unknown) =>
      gateway().api(method, path, { key, ...(body === undefined ? {} : { body }) });
    const dataset = await knowledge.add(name, content);
    expect(dataset.status, dataset.error).toBe('ready');

    const pathway = {
      nodes: [
        node('start', 'start', {}),
        node('answer', 'knowledge', { prompt: 'Answer from the documents.', topK: 50, scoreThreshold: 0.2 }),
      ],
      edges: [edge('start', 'answer', { '==': [1, 1] })],
    };
    const { headers } = await api('GET', `${project.path}/pathway`);
    const put = await gateway().api('PUT', `${project.path}/pathway`, {
      key,
      body: pathway,
      headers: { 'if-match': headers.get('etag') ?? '*' },
    });
    expect([put.status, put.body]).toEqual([200, expect.anything()]);

    const sessionId = `talk about ${name}`;
    const answer = await gateway().api('POST', `${project.path}/chat/completions`, {
      key,
      body: { messages: [{ role: 'user', content: 'How long does the warranty of the kettle last?' }] },
      headers: { 'x-session-id': sessionId },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.choices[0].message.content).toContain('three years');

    const history = await api('GET', `${project.path}/session-history/${encodeURIComponent(sessionId)}`);
    const used = history.body.events.filter(({ type }: { type: string }) => type === 'knowledge_used');
    expect(used).toHaveLength(1);
    expect(used[0].data.chunks).toContainEqual({
      chunkId: expect.any(String),
      datasetId: dataset.id,
      source: name,
      score: expect.any(Number),
    });
  },
);
