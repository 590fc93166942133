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

/** The first test loads the parser and the encoder, which takes long on a busy machine. */
const TIMEOUT = { timeout: 90_000 };

describe('A document', () => {
  test.each(documents)('of type %s becomes an answer', TIMEOUT, async (_, name, content, mimeType) => {
    const dataset = await knowledge.add(name, content);
    expect(dataset).toMatchObject({ status: 'ready', mimeType, encoder: 'energetic-ai-embeddings-en' });
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
