import { describe, expect, it } from 'vitest';
import { SpokenText, spokenText } from '../../../src/models/chat/thoughts.ts';

const said = (chunks: readonly string[], beginsWithThought = false) => {
  const spoken = new SpokenText(beginsWithThought);
  let text = '';
  for (const chunk of chunks) {
    const piece = spoken.add(chunk);
    text = (piece.endsThought ? '' : text) + piece.text;
  }
  return text + spoken.finish();
};

describe('Of a model’s answer is said', () => {
  it.each<[string, string, string]>([
    ['no thought', '<think>\nThe plan.\n</think>\n\nWe are open.', 'We are open.'],
    ['no thought in any case', '<THINK>a</Think>b', 'b'],
    ['no <thinking>', '<thinking>a</thinking> b', 'b'],
    ['no <reasoning>', '<reasoning>a</reasoning>b', 'b'],
    ['no second thought', 'One. <think>a</think>Two.', 'One. Two.'],
    ['nothing of a thought without an end', 'Well. <think>a b c', 'Well. '],
    ['what follows a lone end of a thought', 'a plan </think>\n\nHello.', 'Hello.'],
    ['the words between two ends of a thought', '<think>a</think>Hello.</think>', 'Hello.'],
    ['no thought of Magistral', '[THINK]a[/THINK]b', 'b'],
    ['no thought of Kimi', '◁think▷a◁/think▷b', 'b'],
    ['no thought of Seed', '<seed:think>a</seed:think>b', 'b'],
    ['no thought of Gemma', '<|channel>thought\na\n<channel|>b<turn|>', 'b'],
    ['no thought of Command', '<|START_THINKING|>a<|END_THINKING|>b', 'b'],
    [
      'the final channel of gpt-oss',
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>',
      'b',
    ],
    ['the final channel with a format', '<|channel|>final <|constrain|>json<|message|>{"a":1}', '{"a":1}'],
    [
      'no call on a channel of gpt-oss',
      '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":1}<|call|>',
      '',
    ],
    ['no mark of Qwen', '<|im_start|>assistant\nHi.<|im_end|>', 'Hi.'],
    ['no turn that Qwen writes for the person', 'Hi.<|im_end|>\n<|im_start|>user\nAnd you?', 'Hi.\n'],
    ['no mark of Llama', '<|start_header_id|>assistant<|end_header_id|>\n\nHi.<|EOT_ID|>', 'Hi.'],
    ['no mark of Gemma', '<start_of_turn>model\nHi.<end_of_turn>\n<eos>', 'Hi.\n'],
    ['no mark of Mistral', '<s> Hi.</s>', 'Hi.'],
    ['no turn that Mistral writes for the person', 'Hi.</s><s>[INST] And you? [/INST] Fine.', 'Hi. Fine.'],
    ['no mark of DeepSeek', '<｜Assistant｜>Hi.<｜end▁of▁sentence｜>', 'Hi.'],
    [
      'no call of DeepSeek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look<｜tool▁call▁end｜><｜tool▁calls▁end｜>Hi.',
      'Hi.',
    ],
    ['no call that the server has not read', 'Wait.\n<tool_call>\n{"name":"look"}\n</tool_call>', 'Wait.\n'],
    ['no call of Gemma', 'Hi.<start_function_call>call:look{}<end_function_call>', 'Hi.'],
    ['no call of Mistral', '[TOOL_CALLS][{"name":"look"}]', ''],
    ['no call of Llama', '<|python_tag|>look()', ''],
    ['no call of Llama 4', 'Hi.<|python_start|>[look()]<|python_end|><|eom|>', 'Hi.'],
    ['no call of LFM', '<|tool_call_start|>[look()]<|tool_call_end|>Hi.', 'Hi.'],
    ['no call of Command', '<|START_ACTION|>[{"tool_name":"look"}]<|END_ACTION|>', ''],
    ['no call of InternLM', 'Hi.<|action_start|><|plugin|>{"name":"look"}<|action_end|>', 'Hi.'],
    ['no call of Apertus', '<|tools_prefix|>[{"look":{}}]<|tools_suffix|>Hi.', 'Hi.'],
    ['no thought of Apertus', '<|inner_prefix|>a<|inner_suffix|>Hi.', 'Hi.'],
    ['no thought of MiniMax', '<mm:think>a</mm:think>Hi.', 'Hi.'],
    ['no mark of Granite', '<|start_of_role|>assistant<|end_of_role|>Hi.<|end_of_text|>', 'Hi.'],
    [
      'no call of later DeepSeek',
      'Hi.<｜DSML｜function_calls>\n<｜DSML｜invoke name="a">\n</｜DSML｜function_calls>',
      'Hi.',
    ],
    [
      'no call of MiniMax',
      'Hi.<minimax:tool_call>\n<invoke name="a">\n</invoke>\n</minimax:tool_call>',
      'Hi.',
    ],
    ['no call of Nemotron', 'Hi.<TOOLCALL>[{"name":"look"}]</TOOLCALL>', 'Hi.'],
    ['no call of Llama with a name', 'Hi.<function=look>{"q":1}</function>', 'Hi.'],
    ['no call of Seed', 'Hi.<seed:tool_call><function=look></function></seed:tool_call>', 'Hi.'],
    ['no mark around an answer after a thought', '<think>a</think>\n<answer>\nHi.\n</answer>', 'Hi.\n'],
    ['a mark around an answer without a thought', '<answer>Hi.</answer>', '<answer>Hi.</answer>'],
    ['no thought of Gemma by number', '<unused94>thought\na<unused95>Hi.', 'Hi.'],
    ['no thought that is named in a mark', '<|begin_of_thought|>a<|end_of_thought|>Hi.', 'Hi.'],
    ['the final response of Apriel', 'a\n[BEGIN FINAL RESPONSE]\nHi.[END FINAL RESPONSE]', 'Hi.'],
    ['no mark of EXAONE', 'Hi.[|endofturn|]', 'Hi.'],
    ['no <reflection>', '<reflection>a</reflection>Hi.', 'Hi.'],
    ['a comparison', 'a < b, and b > c <d', 'a < b, and b > c <d'],
    ['a heart', 'I <3 it <', 'I <3 it <'],
    ['HTML', '<p>It was <s>$20</s> $10</p><br/><strong>now', '<p>It was <s>$20</s> $10</p><br/><strong>now'],
    ['a link', '[Think twice](https://a.example)[1]', '[Think twice](https://a.example)[1]'],
    ['a mark in backticks', 'Write `<think>` and `</think>`.', 'Write `<think>` and `</think>`.'],
    ['a pipe', 'f <| x |> g <|> h', 'f <| x |> g <|> h'],
    ['an email address', 'Ana <ana@example.com>', 'Ana <ana@example.com>'],
    ['leading space without a mark', '  Hi', '  Hi'],
  ])('%s', (_, answer, spoken) => {
    expect(said([answer])).toBe(spoken);
    expect(said([...answer])).toBe(spoken);
    expect(said(answer.match(/[\s\S]{1,3}/g) ?? [])).toBe(spoken);
    expect(spokenText(answer)).toBe(spoken);
  });
});

describe('An answer that streams', () => {
  it.each([
    [
      ['Hel', 'lo'],
      ['Hel', 'lo'],
    ],
    [
      ['a <', ' b'],
      ['a ', '< b'],
    ],
    [
      ['<', '3'],
      ['', '<3'],
    ],
    [
      ['x <th', 'e'],
      ['x ', '<the'],
    ],
    [
      ['[', 'a'],
      ['', '[a'],
    ],
  ])('%j is passed on as %j', (chunks, texts) => {
    const spoken = new SpokenText();
    expect(chunks.map((chunk) => spoken.add(chunk).text)).toEqual(texts);
  });

  it('of a model whose template begins the thought is held back to its end', () => {
    const spoken = new SpokenText(true);
    expect(['The plan', ' is</thi', 'nk>\n\nHe', 'llo'].map((chunk) => spoken.add(chunk).text)).toEqual([
      ...['', '', 'He', 'llo'],
    ]);
  });

  it('of such a model is said where it has no thought, but not beside a call', () => {
    expect(said(['Hello', '.'], true)).toBe('Hello.');
    const spoken = new SpokenText(true);
    spoken.add('I shall look.');
    expect(spoken.finish(true)).toBe('');
  });
});
