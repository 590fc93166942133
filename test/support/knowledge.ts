import { setTimeout as delay } from 'node:timers/promises';
import type { ApiAnswer, TestGateway, TestProject } from './gateway.ts';

/** The first document is slow on a busy machine. */
const SETTLED_TIMEOUT_MS = 240_000;

export interface TestKnowledge {
  readonly project: TestProject;
  /** `/v1/projects/{id}/knowledgebases/{id}` */
  readonly path: string;
  readonly id: string;
  upload(name: string, content: Uint8Array | string, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** Uploads, and waits until it is ready or failed. */
  add(name: string, content: Uint8Array | string): Promise<TestDataset>;
  waitUntilProcessed(datasetId: string): Promise<TestDataset>;
  query(q: string, more?: Record<string, string>): Promise<ApiAnswer>;
  chunks(datasetId: string): Promise<ApiAnswer>;
}

export interface TestDataset {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly mimeType: string;
  readonly chunkCount: number;
  readonly embeddedCount: number;
  readonly encoder: string;
}

/** A project with a knowledgebase. */
export async function createKnowledge(
  gateway: Pick<TestGateway, 'api' | 'createProject'>,
  settings: object = {},
): Promise<TestKnowledge> {
  const project = await gateway.createProject();
  const key = project.developerKey;
  const base = `${project.path}/knowledgebases`;
  const body = { name: 'kb', type: 'pgvector', embeddingModelName: 'text-embedding-3-small', ...settings };
  const created = await gateway.api('POST', base, { key, body });
  if (created.status !== 201) throw new Error(`no knowledgebase: ${JSON.stringify(created.body)}`);
  const { id } = (await gateway.api('GET', base, { key })).body[0];
  const path = `${base}/${id}`;

  const upload: TestKnowledge['upload'] = async (name, content, headers = {}) => {
    const { body: form, type } = multipartForm(name, content);
    return await gateway.api('POST', `${path}/datasets`, {
      key,
      body: form,
      headers: { 'content-type': type, ...headers },
    });
  };
  const waitUntilProcessed = async (datasetId: string): Promise<TestDataset> => {
    const find = async () => (await gateway.api('GET', `${path}/datasets/${datasetId}`, { key })).body;
    for (const giveUpAtMs = performance.now() + SETTLED_TIMEOUT_MS; ; ) {
      const found = await find();
      if (found.status === 'ready' || found.status === 'failed') return found;
      if (performance.now() > giveUpAtMs) throw new Error(`still not settled: ${JSON.stringify(found)}`);
      await delay(50);
    }
  };
  return {
    project,
    path,
    id,
    upload,
    waitUntilProcessed,
    async add(name, content) {
      const { status, body: answer } = await upload(name, content);
      if (status !== 201) throw new Error(`not taken: ${JSON.stringify(answer)}`);
      return await waitUntilProcessed(answer.datasetId);
    },
    query: (q, more = {}) =>
      gateway.api('GET', `${path}/query?${new URLSearchParams({ q, ...more })}`, { key }),
    chunks: (datasetId) => gateway.api('GET', `${path}/datasets/${datasetId}/chunks`, { key }),
  };
}

/** A multipart form with one file as raw bytes, so that a test can corrupt it. */
export function multipartForm(name: string, content: Uint8Array | string, part = 'dataset') {
  const boundary = 'callway-test-form';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="${part}"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(head),
    Buffer.from(content),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { body, type: `multipart/form-data; boundary=${boundary}` };
}
