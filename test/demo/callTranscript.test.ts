import { expect, test } from 'vitest';
import { createCallTranscript } from '../../src/demo/callTranscript.ts';
import { type HistoryMessage, latencyTable, transcriptText } from '../../src/demo/history.ts';
import { createScreen, type Screen } from '../../src/demo/screen.ts';
import { unused } from '../support/unused.ts';

const parts = {
  bufferMs: 60,
  endpointingMs: 300,
  transcriptionMs: 0,
  answerMs: 20,
  speechMs: 100.4,
  playoutMs: 20,
};
const GREETING: HistoryMessage = { role: 'assistant', content: 'Hello.\nKeep it?', latencyMs: 900.2 };
const YES: HistoryMessage = { role: 'user', content: 'yes' };
const CUT: HistoryMessage = {
  role: 'assistant',
  content: 'Wonderful. Is',
  latencyMs: 500,
  latencyParts: parts,
  interrupted: true,
};
const TOOL: HistoryMessage = { role: 'tool', content: '{}' };

function rig() {
  const lines: string[] = [];
  let nowMs = 0;
  const screen = unused<Screen>('screen', {
    line: (atMs, who, text) => void lines.push(`${atMs ?? '-'} ${who} ${text}`),
  });
  const transcript = createCallTranscript(screen, () => nowMs);
  const at = (ms: number) => {
    nowMs = ms;
  };
  return { transcript, lines, at };
}

test('An interruption is printed below the message that it interrupted', () => {
  const { transcript, lines, at } = rig();
  at(1000);
  transcript.agentStarted();
  at(3000);
  transcript.update([GREETING]);
  at(3500);
  transcript.calleeSaid('Yes.');
  at(4500);
  transcript.agentStarted();
  at(5000);
  transcript.agentStarted();
  at(6000);
  transcript.calleeSaid('A cake.');
  transcript.update([GREETING]);
  at(7000);
  transcript.update([GREETING, YES, TOOL, CUT]);
  transcript.update([GREETING, YES, TOOL, CUT]);
  expect(lines).toEqual([
    '1000 agent Hello. Keep it?  (after 900 ms)',
    '3500 callee Yes.',
    '- heard “yes”',
    '4500 agent Wonderful. Is  (after 500 ms, interrupted by the callee)',
    '6000 callee A cake.',
  ]);
});

test('The greeting is printed above its answer, also when it arrives late', () => {
  const { transcript, lines, at } = rig();
  at(1000);
  transcript.agentStarted();
  at(3500);
  transcript.calleeSaid('Yes.');
  transcript.update([]);
  expect(lines).toEqual([]);
  at(4000);
  transcript.update([GREETING]);
  expect(lines).toEqual(['1000 agent Hello. Keep it?  (after 900 ms)', '3500 callee Yes.']);
});

test('A line of the callee is printed even when an earlier one was not recognized', () => {
  const { transcript, lines, at } = rig();
  transcript.calleeSaid('Mumble.');
  at(1000);
  transcript.calleeSaid('Hello?');
  at(8999);
  transcript.update([]);
  expect(lines).toEqual(['0 callee Mumble.']);
  at(9000);
  transcript.update([]);
  expect(lines).toEqual(['0 callee Mumble.', '1000 callee Hello?']);
});

test('The latency table has a row for each timed agent turn; the transcript has all messages', () => {
  const messages = [{ ...GREETING, latencyParts: parts }, YES, TOOL, CUT];
  expect(latencyTable(messages).slice(1)).toEqual([
    ['greeting', '900', '60', '300', '0', '20', '100', '20'],
    ['“yes”', '500', '60', '300', '0', '20', '100', '20'],
  ]);
  expect(transcriptText(messages)).toBe('Agent   Hello. Keep it?\nCallee  yes\nAgent   Wonderful. Is …\n');
});

test('A screen aligns columns, and has colour on terminals only', () => {
  for (const hasColour of [false, true]) {
    let text = '';
    const write = (more: string) => {
      text += more;
    };
    const screen = createScreen({ write, hasColour });
    screen.title('T');
    screen.step('service', 'up');
    screen.line(1240, 'agent', 'Hello.');
    screen.table([
      ['a', 'total'],
      ['long', '7'],
    ]);
    screen.failure('bad');
    expect(text.includes('\u001b[')).toBe(hasColour);
    if (!hasColour) {
      expect(text).toBe(
        '\nT\n  ✓ service            up\n   1.2 s  agent   Hello.\n  a     total\n  long      7\n\n✗ bad\n',
      );
    }
  }
});
