import type { FieldTable } from './fieldTable.ts';

export const TESTS_FIELDS: readonly FieldTable[] = [
  {
    name: 'test case',
    places: [['/v1/projects/{projectId}/test-cases'], ['/v1/projects/{projectId}/test-cases/{testCaseId}']],
    rows: {
      name: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      description: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      channel: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'persona.prompt': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      variables: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'turns[].say': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'turns[].dtmf': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'turns[].waitMs': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'assertions[].type': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'assertions[].value': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'assertions[].nodeId': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'assertions[].name': 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'assertions[].prompt': 'api/routes/agent/testSuites.integration.test.ts › store every field',
    },
  },
  {
    name: 'test suite',
    places: [
      ['/v1/projects/{projectId}/test-suites'],
      ['/v1/projects/{projectId}/test-suites/{testSuiteId}'],
    ],
    rows: {
      name: 'api/routes/agent/testSuites.integration.test.ts › are returned in data, with each case once, in the given order',
      testCaseIds:
        'api/routes/agent/testSuites.integration.test.ts › are returned in data, with each case once, in the given order',
    },
  },
];
