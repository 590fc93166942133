import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ERROR_TEXTS_ZH } from '../../console/src/api/errorTextsZh.ts';
import { messageTextZh } from '../../console/src/api/messageTextsZh.ts';
import { CODE_TEXTS_EN, type CodeTexts } from '../../console/src/codes/codeTextsEn.ts';
import { CODE_TEXTS_ZH } from '../../console/src/codes/codeTextsZh.ts';
import { DELIVERY_ERRORS_ZH } from '../../console/src/codes/deliveryErrorsZh.ts';
import { findingTextZh } from '../../console/src/pages/agent/pathway/findingTextsZh.ts';
import { HISTORY_ERRORS_ZH } from '../../console/src/pages/call/historyErrorsZh.ts';
import { documentErrorZh } from '../../console/src/pages/knowledge/documentErrorsZh.ts';
import { playErrorZh, verdictReasonZh, votesZh } from '../../console/src/pages/tests/runs/verdictTextsZh.ts';
import { bodySchema, type JsonSchema, resolved, schemaAt } from '../../console/src/schemaForm/jsonSchema.ts';
import { ZH_HELP, ZH_HELP_BY_DESCRIPTION, ZH_VALUES } from '../../console/src/schemaForm/wordsZh.ts';
import { keyKind, scope } from '../../src/agents/accounts/apiKey.ts';
import { AUDIT_ACTIONS } from '../../src/agents/accounts/audit.ts';
import type { Principal } from '../../src/agents/accounts/principal.ts';
import { reviewReason } from '../../src/agents/accounts/reviewRules.ts';
import type { ProblemCode } from '../../src/agents/pathway/review/problem.ts';
import { checkTemplate } from '../../src/agents/pathway/templates.ts';
import { TRANSFER_MODES, TRANSFER_OUTCOMES } from '../../src/agents/transferOptions.ts';
import { CONTROL_AUDIT_ACTIONS } from '../../src/api/routes/calls/supervision.ts';
import { CALL_QUEUE } from '../../src/app/node/delayMeters.ts';
import type { Settings } from '../../src/app/settings/settings.ts';
import { notFound } from '../../src/base/errors.ts';
import { packagePath } from '../../src/base/packagePath.ts';
import { zodDetails } from '../../src/base/validation.ts';
import { ANSWERING_MACHINE, CALL_END_REASONS, CALL_STATUSES } from '../../src/calls/call.ts';
import { callResource } from '../../src/calls/callResource.ts';
import { doNotCallEntry } from '../../src/calls/numbers/doNotCall.ts';
import { PARTICIPANT_ACTIONS } from '../../src/calls/participants/participant.ts';
import { RECORDING_ACTIONS, SUPERVISION_ACTIONS } from '../../src/calls/runner/supervisedCall.ts';
import type { LegOutcome } from '../../src/calls/telephony.ts';
import {
  HISTORY_STATUSES,
  TRANSFER_REASONS,
  TRANSFER_STATUSES,
} from '../../src/calls/transfer/transferReport.ts';
import { REJECTION_REASONS } from '../../src/calls/trunks/sipRejection.ts';
import { campaignResource } from '../../src/campaigns/campaign.ts';
import { CONTACT_STATUSES, SKIP_REASONS } from '../../src/campaigns/contact.ts';
import { listedImport } from '../../src/campaigns/imports/contactImport.ts';
import {
  type Channel,
  END_REASONS,
  HISTORY_EVENT_TYPES,
  type SessionStatus,
} from '../../src/engine/session/session.ts';
import type { TurnInput } from '../../src/engine/turn/turn.ts';
import type { HttpClientErrorCode } from '../../src/http/errors.ts';
import { TYPE_NAMES } from '../../src/knowledge/documentType.ts';
import { agentControl } from '../../src/media/agentStream/streamClient.ts';
import { SUPERVISION_MODES } from '../../src/media/supervision/supervisorStream.ts';
import { SPEECH_KINDS } from '../../src/models/selection/callProviders.ts';
import { TRUNK_ERRORS } from '../../src/telephony/trunks/trunkError.ts';
import { REHEARSAL_OUTCOMES } from '../../src/testing/rehearsal/callee.ts';
import type { Evidence } from '../../src/voice/answeringMachine/answeringMachineDetector.ts';
import { startTestServer, type TestServer } from '../support/httpServer.ts';

