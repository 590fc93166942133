export function createSealing(sealer) {
  const seal = forEachHeader(sealer.seal);
  const open = forEachHeader(sealer.open);
  return {
    sealAgent: seal.record,
    openAgent: open.record,
    sealTool: seal.tool,
    openTool: open.tool,
    sealRelease: seal.release,
    openRelease: open.release,
    seal: sealer.seal,
    open: sealer.open,
    digest: sealer.digest,
  };
}
function forEachHeader(change) {
  const headers = (list) => list.map(({ key, value }) => ({ key, value: change(value) }));
  const target = (place) => (place.headers ? { ...place, headers: headers(place.headers) } : place);
  const config = (agent) => ({
    ...agent,
    postSessionWebhook: agent.postSessionWebhook && target(agent.postSessionWebhook),
    beforeStartConfig: agent.beforeStartConfig && target(agent.beforeStartConfig),
  });
  const tool = (given) => ({ ...given, http: target(given.http) });
  const release = (given) => ({
    ...given,
    agent: config(given.agent),
    tools: given.tools.map(tool),
  });
  const record = (given) => ({
    config: config(given.config),
    frozen: given.frozen && release(given.frozen),
  });
  return { record, release, tool };
}
