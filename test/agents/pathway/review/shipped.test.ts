import { expect, test } from 'vitest';
import { NEW_PROJECT_CALL_LIMITS } from '../../../../src/agents/accounts/callLimits.ts';
import { type AgentConfig, newAgentConfig } from '../../../../src/agents/agentConfig.ts';
import { reviewInput } from '../../../../src/agents/pathway/review/review.ts';
import { starterPathway } from '../../../../src/agents/pathway/schema/starterPathway.ts';
import { toolInput } from '../../../../src/agents/tool.ts';
import { transferRefusal } from '../../../../src/calls/limits/destinations.ts';
import { DEMO_AGENTS, readDemoAgent } from '../../../../src/demo/agents/demoAgent.ts';

test.each(DEMO_AGENTS)('The review finds nothing in the demo agent %s', async (name) => {
  const { agent, tools, pathway } = await readDemoAgent(name);
  const parsed = tools.map((tool) => toolInput.parse(tool));
  const config: AgentConfig = { ...newAgentConfig('A'), ...agent };
  const variables = new Set([
    ...(config.variableConfigs ?? []).map((variable) => variable.name),
    // The restaurant calls with the guest's name.
    ...(name === 'restaurant' ? ['name'] : []),
  ]);
  const { problems } = reviewInput(
    pathway,
    {
      toolIds: new Set(parsed.map((tool) => tool.name)),
      toolNames: new Map(parsed.map((tool) => [tool.name, tool.name])),
      toolVariables: new Map(
        parsed.map(({ name: id, resultMapping }) => [
          id,
          (resultMapping ?? []).map(({ variable }) => variable),
        ]),
      ),
      variables,
      agent: config,
      destinations: { limits: NEW_PROJECT_CALL_LIMITS, ownNumbers: ['+886223456789'], trunks: [] },
    },
    transferRefusal,
  );
  expect(problems).toEqual([]);
});

test('The review finds nothing in the pathway of a new project', () => {
  const options = { toolIds: new Set<string>(), variables: new Set<string>(), agent: newAgentConfig('A') };
  expect(reviewInput(starterPathway(), options).problems).toEqual([]);
});