/** Such as 409 `test_run_ended`, also the second one of a list. */
const CODES = /\b[45]\d\d ((?:`[a-z_]+`(?:, | or )?)+)/g;

const SCHEMA_MESSAGE = /(invalidUrl\(\s*)?(['`])((?:\{field\} |must |(?<=invalidUrl\(\s*['`]))[^'`]*)\2/g;

/** Vendors and events have names; the type of a node and the status have lists of their own. */
const OF_NAMES = ['provider', 'endpoint', 'events', 'status', 'type'];

/** The canvas, the button to publish and the choice of nodes show them. */
const NOT_IN_FORMS = ['position', 'status', 'source'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test('Each error that the API document names has a Chinese text', async () => {
  const { body } = await server.send('GET', '/openapi.json', { key: null });
  const lists = Array.from(JSON.stringify(body).matchAll(CODES), ([, list = '']) => list);
  const codes = lists.flatMap((list) => Array.from(list.matchAll(/[a-z_]+(?=`)/g), ([code]) => code));
  expect(codes.length).toBeGreaterThan(20);
  expect(codes.filter((code) => !(code in ERROR_TEXTS_ZH))).toEqual([]);
});

test('Each kind of thing that is not found, and each name that is taken, has a Chinese text', () => {
  const found = sources('').flatMap((source) => [
    ...Array.from(
      source.matchAll(/(?:notFound\(|noun: )'([A-Za-z -]+)'/g),
      ([, noun = '']) => notFound(noun).code,
    ),
    ...Array.from(source.matchAll(/'([a-z_]+_name_taken)'/g), ([, code = '']) => code),
  ]);
  expect(found).toEqual(expect.arrayContaining(['trunk_not_found', 'tool_name_taken']));
  expect(found.filter((code) => !(code in ERROR_TEXTS_ZH))).toEqual([]);
});

const LEG_OUTCOMES: Readonly<Record<LegOutcome, true>> = {
  remote_hangup: true,
  local_hangup: true,
  lost: true,
  canceled: true,
  busy: true,
  no_answer: true,
  declined: true,
  unreachable: true,
  invalid_number: true,
  rejected: true,
  trunk_error: true,
};

type NotUnderstood = Extract<TurnInput, { kind: 'not_understood' }>;

/** The controls of an agent that the history names by their kind. */
const CONTROLS = agentControl.options
  .map(({ shape }) => shape.kind.value)
  .filter((kind) => kind !== 'pause' && kind !== 'takeover');

/** What the API and a call's history name, by kind. */
const CODES_BY_KIND: Readonly<Record<keyof CodeTexts, readonly string[]>> = {
  reviewReason: reviewReason.options,
  alertState: ['ok', 'firing'],
  event: HISTORY_EVENT_TYPES,
  direction: callResource.shape.direction.options,
  callStatus: CALL_STATUSES,
  importStatus: listedImport.shape.status.options,
  callEnd: CALL_END_REASONS,
  campaignStatus: campaignResource.shape.status.options,
  campaignReason: ['ended', 'too_many_failed', 'no_from_number'],
  contactStatus: CONTACT_STATUSES,
  contactOutcome: REHEARSAL_OUTCOMES,
  skipReason: SKIP_REASONS,
  doNotCallSource: doNotCallEntry.shape.source.options,
  sessionEnd: END_REASONS,
  sessionStatus: ['active', 'ended'] satisfies SessionStatus[],
  transferMode: TRANSFER_MODES,
  transferStatus: ['requested', ...TRANSFER_STATUSES, ...HISTORY_STATUSES],
  transferOutcome: ['joined', ...TRANSFER_OUTCOMES],
  supervision: [...SUPERVISION_ACTIONS, ...CONTROLS],
  supervisionMode: SUPERVISION_MODES,
  participant: PARTICIPANT_ACTIONS,
  recording: RECORDING_ACTIONS,
  answeringMachine: [...ANSWERING_MACHINE, 'voicemail'],
  notUnderstood: ['no_words', 'recognition_failed'] satisfies NotUnderstood['why'][],
  evidence: ['words', 'length', 'beep'] satisfies Evidence[],
  channel: ['chat', 'phone', 'web'] satisfies Channel[],
  fallback: ['chat', ...SPEECH_KINDS],
  trunkError: Object.values(TRUNK_ERRORS),
  rejection: REJECTION_REASONS,
  transferReason: [...Object.keys(LEG_OUTCOMES), ...Object.values(TRANSFER_REASONS)],
  auditAction: [...AUDIT_ACTIONS, ...CONTROL_AUDIT_ACTIONS],
  auditActor: ['admin', ...keyKind.options, 'widget'] satisfies Principal['kind'][],
  keyScope: scope.options,
  nodeRole: ['api', 'worker', 'voice', 'media'] satisfies Settings['ROLES'],
  latePart: ['main', 'voice', 'rtp', CALL_QUEUE],
};

test.each(Object.entries(CODES_BY_KIND))('Each code of %s has a text in both languages', (kind, codes) => {
  for (const kinds of [CODE_TEXTS_EN, CODE_TEXTS_ZH]) {
    const texts = kinds[kind as keyof typeof CODES_BY_KIND];
    expect(Object.keys(texts).sort(), `${kind} in console/src/codes/`).toEqual([...codes].sort());
    expect(new Set(Object.values(texts)).size).toBe(codes.length);
  }
});

test('A Chinese text ends as a sentence, or with what follows it', () => {
  const texts = [ERROR_TEXTS_ZH, HISTORY_ERRORS_ZH].flatMap((table) => Object.values(table));
  expect(texts.filter((text) => !/[。：]$/.test(text))).toEqual([]);
});

const PROBLEM_CODES: Readonly<Record<ProblemCode, true>> = {
  no_start_node: true,
  several_start_nodes: true,
  duplicate_id: true,
  duplicate_tool: true,
  unusable_tools: true,
  unknown_node: true,
  unknown_tool: true,
  edge_into_start: true,
  edge_out_of_end: true,
  global_edge_without_condition: true,
  global_fallback_edge: true,
  template_error: true,
  expression_error: true,
  invalid_field: true,
  unreachable_node: true,
  no_end_node: true,
  no_end_reachable: true,
  dead_end: true,
  no_default_edge: true,
  nothing_to_say: true,
  returns_without_global_edge: true,
  several_unconditional_edges: true,
  edge_behind_unconditional: true,
  duplicate_condition: true,
  condition_never_true: true,
  endless_loop: true,
  loop_without_turn: true,
  cycle_without_exit: true,
  event_never_raised: true,
  silence_behind_shorter: true,
  must_hear_line_cut: true,
  transfer_without_failure_edge: true,
  transfer_option_unused: true,
  transfer_target_forbidden: true,
  wrong_arguments: true,
  vanished_tool: true,
  unknown_variable: true,
  required_variable_not_asked: true,
  provider_without_credentials: true,
  wrong_option: true,
  keyterms_ignored: true,
  voice_missing: true,
  language_not_told: true,
  language_not_heard: true,
};

test.each(Object.keys(PROBLEM_CODES))('The finding %s of the review has a Chinese text', async (code) => {
  expect(await findingTextZh(code, '')).not.toBe('');
});

test('A review finding is shown in Chinese, with its name', async () => {
  const message = 'the conversation stops at "$& \\"x\\""; add an outgoing edge';
  expect(await findingTextZh('dead_end', message)).toBe('對話會停在 "$& \\"x\\""，請加上出去的連線。');
  const unset = 'deepgram has no credentials here; PUT …/providers/deepgram, or set DEEPGRAM_API_KEY';
  expect(await findingTextZh('provider_without_credentials', unset)).toBe(
    '供應商 deepgram 沒有金鑰；請在設定中儲存金鑰。',
  );
  expect(await findingTextZh('template_error', 'tag "if" not closed')).toBe('範本有誤：tag "if" not closed');
  expect(await findingTextZh('new_code', message)).toBe(message);
});

test('Each error that sessions record by a code of its own has a Chinese text', () => {
  const codes = sources('engine', 'voice', 'calls').flatMap((source) =>
    Array.from(
      source.matchAll(/(?:'error', \{ code: |(?<!#)\bnote\(|\bROUTE_FAILED = )'([a-z_]+)'/g),
      ([, code = '']) => code,
    ),
  );
  expect(codes.length).toBeGreaterThan(10);
  expect(codes.filter((code) => !(code in HISTORY_ERRORS_ZH))).toEqual([]);
});

test.each([
  ['{{ 名', '輸出 "{{ 名" 沒有結尾（第 1 行，第 1 字）'],
  ['好\n{% if 名 %}', '標籤 {% if 名 %} 沒有結尾（第 2 行，第 1 字）'],
  ['{{ a[ }}', '[ 沒有結尾（第 1 行，第 6 字）'],
  ['{% endif %}', '沒有標籤 "endif"（第 1 行，第 1 字）'],
  ['{{ a | b }}', '沒有過濾器 b（第 1 行，第 1 字）'],
  ['{% %}', '缺少標籤的名稱（第 1 行，第 4 字）'],
  ['{% for a %}', '標籤 {% for a %} 的寫法有誤（第 1 行，第 1 字）'],
  ['{{ }}', '值的寫法有誤：""（第 1 行，第 4 字）'],
  ['{{ (1..3 }}', '範圍的寫法有誤（第 1 行，第 10 字）'],
  ['{{ a..b }}', '過濾器之前缺少 |（第 1 行，第 6 字）'],
  ['{% assign = 3 %}', '缺少變數的名稱（第 1 行，第 11 字）'],
  ['{% assign x 3 %}', '缺少 =（第 1 行，第 13 字）'],
  ['{% if a %}{% else %}{% else %}{% endif %}', 'else 重複了（第 1 行，第 1 字）'],
])('What is wrong with the template %j is told in Chinese', (template, text) => {
  expect(messageTextZh(checkTemplate(template) ?? '')).toBe(text);
});

test('Each reason why a document or a list cannot be read has a Chinese text', () => {
  const messages = sources('knowledge', 'campaigns/imports').flatMap((source) =>
    Array.from(source.matchAll(/new DocumentError\(\s*(['`])(.*?)\1/gs), ([, , text = '']) =>
      text.replaceAll(/\$\{[^}]*\}/g, '7'),
    ),
  );
  expect(messages.length).toBeGreaterThan(20);
  expect(messages.filter((message) => /[a-z] [a-z]/.test(documentErrorZh(message)))).toEqual([]);
  expect(documentErrorZh('The PDF has more than 3000 pages; split it')).toBe(
    'PDF 超過 3000 頁，請拆成多個檔案。',
  );
});

