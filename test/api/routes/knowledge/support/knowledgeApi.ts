import { beforeAll } from 'vitest';
import { type ApiRequest, sharedGateway, type TestProject } from '../../../../support/gateway.ts';
import { createKnowledge, type TestKnowledge } from '../../../../support/knowledge.ts';

interface Prepared {
  readonly knowledge: TestKnowledge;
  readonly others: TestKnowledge;
  /** A document of `knowledge`, and one of `others`. */
  readonly datasetId: string;
  readonly othersDatasetId: string;
}

/** A gateway for the tests of a file, with a document in each of two projects. */
export function useKnowledgeApi() {
  const gateway = sharedGateway({
    env: { MAX_UPLOAD_BYTES: '200000', RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0' },
  });
  let prepared: Prepared | undefined;
  beforeAll(async () => {
    const [knowledge, others] = [await createKnowledge(gateway()), await createKnowledge(gateway())];
    const [mine, theirs] = await Promise.all([
      knowledge.add('shop.txt', 'The kettle costs 20 euros. It is blue.'),
      others.add('other.txt', 'The kettle of another shop costs 90 euros.'),
    ]);
    prepared = { knowledge, others, datasetId: mine.id, othersDatasetId: theirs.id };
  }, 120_000);
  const ready = () => {
    if (!prepared) throw new Error('the documents are there only while tests run');
    return prepared;
  };
  const send = (options: ApiRequest, method: string, path: string, body?: unknown) =>
    gateway().api(method, path, { ...options, ...(body === undefined ? {} : { body }) });
  return {
    gateway,
    get knowledge() {
      return ready().knowledge;
    },
    get others() {
      return ready().others;
    },
    get datasetId() {
      return ready().datasetId;
    },
    get othersDatasetId() {
      return ready().othersDatasetId;
    },
    /** Sends a request to the path without a project, with `x-api-key`. */
    legacy: (project: TestProject, method: string, path: string, body?: unknown) =>
      send({ key: null, headers: { 'x-api-key': project.secretKey } }, method, path, body),
    ask: (method: string, path: string, body?: unknown) =>
      send({ key: ready().knowledge.project.developerKey }, method, path, body),
  };
}
