import type { FieldTable } from './fieldTable.ts';

export const TESTS_FIELDS: readonly FieldTable[] = [
  {
    name: 'test case',
    places: [['/v1/projects/{projectId}/test-cases'], ['/v1/projects/{projectId}/test-cases/{testCaseId}']],
    rows: {
      name: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      description: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      channel: 'api/routes/agent/testSuites.integration.test.ts › store every field',
      'persona.prompt':
        'testing/play/playChat.test.ts › lets a chat model play the persona, until it hangs up',
      'persona.goal': 'testing/play/playChat.test.ts › lets a chat model play the persona, until it hangs up',
      'persona.traits':
        'testing/play/playChat.test.ts › lets a chat model play the persona, until it hangs up',
      'persona.facts':
        'testing/play/playChat.test.ts › lets a chat model play the persona, until it hangs up',
      'persona.hangUpWhen':
        'testing/play/playChat.test.ts › lets a chat model play the persona, until it hangs up',
      'persona.maxTurns': 'testing/play/playChat.test.ts › ends a persona after %j',
      'persona.maxSeconds': 'testing/play/playChat.test.ts › ends a persona after %j',
      variables: 'testing/play/playChat.test.ts › starts with the variables, and reads them by path',
      'turns[].say': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].dtmf': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].waitMs': 'testing/play/playChat.test.ts › takes as long as %s says',
      'turns[].interrupt.afterMs':
        'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].interrupt.say': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].silenceMs': 'testing/play/playChat.test.ts › is silent, and takes the edge of a silence',
      'turns[].hangup': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.type':
        'testing/play/playChat.test.ts › judges what is expected between turns by the last answer',
      'turns[].expect.value':
        'testing/play/playChat.test.ts › judges what is expected between turns by the last answer',
      'turns[].expect.values': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.nodeId': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.name': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.path':
        'testing/play/playChat.test.ts › starts with the variables, and reads them by path',
      'turns[].expect.arguments':
        'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.to': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'turns[].expect.digits':
        'testing/play/playChat.test.ts › presses digits that the agent sends, and shows them',
      'turns[].expect.prompt':
        'testing/play/playChat.test.ts › asks a judge three times, and takes the majority: %j',
      'turns[].expect.votes':
        'testing/play/playChat.test.ts › asks a judge three times, and takes the majority: %j',
      'toolMocks[].name': 'testing/play/playChat.test.ts › mocks a tool by its arguments, also as a failure',
      'toolMocks[].when': 'testing/play/playChat.test.ts › mocks a tool by its arguments, also as a failure',
      'toolMocks[].result':
        'testing/play/playChat.test.ts › mocks a tool by its arguments, also as a failure',
      'toolMocks[].error': 'testing/play/playChat.test.ts › mocks a tool by its arguments, also as a failure',
      'toolMocks[].delayMs': 'testing/play/playChat.test.ts › takes as long as %s says',
      allowRealTools: 'testing/play/playChat.test.ts › calls real tools only where that is allowed: %s',
      'phone.codec': 'e2e/phone/testRuns.realtime.test.ts › passes the case of a caller who is %s',
      'phone.lossPercent': 'e2e/phone/testRuns.realtime.test.ts › passes the case of a caller who is %s',
      'phone.jitterMs': 'e2e/phone/testRuns.realtime.test.ts › passes the case of a caller who is %s',
      'phone.noise':
        'testing/simulator/callerVoice.test.ts › has the same bytes for the same seed, whenever the words are said',
      'phone.snrDb': 'testing/simulator/callerVoice.test.ts › is %i dB below the words',
      'phone.voice': 'e2e/phone/testRuns.realtime.test.ts › passes the case of a caller who is %s',
      'assertions[].type': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].value': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].values': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].nodeId': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].name': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].path':
        'testing/play/playChat.test.ts › starts with the variables, and reads them by path',
      'assertions[].arguments': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].to': 'testing/play/playChat.test.ts › %s fails its test, and its good twin passes',
      'assertions[].digits':
        'testing/play/playChat.test.ts › presses digits that the agent sends, and shows them',
      'assertions[].prompt':
        'testing/play/playChat.test.ts › asks a judge three times, and takes the majority: %j',
      'assertions[].votes':
        'testing/play/playChat.test.ts › asks a judge three times, and takes the majority: %j',
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
  {
    name: 'test run',
    places: [
      ['/v1/projects/{projectId}/test-suites/{testSuiteId}/runs'],
      ['/v1/projects/{projectId}/test-cases/{testCaseId}/runs'],
    ],
    rows: {
      repeat:
        'api/routes/agent/testRuns.integration.test.ts › plays each case as often as asked for, and shows what was seen',
      concurrency:
        'api/routes/agent/testRuns.integration.test.ts › plays each case as often as asked for, and shows what was seen',
      version: 'api/routes/agent/testRuns.integration.test.ts › plays the version that is asked for',
      release:
        'contract/releaseFields.integration.test.ts › A release with live: false leaves callers where they are, and can be tested',
      channel:
        'api/routes/agent/testRuns.integration.test.ts › over the phone waits for a node that places calls, also of chat cases',
      mode: 'api/routes/agent/testRuns.integration.test.ts › plays the mode and model that are asked for',
      model: 'api/routes/agent/testRuns.integration.test.ts › plays the mode and model that are asked for',
      baselineRunId:
        'api/routes/agent/testRuns.integration.test.ts › compares with a baseline, of the same seed with the same seeds',
      seed: 'api/routes/agent/testRuns.integration.test.ts › compares with a baseline, of the same seed with the same seeds',
    },
  },
  {
    name: 'test case of a session',
    places: [['/v1/projects/{projectId}/test-cases/from-session']],
    rows: {
      sessionId:
        'api/routes/agent/testRuns.integration.test.ts › is made of a session, which is erased with its customer',
      name: 'api/routes/agent/testRuns.integration.test.ts › is made of a session, which is erased with its customer',
      mask: 'api/routes/agent/testRuns.integration.test.ts › is made of a session, which is erased with its customer',
      sessionIds:
        'api/routes/results/reviews.integration.test.ts › become test cases at once, all of them or none',
    },
  },
  {
    name: 'replay',
    places: [['/v1/projects/{projectId}/sessions/{sessionId}/replay']],
    rows: {
      version:
        'api/routes/agent/testRuns.integration.test.ts › is made of a session, which is erased with its customer',
    },
  },
];