test.each([
  [{ type: 'contains', reason: 'the agent did not say “Hi”' }, '代理沒有說「Hi」'],
  [{ type: 'not_said', reason: 'the agent said “a “b””', turn: 2 }, '代理說了「a “b”」'],
  [{ type: 'said_in_order', reason: '“Bye” was not said' }, '沒有說「Bye」'],
  [
    { type: 'said_in_order', reason: '“Bye” was not said after the ones before it', turn: 0 },
    '在前面的話之後沒有說「Bye」',
  ],
  [{ type: 'tool_called_with', seen: [], reason: 'book was not called' }, '未呼叫這個工具'],
  [
    { type: 'tool_called_with', seen: [{ day: 1 }], reason: 'it was called with others' },
    '以其他引數呼叫了工具',
  ],
  [{ type: 'max_latency_ms', reason: 'the agent said nothing' }, '代理沒有說話'],
  [{ type: 'judge', seen: '0 of 1 in favor', reason: 'It was rude.' }, 'It was rude.'],
  [
    { type: 'judge', reason: 'judged by rule: of 3 words sought, the talk has 0 (none)' },
    '依規則判定：尋找的 3 個字詞，對話都沒有',
  ],
  [
    { type: 'judge', reason: 'judged by rule: of 3 words sought, the talk has 1 (song)' },
    '依規則判定：尋找的 3 個字詞中，對話有 1 個（song）',
  ],
])('The reason of a failed assertion is shown in Chinese: %j', (verdict, shown) => {
  expect(verdictReasonZh({ passed: false, seen: null, ...verdict })).toBe(shown);
});

