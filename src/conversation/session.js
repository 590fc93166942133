export const newSessionState = (variables) => ({
  variables,
  messages: [],
  currentNodeId: null,
  hasSpoken: false,
  pendingToolCalls: [],
  summary: null,
  memory: null,
});
/** Parts of the JSON of {@link sessionData} that every session's has, whatever was said in it. */
export const ALWAYS_SHOWN = [
  '{"variables":{',
  '},"messages":[',
  '],"pathwayId":"',
  '","currentNodeId":',
  ',"channel":"',
  '","provider":',
  ',"status":"active",',
  ',"startedAt":"20',
  'Z","lastActivityAt":"20',
  'Z"}',
];
/** What the API shows of a session as `state` or `data`. */
export function sessionData(session) {
  return {
    variables: session.state.variables,
    messages: session.state.messages.filter(({ internal }) => !internal).map(shownMessage),
    pathwayId: session.pathwayId,
    currentNodeId: session.state.currentNodeId,
    channel: session.channel,
    provider: session.provider,
    status: 'active',
    ...(session.callId === null ? {} : { callId: session.callId }),
    startedAt: session.startedAt,
    lastActivityAt: session.lastActivityAt,
  };
}
function shownMessage({ role, content, tool_calls, tool_call_id, name }) {
  return {
    role,
    content,
    ...(tool_calls ? { tool_calls: [...tool_calls] } : {}),
    ...(tool_call_id === undefined ? {} : { tool_call_id }),
    ...(name === undefined ? {} : { name }),
  };
}
