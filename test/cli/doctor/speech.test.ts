import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { checkSpeech } from '../../../src/cli/doctor/speech/checkSpeech.ts';
import { RECOGNITION_PROVIDERS, SYNTHESIS_PROVIDERS } from '../../../src/vendors/registry.ts';
import { tone } from '../../media/support/signals.ts';
import { HEARD, serveVendors, type VendorServer } from '../../models/support/vendorServer.ts';

const KEY = 'key-of-the-vendor';
const SAMPLE = { text: 'Hello there.', samples: tone(16_000, 1000, 1600), sampleRateHz: 16_000 };

let vendors: VendorServer;
beforeAll(async () => {
  vendors = await serveVendors(KEY);
});
afterAll(() => vendors.close());

const check = (environment: Record<string, string>, unknown: readonly string[] = []) =>
  checkSpeech(loadConfig(environment), { sample: SAMPLE, clock: systemClock, unknown: new Set(unknown) });

/** The `.env` files of the guide, by the vendor in their first line. */
const guide = readFileSync(new URL('../../../docs/guides/speech.md', import.meta.url), 'utf8');
const examples = [
  ...guide.matchAll(/^```sh\n# ([^\n.:;]+)[^\n]*\n((?:#[^\n]*\n)*)((?:[A-Z0-9_]+=\S+\n)+)```/gm),
];

test('The guide has a .env for every vendor', () => {
  const given = examples.map(([, , , lines]) => lines).join('');
  const selected = [
    ...RECOGNITION_PROVIDERS.map((name) => `STT_PROVIDER=${name}\n`),
    ...SYNTHESIS_PROVIDERS.map((name) => `TTS_PROVIDER=${name}\n`),
  ];
  expect(selected.filter((line) => !given.includes(line))).toEqual([
    'STT_PROVIDER=local\n',
    'TTS_PROVIDER=local\n',
  ]);
  expect(examples.map(([, vendor]) => vendor)).toEqual(
    expect.arrayContaining([
      'Speaches',
      'Kokoro-FastAPI',
      'LocalAI',
      'OpenAI Realtime',
      'Gemini Live',
      'A speech-to-speech server of your own',
    ]),
  );
});

test.concurrent.each(examples.map(([, vendor = '', , lines = '']) => [vendor, lines] as const))(
  'The .env of %s connects to the vendor, whose words and voice are measured',
  async (_vendor, lines) => {
    const given = lines.trim().split('\n');
    const environment = Object.fromEntries(
      given.map((line) => line.replace('=...', `=${KEY}`).split('=') as [string, string]),
    );
    // The vendor is played at another address.
    for (const name of Object.keys(environment)) {
      const base = name.replace(/_API_KEY$/, '_BASE_URL');
      if (base !== name) environment[base] = `${vendors.url}${base === 'OPENAI_BASE_URL' ? '/v1' : ''}`;
      if (/^[ST]T[TS]_BASE_URL$/.test(name)) environment[name] = `${vendors.url}/v1`;
    }
    const isCompatible = Object.keys(environment).some((name) => /^(OPENAI|STT|TTS)_BASE_URL$/.test(name));
    // OpenAI stands in for the local models, which take long.
    const openai = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${vendors.url}/v1` };
    const all = await check({ ...openai, ...environment });
    const findings = all.filter(({ name }) => isCompatible || !name.startsWith('openai'));
    expect(findings.length).toBeGreaterThan(0);
    for (const { name, status, message, latency } of findings) {
      expect([name, status, message]).toEqual([name, 'ok', expect.any(String)]);
      if (name.endsWith('recognition')) expect(message).toContain(`: “${HEARD}”`);
      expect(Object.values(latency ?? {}).length).toBeGreaterThan(0);
    }
    expect(vendors.authorized.length).toBeGreaterThan(0);
  },
);

test('A wrong key, an address without a vendor and an unknown key each have a finding', async () => {
  const nowhere = 'http://127.0.0.1:9';
  const environment = {
    SONIOX_API_KEY: 'k',
    SONIOX_BASE_URL: nowhere,
    CARTESIA_API_KEY: 'k',
    CARTESIA_BASE_URL: nowhere,
    ELEVENLABS_API_KEY: 'k',
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${vendors.url}/nothing`,
    GOOGLE_API_KEY: 'k',
    GOOGLE_BASE_URL: nowhere,
    CUSTOM_S2S_BASE_URL: nowhere,
  };
  const findings = await check(environment, ['ELEVENLABS_API_KEY']);
  const found = Object.fromEntries(findings.map((one) => [one.name, one]));
  expect(found['soniox recognition']).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(/cannot be reached/),
  });
  expect(found['cartesia synthesis']).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(/cannot be reached/),
  });
  expect(found['elevenlabs synthesis']).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/not checked from here/),
  });
  expect(found['openai recognition']).toMatchObject({
    status: 'fail',
    remedy: expect.stringMatching(/OPENAI_API_KEY/),
  });
  // The key may be for chat alone.
  expect(found['gemini-live engine']).toMatchObject({
    status: 'warn',
    remedy: expect.stringMatching(/GOOGLE_BASE_URL/),
  });
  expect(found['custom engine']).toMatchObject({
    status: 'fail',
    remedy: expect.stringMatching(/CUSTOM_S2S_BASE_URL/),
  });
});