test('The votes of models that judged are shown in Chinese', () => {
  expect(votesZh('2 of 3 in favor')).toBe('3 票中有 2 票贊成');
});

const DELIVERY_ERRORS: Readonly<Record<HttpClientErrorCode, true>> = {
  target_invalid_url: true,
  target_not_https: true,
  target_has_credentials: true,
  target_private_address: true,
  target_header_invalid: true,
  dns_failed: true,
  connect_failed: true,
  tls_failed: true,
  connection_lost: true,
  response_invalid: true,
  response_too_large: true,
  response_encoded: true,
  timeout: true,
  aborted: true,
};

test('Each reason why a webhook was not delivered has a Chinese text', () => {
  const codes = sources('webhooks').flatMap((source) =>
    Array.from(source.matchAll(/error: \{ code: '([a-z_]+)'/g), ([, code = '']) => code),
  );
  expect(codes).toContain('unexpected_status');
  const all = [...codes, ...Object.keys(DELIVERY_ERRORS)];
  expect(all.filter((code) => !(code in DELIVERY_ERRORS_ZH))).toEqual([]);
});

test('The error of a play is shown in Chinese, with its values', () => {
  expect(playErrorZh('The simulated caller’s call was not answered: 486 Busy Here')).toBe(
    '模擬來電未被接聽：486 Busy Here',
  );
  expect(playErrorZh('A new reason')).toBe('A new reason');
});

test('Each message of a schema, and each objection to an address, has a Chinese text', () => {
  const messages = sources('agents', 'calls', 'api/routes', 'knowledge', 'http').flatMap((source) =>
    Array.from(
      source.matchAll(SCHEMA_MESSAGE),
      ([, address, , text = '']) =>
        `${address ? 'the URL' : 'name'} ${text.replace(/^\{field\} /, '').replaceAll(/\$\{[^}]*\}/g, '7')}`,
    ),
  );
  expect(messages.length).toBeGreaterThan(50);
  expect(messages.map(messageTextZh).filter((text) => /[a-z] [a-z]/.test(text))).toEqual([]);
});

test.each(Object.values(TYPE_NAMES))('A file that is named like %s has a Chinese text', (name) => {
  const text = messageTextZh(`The file is named like ${name}, but holds ${name}`);
  expect(text).toMatch(/^檔名是「(.+)」，內容卻是「\1」$/);
  expect(text).not.toMatch(/\ban? |plain/);
});

test('What zod finds has a Chinese text, whatever it is', () => {
  const schema = z.strictObject({
    title: z.string(),
    tools: z.array(z.string()).max(1),
    url: z.url(),
    timeoutMs: z.int().min(100).max(200),
    language: z.string().min(2),
    mode: z.enum(['blind', 'warm']),
    to: z.union([z.string(), z.array(z.string()), z.null()]),
    speed: z.number().gt(0),
    headers: z.record(z.string(), z.string()),
    query: z.string().startsWith('q or r'),
    id: z.uuid(),
  });
  const { error } = schema.safeParse({
    tools: [1, 'a'],
    url: 'x',
    timeoutMs: 5000,
    language: 'e',
    mode: 'cold',
    to: 7,
    speed: 0,
    headers: [],
    query: 's',
    id: '',
    extra: 1,
  });
  expect(zodDetails(error ?? { issues: [] }).map(({ message }) => messageTextZh(message))).toEqual([
    '標題為必填，且必須是文字',
    '工具最多只能有 1 個項目',
    '網址必須是有效的網址',
    '逾時（毫秒）不可大於 200',
    '語言的長度至少要有 2 個字元',
    '模式必須是 "blind" 或 "warm"',
    '轉接至必須是文字、清單或 null',
    '語速必須大於 0',
    '標頭必須是物件，而不是清單',
    '查詢必須以 "q or r" 開頭',
    'id 必須是 UUID',
    'extra 不是已知的欄位',
  ]);
  expect(messageTextZh('postSessionWebhook.url: the URL must begin with https://')).toBe(
    '結束後的 webhook.網址：網址必須以 https:// 開頭',
  );
  expect(messageTextZh('A new message')).toBe('A new message');
});

test('Each help text of a form has a Chinese text of its own', async () => {
  const document = (await server.send('GET', '/openapi.json', { key: null })).body;
  const fields = [
    bodySchema(document, 'put', '/v1/projects/{projectId}/agent'),
    schemaAt(document, '#/components/schemas/PathwayNodeInput'),
    schemaAt(document, '#/components/schemas/PathwayEdgeInput'),
    bodySchema(document, 'post', '/v1/projects/{projectId}/tools'),
  ].flatMap((schema) => describedFields(schema, document));
  expect(fields.length).toBeGreaterThan(50);
  const untold = fields.filter(
    ({ name, description }) => !(description in ZH_HELP_BY_DESCRIPTION) && !(name in ZH_HELP),
  );
  expect(untold.filter(({ name }) => !NOT_IN_FORMS.includes(name))).toEqual([]);
  const told = new Set(fields.map(({ description }) => description));
  expect(Object.keys(ZH_HELP_BY_DESCRIPTION).filter((description) => !told.has(description))).toEqual([]);
});

test('Each choice of a form has a Chinese name, but for names of products and protocols', async () => {
  const document = (await server.send('GET', '/openapi.json', { key: null })).body;
  const values = [
    bodySchema(document, 'put', '/v1/projects/{projectId}/agent'),
    schemaAt(document, '#/components/schemas/PathwayNodeInput'),
    schemaAt(document, '#/components/schemas/PathwayEdgeInput'),
  ].flatMap((schema) => choicesIn(schema, document));
  expect(values).toContain('simultaneous');
  expect(values.filter((value) => !(value in ZH_VALUES))).toEqual([]);
});

/** What the form lets choose, of a schema and of what lies in it. */
function choicesIn(given: JsonSchema, document: unknown, seen = new Set<string>(), name = ''): string[] {
  if (given.$ref !== undefined && seen.has(given.$ref)) return [];
  if (given.$ref !== undefined) seen.add(given.$ref);
  const { schema } = resolved(given, document);
  const values = OF_NAMES.includes(name) ? [] : (schema.enum ?? []).map(String);
  return [
    ...values,
    ...(schema.anyOf ?? []).flatMap((one) => choicesIn(one, document, seen, name)),
    ...(schema.items ? choicesIn(schema.items, document, seen, name) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([property, one]) =>
      choicesIn(one, document, seen, property),
    ),
  ];
}

/** Of a schema and of what lies in it. */
function describedFields(
  given: JsonSchema,
  document: unknown,
  seen = new Set<string>(),
): { name: string; description: string }[] {
  if (given.$ref !== undefined && seen.has(given.$ref)) return [];
  if (given.$ref !== undefined) seen.add(given.$ref);
  const { schema } = resolved(given, document);
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return [
    ...inner.flatMap((one) => describedFields(one, document, seen)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const { description } = resolved(property, document).schema;
      const below = describedFields(property, document, seen);
      return description === undefined ? below : [{ name, description }, ...below];
    }),
  ];
}

/** The TypeScript files of rooms of the service. */
function sources(...rooms: string[]): string[] {
  return rooms.flatMap((room) =>
    readdirSync(packagePath(`src/${room}`), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  );
}
