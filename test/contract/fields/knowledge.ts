import type { FieldTable } from './fieldTable.ts';

export const KNOWLEDGE_FIELDS: readonly FieldTable[] = [
  {
    name: 'knowledgebase',
    places: [['/v1/projects/{projectId}/knowledgebases'], ['/knowledgebases']],
    rows: {
      name: 'api/routes/knowledge/knowledge.integration.test.ts › is created with defaults and readable on both paths',
      type: 'api/routes/knowledge/knowledge.integration.test.ts › is created with defaults and readable on both paths',
      embeddingModelName:
        'api/routes/knowledge/knowledge.integration.test.ts › is created with defaults and readable on both paths',
      chunkSize:
        'api/routes/knowledge/knowledge.integration.test.ts › is created with defaults and readable on both paths',
      chunkOverlap:
        'api/routes/knowledge/knowledge.integration.test.ts › is created with defaults and readable on both paths',
    },
  },
  {
    name: 'dataset',
    places: [
      ['/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets'],
      ['/knowledgebases/{knowledgebaseId}/datasets'],
    ],
    rows: {
      dataset:
        'api/routes/knowledge/datasets.integration.test.ts › is accepted without a project in the path, and listed',
    },
  },
  {
    name: 'chunk',
    places: [
      ['/v1/projects/{projectId}/knowledgebases/{knowledgebaseId}/datasets/{datasetId}/chunks/{chunkId}'],
      ['/knowledgebases/{knowledgebaseId}/datasets/{datasetId}/chunks/{chunkId}'],
    ],
    rows: {
      isEnabled:
        'api/routes/knowledge/datasets.integration.test.ts › that are off are not found until they are on again',
    },
  },
];
