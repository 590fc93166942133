import { expect, test } from 'vitest';
import type { VoiceNodeSelector } from '../../../src/calls/nodes/voiceNodeSelector.ts';
import { CallStreams } from '../../../src/calls/runner/callStreams.ts';
import type { CallSessions } from '../../../src/calls/setup/callSessions.ts';
import { newSessionState, type Session } from '../../../src/engine/session/session.ts';
import { unused } from '../../support/unused.ts';
import { makeCall } from '../support/makeCall.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const nodeOf = (nodeId: string) => ({ nodeId, url: `http://${nodeId}`, sessions: 0 });

/** The targets of streams, with what their tickets hold. */
function targets(session?: Session) {
  const opened: unknown[] = [];
  const streams = new CallStreams({
    sessions: unused<CallSessions>('sessions', {
      variables: async ({ settings }) => session?.state.variables ?? settings.dynamicVariables ?? {},
    }),
    voiceNodes: unused<VoiceNodeSelector>('voiceNodes', {
      select: async (callId) => nodeOf(`node-of-${callId}`),
      selectForStream: async () => nodeOf('any'),
    }),
    async openStream(stream, { nodeId }) {
      opened.push({ ...stream, nodeId });
      return 'ws://ticket';
    },
    mediaHeaders: async (projectId, { url }) => ({ authorization: `${projectId} ${url}` }),
    seal: (secret) => `sealed ${secret}`,
    supervisorUrl: async () => 'ws://supervisor',
    makeId: () => 'stream',
  });
  return { streams, opened };
}

const disclosures = [{ id: 'who', withinSeconds: 9, machines: true }];
const call = makeCall({
  metadata: { ref: 7, none: null },
  disclosures,
  settings: { ...makeCall().settings, traceparent: TRACE, noiseSuppression: true },
});
const state = { ...newSessionState({ name: 'Ann', age: 42 }) };
const session = { state } as Session;
const facts = {
  direction: 'outbound',
  fromNumber: call.fromNumber,
  toNumber: call.toNumber,
  callId: 'call',
  trunkId: 'trunk',
};
const ticket = {
  projectId: 'project',
  sessionId: 'session',
  dialect: 'callway',
  callId: 'call',
  traceparent: TRACE,
};
const ours = {
  streamId: 'stream',
  callId: 'call',
  url: 'ws://ticket',
  dialect: 'callway',
  customParameters: {},
  isInternal: true,
};

test('A call’s first stream to a voice node brings the session and the call along, and later ones do not', async () => {
  const { streams, opened } = targets();
  for (const started of [{ session, readAhead: 'sealed' }, undefined])
    expect(await streams.agent(call, started)).toEqual({ ...ours, canReconnect: true });
  const opening = {
    session,
    readAhead: 'sealed',
    call: { facts, detectsAnsweringMachine: true, noiseSuppression: true },
  };
  const nodeId = 'node-of-call';
  expect(opened).toEqual([
    { ...ticket, disclosures, opening, nodeId },
    { ...ticket, disclosures, nodeId },
  ]);
});

const PARAMETERS = {
  ref: '7',
  name: 'Ann',
  age: '42',
  metadata: '{"ref":7,"none":null}',
  dynamicVariables: '{"name":"Ann","age":42}',
  ...facts,
  sessionId: 'session',
  projectId: 'project',
  channel: 'phone',
  traceparent: TRACE,
};

test.each([
  ['its own session’s variables', undefined, session],
  ['the started session’s', { session, readAhead: undefined }, undefined],
])('A call’s own bot is told of the call, with %s', async (_what, started, stored) => {
  const { streams } = targets(stored);
  const media = { url: 'wss://bot.example', dialect: 'twilio' } as const;
  const target = await streams.agent({ ...call, settings: { ...call.settings, media } }, started);
  expect(target).toEqual({
    ...media,
    streamId: 'stream',
    callId: 'call',
    headers: { authorization: 'project wss://bot.example' },
    customParameters: PARAMETERS,
    canReconnect: false,
  });
});

test('A bot without a session is told the variables that the call was ordered with', async () => {
  const media = { url: 'wss://bot.example', dialect: 'twilio' } as const;
  const settings = { ...call.settings, media, dynamicVariables: { name: 'Bo' } };
  const { customParameters } = await targets().streams.agent({ ...call, settings });
  expect(customParameters).toMatchObject({ name: 'Bo', dynamicVariables: '{"name":"Bo"}' });
});

test('A bot of text turns is reached by a voice node, which gets its headers sealed', async () => {
  const { streams, opened } = targets(session);
  const media = { url: 'wss://bot.example', dialect: 'conversationrelay' } as const;
  const target = await streams.agent({ ...call, settings: { ...call.settings, media } });
  expect(target).toEqual({ ...ours, canReconnect: true });
  const sealedHeaders = 'sealed {"authorization":"project wss://bot.example"}';
  const bot = { ...media, streamId: 'stream', sealedHeaders, customParameters: PARAMETERS };
  expect(opened).toEqual([{ ...ticket, bot, nodeId: 'node-of-call' }]);
});

test('The stream of a party of a transfer goes to any voice node, and is not opened again', async () => {
  const { streams, opened } = targets();
  const party = { kind: 'listener', speaker: 'caller', to: '+886223456789' } as const;
  expect(await streams.party(call, party)).toEqual({ ...ours, canReconnect: false });
  expect(opened).toEqual([{ ...ticket, party, nodeId: 'any' }]);
});
