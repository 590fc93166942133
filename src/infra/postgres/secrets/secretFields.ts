import { type AgentConfig, completeAgentConfig } from '../../../agents/agentConfig.ts';
import type { AgentRelease } from '../../../agents/releases/release.ts';
import { type HttpTool, isMcpTool, type Tool } from '../../../agents/tool.ts';
import type { Sealer } from '../../../base/sealer.ts';

type Headers = readonly { key: string; value: string }[];

/** Seals and opens the header values in stored agents, tools, MCP servers and releases: users put tokens there. */
export interface SecretFields {
  sealAgent(agent: AgentConfig): AgentConfig;
  openAgent(agent: AgentConfig): AgentConfig;
  sealHttp(http: HttpTool['http']): HttpTool['http'];
  openHttp(http: HttpTool['http']): HttpTool['http'];
  sealHeaders<Given extends { headers: Headers }>(server: Given): Given;
  openHeaders<Given extends { headers: Headers }>(server: Given): Given;
  sealRelease(release: AgentRelease): AgentRelease;
  openRelease(release: AgentRelease): AgentRelease;
  seal(text: string): string;
  open(sealed: string): string;
  /** @see Sealer.digest */
  digest(text: string): string;
}

export function createSecretFields(sealer: Sealer): SecretFields {
  const seal = forEachHeader(sealer.seal);
  const open = forEachHeader(sealer.open);
  return {
    sealAgent: seal.config,
    openAgent: (agent) => completeAgentConfig(open.config(agent)),
    sealHttp: seal.target,
    openHttp: open.target,
    sealHeaders: seal.target,
    openHeaders: open.target,
    sealRelease: seal.release,
    openRelease(sealed) {
      const release = open.release(sealed);
      return { ...release, agent: completeAgentConfig(release.agent) };
    },
    seal: sealer.seal,
    open: sealer.open,
    digest: sealer.digest,
  };
}

function forEachHeader(change: (value: string) => string) {
  const headers = (list: Headers) => list.map(({ key, value }) => ({ key, value: change(value) }));
  const target = <Target extends { headers?: Headers | undefined }>(place: Target): Target =>
    place.headers ? { ...place, headers: headers(place.headers) } : place;
  const config = (agent: AgentConfig): AgentConfig => ({
    ...agent,
    postSessionWebhook: agent.postSessionWebhook && target(agent.postSessionWebhook),
    eventWebhook: agent.eventWebhook && target(agent.eventWebhook),
    beforeStartConfig: agent.beforeStartConfig && target(agent.beforeStartConfig),
  });
  const tool = (given: Tool): Tool => (isMcpTool(given) ? given : { ...given, http: target(given.http) });
  const release = (given: AgentRelease): AgentRelease => ({
    ...given,
    agent: config(given.agent),
    tools: given.tools.map(tool),
  });
  return { config, release, target };
}
