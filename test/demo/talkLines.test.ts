import { expect, test } from 'vitest';
import { type HistoryMessage, latencyTable, transcriptText } from '../../src/demo/history.ts';
import { alignColumns, createScreen } from '../../src/demo/screen.ts';
import { createTalkLines } from '../../src/demo/talkLines.ts';

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
  const screen = {
    line: (atMs: number | undefined, who: string, text: string) =>
      void lines.push(`${atMs ?? '-'} ${who} ${text}`),
  };
  const talk = createTalkLines(screen, () => nowMs);
  const at = (ms: number) => {
    nowMs = ms;
  };
  return { talk, lines, at };
}

test('a talk is told in its order: who cuts in stands below what was cut', () => {
  const { talk, lines, at } = rig();
  at(1000);
  talk.hears();
  at(3000);
  talk.kept([GREETING]);
  at(3500);
  talk.said('Yes.');
  at(4500);
  talk.hears();
  at(5000);
  talk.hears();
  at(6000);
  talk.said('A cake.');
  talk.kept([GREETING]);
  at(7000);
  talk.kept([GREETING, YES, TOOL, CUT]);
  talk.kept([GREETING, YES, TOOL, CUT]);
  expect(lines).toEqual([
    '1000 agent Hello. Keep it?  (after 900 ms)',
    '3500 callee Yes.',
    '- heard “yes”',
    '4500 agent Wonderful. Is  (after 500 ms, cut short by the callee)',
    '6000 callee A cake.',
  ]);
});

test('the greeting stands above its answer, also when it is kept late', () => {
  const { talk, lines, at } = rig();
  at(1000);
  talk.hears();
  at(3500);
  talk.said('Yes.');
  talk.kept([]);
  expect(lines).toEqual([]);
  at(4000);
  talk.kept([GREETING]);
  expect(lines).toEqual(['1000 agent Hello. Keep it?  (after 900 ms)', '3500 callee Yes.']);
});

test('what was said is told even when nobody heard what came before it', () => {
  const { talk, lines, at } = rig();
  talk.said('Mumble.');
  at(1000);
  talk.said('Hello?');
  at(8999);
  talk.kept([]);
  expect(lines).toEqual(['0 callee Mumble.']);
  at(9000);
  talk.kept([]);
  expect(lines).toEqual(['0 callee Mumble.', '1000 callee Hello?']);
});

test('the table has a row for each answer that was timed; the transcript what was said', () => {
  const messages = [{ ...GREETING, latencyParts: parts }, YES, TOOL, CUT];
  expect(latencyTable(messages).slice(1)).toEqual([
    ['greeting', '900', '60', '300', '0', '20', '100', '20'],
    ['“yes”', '500', '60', '300', '0', '20', '100', '20'],
  ]);
  expect(transcriptText(messages)).toBe('Agent   Hello. Keep it?\nCallee  yes\nAgent   Wonderful. Is …\n');
});

test('columns are aligned; colour is only for who watches', () => {
  expect(
    alignColumns([
      ['a', 'total'],
      ['long', '7'],
    ]),
  ).toEqual(['a     total', 'long      7']);
  for (const hasColour of [false, true]) {
    let text = '';
    const write = (more: string) => {
      text += more;
    };
    const screen = createScreen({ write, hasColour });
    screen.title('T');
    screen.step('service', 'up');
    screen.line(1240, 'agent', 'Hello.');
    screen.table([['a', 'b']]);
    screen.failure('bad');
    expect(text.includes('\u001b[')).toBe(hasColour);
    if (!hasColour) {
      expect(text).toBe('\nT\n  ✓ service            up\n   1.2 s  agent   Hello.\n  a  b\n\n✗ bad\n');
    }
  }
});
