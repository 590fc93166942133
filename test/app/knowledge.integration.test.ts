import { beforeAll, describe, expect, test } from 'vitest';

import { makeDocx, makePdf, makePptx, makeXlsx } from '../support/documents.ts';
import { sharedGateway } from '../support/gateway.ts';
import { createKnowledge, type TestKnowledge } from '../support/knowledge.ts';

const gateway = sharedGateway();
let knowledge: TestKnowledge;
beforeAll(async () => {
  knowledge = await createKnowledge(gateway());
});

const WARRANTY = 'The warranty of the kettle lasts three years from the day of purchase.';
const REFUND = 'Refunds are paid to the card within ten days.';

const documents: [string, string, string | Buffer, string][] = [
  ['PDF', 'guide.pdf', makePdf([['Our shop'], [WARRANTY, REFUND]]), 'application/pdf'],
  [
    'DOCX',
    'guide.docx',
    makeDocx(['# Warranty', WARRANTY, '# Refunds', REFUND]),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  [
    'PPTX',
    'guide.pptx',
    makePptx([
      { title: 'Warranty', texts: [WARRANTY] },
      { title: 'Refunds', texts: [REFUND] },
    ]),
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ],
  [
    'XLSX',
    'guide.xlsx',
    makeXlsx('Terms', [
      ['Topic', 'Term'],
      ['Warranty', WARRANTY],
      ['Refunds', REFUND],
    ]),
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ],
  ['text', 'guide.txt', `${WARRANTY}\n\n${REFUND}`, 'text/plain'],
  ['Markdown', 'guide.md', `# Warranty\n\n${WARRANTY}\n\n# Refunds\n\n${REFUND}`, 'text/markdown'],
  ['HTML', 'guide.html', `<!doctype html><h1>Shop</h1><p>${WARRANTY}<p>${REFUND}`, 'text/html'],
  ['CSV', 'guide.csv', `Topic,Term\nWarranty,"${WARRANTY}"\nRefunds,"${REFUND}"\n`, 'text/csv'],
  ['JSON', 'guide.json', JSON.stringify({ warranty: WARRANTY, refunds: REFUND }), 'application/json'],
];

/** Six sentences of one chunk, and how people ask for what they say. */
const CLINIC: readonly (readonly [string, string])[] = [
  [
    'Our clinic opens at nine in the morning and closes at five in the afternoon.',
    'what time does the clinic open',
  ],
  ['Parking is free behind the house.', 'where can I leave my car'],
  ['Please bring your insurance card to the first visit.', 'do you need my insurance card'],
  ['Appointments can be cancelled up to one day before without a fee.', 'can I cancel my appointment'],
  ['Dr. Chen speaks English, German and Chinese.', 'which languages does the doctor speak'],
  ['In an emergency at night, call the hospital instead.', 'who can I call at night in an emergency'],
];

test('A sentence among six is found by its meaning', async () => {
  const clinic = await createKnowledge(gateway());
  const dataset = await clinic.add('clinic.txt', CLINIC.map(([sentence]) => sentence).join(' '));
  expect(dataset).toMatchObject({ status: 'ready', chunkCount: 1 });
  for (const [, question] of CLINIC) {
    const { body } = await clinic.query(question);
    expect([question, body.length, body[0]?.score > 0.3]).toEqual([question, 1, true]);
  }
});

describe('A document', () => {
  test.each(documents)('of type %s becomes an answer', async (_, name, content, mimeType) => {
    const dataset = await knowledge.add(name, content);
    expect(dataset, dataset.error).toMatchObject({
      status: 'ready',
      mimeType,
      encoder: 'energetic-ai-embeddings-en',
    });
    expect(dataset.embeddedCount).toBe(dataset.chunkCount);

    const chunks = (await knowledge.chunks(dataset.id)).body;
    expect(chunks).toHaveLength(dataset.chunkCount);
    const text = chunks.map(({ content: one }: { content: string }) => one).join('\n');
    expect(text).toContain('three years');
    expect(text.indexOf('three years')).toBeLessThan(text.indexOf('ten days'));

    const { status, body } = await knowledge.query('How long is the warranty of the kettle?', { topK: '50' });
    expect(status).toBe(200);
    const own = body.find(({ datasetId }: { datasetId: string }) => datasetId === dataset.id);
    expect(own).toMatchObject({ isEnabled: true, datasetName: name });
    expect(own.contentLength).toBe(own.content.length);
    expect(body.map(({ score }: { score: number }) => score)).toEqual(
      body.map(({ score }: { score: number }) => score).toSorted((a: number, b: number) => b - a),
    );
  });
});
