import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { AgentReader, GatewayMessageHandler, StreamMessage } from '../../src/dialects/dialect.ts';
import type { StreamTarget } from '../../src/media/agentStream/streamClient.ts';
import {
  type CarrierDialectName,
  carrierDialectNames,
  findCarrierDialect,
} from '../../src/streams/check/carrierDialects.ts';
import { withOddValue } from './support/oddMessages.ts';

const POSITION = { playedSamples: 1, receivedSamples: 2, bufferDelayMs: 3 };
const ignore = () => undefined;
const GATEWAY: GatewayMessageHandler = {
  ...{ audio: ignore, dtmf: ignore, mark: ignore, cleared: ignore, hold: ignore, transferStatus: ignore },
  ...{ control: ignore, request: ignore, stopped: ignore, malformed: ignore },
};
const AGENT: AgentReader = {
  ...{ audio: ignore, mark: ignore, clear: ignore, command: ignore },
  ...{ failoverPrompts: ignore, malformed: ignore },
};

/** Both ends of a dialect, which have told each other all that they can tell. */
function converse(name: CarrierDialectName) {
  const dialect = findCarrierDialect(name);
  const ofCarrier: StreamMessage[] = [];
  const ofBot: StreamMessage[] = [];
  const record = (messages: StreamMessage[]) => ({
    send: (message: StreamMessage) => void messages.push(message),
    close: ignore,
  });
  const server = dialect.openServer(record(ofBot));
  const target: StreamTarget = {
    ...{ url: '', dialect: name, streamId: '0198c3a4-7d1e-7c3b-9f00-000000000001', callId: 'CA1' },
    ...{ customParameters: { name: 'Ada' }, canReconnect: false },
    isInternal: true,
  };
  const client = dialect.openClient(record(ofCarrier), { target, sampleRateHz: 8000 });
  const read = { ofCarrier: 0, ofBot: 0 };
  let isStarted = false;
  const exchange = () => {
    for (const message of ofCarrier.slice(read.ofCarrier)) {
      isStarted ||= typeof server.readStart(message) === 'object';
      server.read(message, GATEWAY);
    }
    read.ofCarrier = ofCarrier.length;
    for (const message of ofBot.slice(read.ofBot)) client.read(message, AGENT);
    read.ofBot = ofBot.length;
  };
  exchange();
  client.audio(new Int16Array(client.sampleRateHz / 50), 0);
  exchange();
  expect(isStarted).toBe(true);
  client.dtmf('5', 100);
  client.mark({ name: '{}', outcome: 'played', ...POSITION });
  client.mark({ name: '{}', outcome: 'cleared', ...POSITION });
  client.cleared?.(POSITION);
  client.hold?.(true);
  client.tell?.({ kind: 'transfer', status: 'failed', to: '+1', reason: 'busy', outcome: 'busy' });
  client.tell?.({ kind: 'pause', isPaused: true });
  server.play(new Int16Array(client.sampleRateHz));
  server.mark('m');
  server.clear();
  server.setFailoverPrompts?.({ waiting: new Int16Array(1), apology: new Int16Array(1) });
  server.command({ kind: 'transfer', to: '+1' });
  server.command({ kind: 'send_dtmf', digits: '1' });
  server.command({ kind: 'hangup', reason: 'error' });
  client.stop();
  exchange();
  return { dialect, server, client, ofCarrier, ofBot };
}

describe.each(carrierDialectNames)('Both ends of %s', (name) => {
  const { dialect, server, client, ofCarrier, ofBot } = converse(name);
  const readByServer = (message: StreamMessage) => {
    dialect.openServer({ send: ignore, close: ignore }).readStart(message);
    server.read(message, GATEWAY);
  };
  const readByClient = (message: StreamMessage) => client.read(message, AGENT);

  test('never throw on each other’s messages with any value in them', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const message of ofCarrier) withOddValue(message, value).forEach(readByServer);
        for (const message of ofBot) withOddValue(message, value).forEach(readByClient);
      }),
    );
  });

  test('never throw on any text or bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array()), (message) => {
        readByServer(message);
        readByClient(message);
      }),
    );
  });
});
