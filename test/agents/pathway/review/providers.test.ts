import { expect, test } from 'vitest';
import { newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import type { ChatConfig } from '../../../../src/agents/chat/chatConfig.ts';
import type { KnownProviders } from '../../../../src/agents/pathway/review/providers.ts';
import { reviewPathway } from '../../../../src/agents/pathway/review/review.ts';
import type { EngineConfig } from '../../../../src/agents/speech/engineConfig.ts';
import type { SpeechConfig } from '../../../../src/agents/speech/speechConfig.ts';
import { end, known, start } from '../support/review.ts';
import { sketch, sketchEdge, sketchNode } from '../support/sketch.ts';

const PROVIDERS: KnownProviders = {
  configured: new Set(['openai', 'deepgram']),
  recognition: 'deepgram',
  synthesis: 'openai',
  chat: 'openai',
};

function findings(
  speech: SpeechConfig | null,
  data: object = {},
  chat: ChatConfig | null = null,
  engine: EngineConfig | null = null,
) {
  const nodes = [start, sketchNode('c', 'conversation', data), end];
  const edges = [sketchEdge('s>c'), sketchEdge('c>e', { condition: 'Done.' })];
  const agent = { ...newAgentConfig('Test'), speech, chat, engine };
  const { valid, problems } = reviewPathway(sketch(nodes, edges), { ...known, agent, providers: PROVIDERS });
  expect(valid).toBe(true);
  return problems.map(({ code, path, message }) => `${code} ${path} ${message}`);
}

const AGENT = '/agent/speech';
const ENGLISH_AND_CHINESE = ['en', 'zh-TW'];

test.each([
  [{ recognition: { provider: 'deepgram' }, synthesis: { provider: 'local' } }, undefined],
  [{ recognition: { provider: 'soniox' } }, `provider_without_credentials ${AGENT}/recognition/provider`],
  [
    { fallback: { synthesis: [{ provider: 'openai' }, { provider: 'custom' }] } },
    `provider_without_credentials ${AGENT}/fallback/synthesis/1/provider custom has no credentials here; PUT …/providers/custom_tts`,
  ],
  [
    { voices: { en: { provider: 'cartesia', voice: 'amy' } } },
    `provider_without_credentials ${AGENT}/voices/en/provider`,
  ],
  [{ recognition: { options: { eot_threshold: 0.7 } } }, undefined],
  [
    { recognition: { options: { smart_format: true } } },
    `wrong_option ${AGENT}/recognition/options/smart_format smart_format is no option of deepgram`,
  ],
  [{ synthesis: { options: { stability: 1 } } }, `wrong_option ${AGENT}/synthesis/options/stability`],
  [{ recognition: { keyterms: ['Ana'] } }, undefined],
  [
    { recognition: { provider: 'local', keyterms: ['Ana'] } },
    `keyterms_ignored ${AGENT}/recognition/keyterms`,
  ],
  [
    { recognition: { provider: 'openai', keyterms: ['Ana'] } },
    `keyterms_ignored ${AGENT}/recognition/keyterms`,
  ],
  [{ recognition: { provider: 'openai', keyterms: ['Ana'], options: { batch: true } } }, undefined],
  [{ languages: ['en', 'de'] }, undefined],
  [{ recognition: { language: 'zh-TW' } }, undefined],
  [
    { languages: ENGLISH_AND_CHINESE },
    `language_not_heard ${AGENT}/recognition deepgram is not known to hear zh-TW`,
  ],
  [
    { recognition: { model: 'flux-general-multi', language: 'ko' } },
    `language_not_heard ${AGENT}/recognition flux-general-multi is not known to hear ko`,
  ],
  [
    { recognition: { language: 'de' }, fallback: { recognition: [{ provider: 'local' }] } },
    `language_not_heard ${AGENT}/fallback/recognition/0 local is not known to hear de`,
  ],
  [
    { languages: ['en', 'de'], voices: { 'en-GB': { voice: 'amy' } } },
    `voice_missing ${AGENT}/voices de has no voice of its own`,
  ],
  [
    { languages: ['en', 'de'], synthesis: { provider: 'deepgram' } },
    `voice_missing ${AGENT}/voices en has no voice`,
  ],
  [
    { languages: ENGLISH_AND_CHINESE, recognition: { provider: 'openai' } },
    `language_not_told ${AGENT}/languages openai does not tell`,
  ],
] as [SpeechConfig, string | undefined][])(
  'A review finds what cannot work in speech: %j',
  (speech, expected) => {
    const [first] = findings(speech);
    if (expected === undefined) expect(first).toBeUndefined();
    else expect(first).toContain(expected);
    // The same at a node, which says it once.
    const [atNode, ...others] = findings(null, { speech });
    const place = expected?.replace(AGENT, '/nodes/1/data/speech');
    if (place === undefined) expect(atNode).toBeUndefined();
    else expect(atNode).toContain(place);
    expect(findings(speech, { speech })).toHaveLength(expected === undefined ? 0 : others.length + 1);
  },
);

test('A review finds endpoints of chat without credentials', () => {
  const chat: ChatConfig = {
    endpoint: 'google',
    fallback: ['gemini-x', { endpoint: 'anthropic' }, { endpoint: 'local' }],
  };
  const codes = findings(null, {}, chat).map((one) => one.split(' ').slice(0, 2).join(' '));
  expect(codes).toEqual([
    'provider_without_credentials /agent/chat/endpoint',
    'provider_without_credentials /agent/chat/fallback/0/endpoint',
    'provider_without_credentials /agent/chat/fallback/1/endpoint',
  ]);
  expect(findings(null, { chat: { endpoint: 'anthropic' } })[0]).toContain('/nodes/1/data/chat/endpoint');
});

test('A review finds engines without credentials', () => {
  expect(findings(null, {}, null, { provider: 'custom' })).toEqual([
    expect.stringMatching(/^provider_without_credentials \/agent\/engine\/provider .*providers\/custom_s2s/),
  ]);
  expect(findings(null, { engine: { provider: 'custom' } })[0]).toContain('/nodes/1/data/engine/provider');
  expect(findings(null, { engine: null })).toEqual([]);
});
