import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

import { parseWav, pickChannel } from '../../src/media/wav.ts';
import { startChild } from '../support/child.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Long enough for a busy machine; alone the call takes twenty seconds. */
const TIMEOUT = 300_000;

/** Runs the demo as `npm run demo` does. */
async function demo(args: string[], env: Record<string, string> = {}) {
  const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, ...own } = process.env;
  const child = await startChild(process.execPath, [join(ROOT, 'scripts/run.mjs'), 'demo', ...args], {
    cwd: ROOT,
    env: { ...own, ...env },
  });
  const { code } = await child.ended;
  return { code, text: child.lines.join('\n') };
}

const loudness = (samples: Int16Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

describe.concurrent('npm run demo', () => {
  test('shows a complete call with its webhooks, recording and transcript', {
    timeout: TIMEOUT,
  }, async ({ onTestFinished }) => {
    const { code, text } = await demo([]);
    const recording = /✓ recording +(\/\S+)/.exec(text)?.[1] ?? '';
    const folder = dirname(recording);
    // Of a call that failed, the recording stays.
    onTestFinished(({ task }) => {
      if (task.result?.state === 'pass') rmSync(folder, { recursive: true, force: true });
    });
    expect({ code, text }).toMatchObject({ code: 0 });

    // Both sides' words, their transcripts and the interruptions, in this order.
    const order = [
      /\+886223456789 calls \+886912345678/,
      /ringing/,
      /answered/,
      // On a slow machine the synthesis has gaps, and the callee may answer before the end.
      /agent +Hello Ada, this is Luna\. Would you like .*\(after \d+ ms/,
      /callee +Yes, keep it\./,
      /heard +“[^”]*yes keep it/,
      /agent +Wonderful\. .*interrupted by the callee\)/,
      /callee +A birthday cake, please\./,
      /heard +“[^”]*birthday cake/,
      /agent +One birthday cake, with pleasure\. Goodbye, Ada\. {2}\(after \d+ ms\)/,
      /completed, agent hangup/,
      /✓ session\.ended +signature verified/,
      /✓ call\.ended +signature verified/,
      /✓ recording\.ready +signature verified/,
      /✓ session\.finalized +signature verified/,
      /answer to +total +jitter buffer/,
      /PCMU: \d+ packets received/,
      /✓ transcript/,
      /✓ recording +\//,
      /http:\/\/127\.0\.0\.1:\d+\/docs/,
      /Done\./,
    ];
    let from = 0;
    for (const line of order) {
      const found = text.slice(from).search(line);
      if (found < 0) throw new Error(`${line} is not behind the lines before it:\n${text}`);
      from += found;
    }
    // Standard output is not a terminal.
    expect(text).not.toContain('\u001b');

    const wav = parseWav(readFileSync(recording));
    expect([wav.channels, wav.sampleRateHz]).toEqual([2, 8000]);
    for (const channel of [0, 1]) expect(loudness(pickChannel(wav, channel))).toBeGreaterThan(300);
    expect(readFileSync(join(folder, 'transcript.txt'), 'utf8')).toContain('Agent   One birthday cake');
    expect([existsSync(join(folder, 'data')), existsSync(join(folder, 'callway.log'))]).toEqual([
      false,
      false,
    ]);
  });

  test('says why it has failed, keeps the log and exits with 1', {
    timeout: TIMEOUT,
  }, async ({ onTestFinished }) => {
    const { code, text } = await demo(['--openai'], { OPENAI_API_KEY: 'sk', MODEL_TIMEOUT_SECONDS: 'soon' });
    const folder = dirname(/Log of the service: (\S+)/.exec(text)?.[1] ?? '');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringMatching(/MODEL_TIMEOUT_SECONDS/) });
    expect([existsSync(join(folder, 'data')), existsSync(join(folder, 'callway.log'))]).toEqual([
      false,
      true,
    ]);
  });
});
