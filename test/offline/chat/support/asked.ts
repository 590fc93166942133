import type { RuleRequest, Situation } from '../../../../offline/chat/request.ts';
import {
  extractFormat,
  judgeFormat,
  moveTool,
  routeFormat,
} from '../../../../src/engine/prompt/structuredOutput.ts';

/** What the gateway asks a chat model in a situation; {@link Situation.passage} is the first of two. */
export function requestFor(situation: Situation, asked: Partial<RuleRequest> = {}): RuleRequest {
  const { node, choices = [], lastUserText, passage, today, variableConfigs = [], criteria = [] } = situation;
  const { purpose, messages = [], tools = [] } = asked;
  const ways = choices.map((choice) => ({ ...choice, label: '' }));
  const list = [
    ...(purpose === 'route' ? choices.map(({ id, sentence }) => `- ${id}: ${sentence}`) : []),
    ...criteria.map(({ name, description }) => `- ${name}: ${description}`),
  ];
  const heading = purpose === 'judge' ? 'Judge the conversation above by these:' : 'Answer as this says:';
  const prompt = [
    ...(node ? [`You are at this step:\n## ${node.title} (${node.type})\n${node.prompt}`] : []),
    ...(passage === undefined
      ? []
      : [`Answer from these passages, and from nothing else:\n[1] (a.txt) ${passage}\n[2] (a.txt) More.`]),
    ...(list.length === 0 ? [] : [`${heading}\n${list.join('\n')}`]),
    ...(today === undefined ? [] : [`Today is Wednesday, ${today}, 10:00 (UTC, GMT+00:00).`]),
  ].join('\n\n');
  return {
    ...asked,
    messages: [
      ...messages,
      ...(lastUserText === undefined ? [] : [{ role: 'user' as const, content: lastUserText }]),
      { role: 'system', content: prompt },
    ],
    tools: purpose === 'answer_and_route' && ways.length > 0 ? [moveTool(ways), ...tools] : tools,
    jsonSchema:
      purpose === 'route'
        ? routeFormat(ways)
        : purpose === 'extract'
          ? extractFormat(
              variableConfigs.map((config) => ({ ...config, values: [...(config.values ?? [])] })),
            )
          : purpose === 'judge'
            ? judgeFormat(criteria)
            : undefined,
  };
}
