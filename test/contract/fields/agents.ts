import type { FieldTable } from './fieldTable.ts';

export const AGENTS_FIELDS: readonly FieldTable[] = [
  {
    name: 'template preview',
    places: [['/v1/projects/{projectId}/templates/preview']],
    rows: {
      template:
        'api/routes/agent/agent.integration.test.ts › is rendered with its variables, and names those that are missing',
      variables:
        'api/routes/agent/agent.integration.test.ts › is rendered with its variables, and names those that are missing',
    },
  },
  {
    name: 'rollout',
    places: [['/v1/projects/{projectId}/rollouts'], ['/v1/projects/{projectId}/rollouts/{rolloutId}']],
    rows: {
      release:
        'contract/releaseFields.integration.test.ts › A rollout gives a share of people the new release, the same person always the same',
      percent:
        'contract/releaseFields.integration.test.ts › A rollout gives a share of people the new release, the same person always the same',
      'guards[].metric':
        'results/rollouts/judgeRollout.integration.test.ts › A guard that fires rolls back, with the figures that decided, and is told once',
      'guards[].maxDrop':
        'results/rollouts/judgeRollout.integration.test.ts › A guard that fires rolls back, with the figures that decided, and is told once',
      'guards[].max':
        'results/rollouts/judgeRollout.integration.test.ts › The figures of an arm are those of its sessions, turns, tools and calls',
      'decideAfter.sessions':
        'results/rollouts/judgeRollout.integration.test.ts › A release without a fired guard is promoted after its sessions, and the next session gets it',
      onBad:
        'results/rollouts/judgeRollout.integration.test.ts › With alert the rollout goes on, and a good one may still turn out bad',
      onGood:
        'results/rollouts/judgeRollout.integration.test.ts › A release without a fired guard is promoted after its sessions, and the next session gets it',
    },
  },
  {
    name: 'publication',
    places: [['/v1/projects/{projectId}/agent/publish']],
    rows: {
      note: 'contract/releaseFields.integration.test.ts › A publication is a release with its note, also where nothing changed, and sessions name it',
      live: 'contract/releaseFields.integration.test.ts › A release with live: false leaves callers where they are, and can be tested',
    },
  },
  {
    name: 'agent',
    places: [['/v1/projects/{projectId}/agent']],
    rows: {
      name: 'api/routes/agent/agent.integration.test.ts › stores every field by %s',
      type: 'contract/agentFields.integration.test.ts › type decides whether the model is told of every step',
      status:
        'agents/releases/release.integration.test.ts › Draft status freezes the release of callers until the next publication',
      globalPrompt:
        'contract/agentFields.integration.test.ts › globalPrompt is rendered and told to the model',
      executionMode:
        'contract/agentFields.integration.test.ts › executionMode %s answers with %s, and selects the edge with %s',
      timezone:
        'contract/agentFields.integration.test.ts › timezone is the zone of the time that the model is told',
      memoryEnabled:
        'contract/agentFields.integration.test.ts › memoryEnabled tells the model what an earlier session with the same customerId was about',
      shareCallerNumber:
        'engine/session/sessionFacts.test.ts › tell the model the numbers where shareCallerNumber is %s',
      sessionIdleMinutes:
        'engine/session/sessionIdleMinutes.integration.test.ts › A chat that was left ends after the agent’s sessionIdleMinutes, with its webhooks due',
      'chat.model':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.temperature':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.maxTokens':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.reasoningEffort':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.endpoint': 'engine/chatChoices.test.ts › endpoint of the %s answers, with its own model',
      'chat.fallback': 'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'chat.fallback[].model':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'chat.fallback[].temperature':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'chat.fallback[].maxTokens':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.fallback[].reasoningEffort':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'chat.fallback[].endpoint':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'engine.provider':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'engine.model':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'engine.voice':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'speech.noiseSuppression':
        'voice/session/noiseSuppression.test.ts › noiseSuppression of %j: the recognition hears %s',
      'speech.synthesis.options':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.fallback.synthesis[].speed':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.synthesis[].options':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.languages':
        'voice/session/languages.test.ts › languages and voices of the %s: the answer is in the language that was heard',
      'speech.voices':
        'voice/session/languages.test.ts › languages and voices of the %s: the answer is in the language that was heard',
      'speech.recognition.provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.recognition.model':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.recognition.options':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.synthesis.provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.synthesis.model':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.synthesis.voice':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'speech.recognition.language':
        'voice/session/speechChoices.test.ts › language and keyterms of the %s are told to the recognizer',
      'speech.recognition.keyterms':
        'voice/session/speechChoices.test.ts › language and keyterms of the %s are told to the recognizer',
      'speech.fallback.recognition[].provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.recognition[].model':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.recognition[].language':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.recognition[].keyterms':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.recognition[].options':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.synthesis[].provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.synthesis[].model':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.fallback.synthesis[].voice':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'speech.synthesis.speed':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'speech.pronunciations[].word':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'speech.pronunciations[].say':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'turnDetection.mode':
        'voice/session/turnDetection.test.ts › mode of the %s decides whether turn events count',
      'turnDetection.eagerness':
        'voice/session/turnDetection.test.ts › eagerness of the %s shortens the pause that ends a turn',
      'turnDetection.preemptive':
        'voice/session/turnDetection.test.ts › preemptive of the %s decides whether an answer is prepared',
      'recording.inbound': 'e2e/phone/signalling/inbound.ts › leaves no recording where %s',
      'recording.outbound':
        'calls/setup/acceptCall.test.ts › records as the call says, else its number, else the agent: %s, %s, %o',
      'beforeStartConfig.url':
        'contract/agentFields.integration.test.ts › beforeStartConfig asks its url with its headers, and waits its timeoutMs',
      'beforeStartConfig.headers[].key':
        'contract/agentFields.integration.test.ts › beforeStartConfig asks its url with its headers, and waits its timeoutMs',
      'beforeStartConfig.headers[].value':
        'contract/agentFields.integration.test.ts › beforeStartConfig asks its url with its headers, and waits its timeoutMs',
      'beforeStartConfig.timeoutMs':
        'contract/agentFields.integration.test.ts › beforeStartConfig asks its url with its headers, and waits its timeoutMs',
      'postSessionWebhook.url':
        'contract/agentFields.integration.test.ts › postSessionWebhook gets its events at its url, with its headers',
      'postSessionWebhook.headers[].key':
        'contract/agentFields.integration.test.ts › postSessionWebhook gets its events at its url, with its headers',
      'postSessionWebhook.headers[].value':
        'contract/agentFields.integration.test.ts › postSessionWebhook gets its events at its url, with its headers',
      'postSessionWebhook.events':
        'contract/agentFields.integration.test.ts › postSessionWebhook gets its events at its url, with its headers',
      'eventWebhook.url':
        'app/webhooks.integration.test.ts › A chat on one node is streamed by another as it happens, and sent to the eventWebhook, again on request',
      'eventWebhook.headers[].key':
        'app/webhooks.integration.test.ts › A chat on one node is streamed by another as it happens, and sent to the eventWebhook, again on request',
      'eventWebhook.headers[].value':
        'app/webhooks.integration.test.ts › A chat on one node is streamed by another as it happens, and sent to the eventWebhook, again on request',
      'eventWebhook.events':
        'app/webhooks.integration.test.ts › A chat on one node is streamed by another as it happens, and sent to the eventWebhook, again on request',
      'postEvaluationConfig.criteria[].name':
        'contract/agentFields.integration.test.ts › postEvaluationConfig judges a session by its criteria, each with name and description',
      'postEvaluationConfig.criteria[].description':
        'contract/agentFields.integration.test.ts › postEvaluationConfig judges a session by its criteria, each with name and description',
      'postEvaluationConfig.criteria[].type':
        'contract/agentFields.integration.test.ts › A criterion of type score gets a score from 1 to 5',
      'analysis.summary':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.dispositions[].value':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.dispositions[].description':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.dispositions[].success':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.data':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.instructions':
        'contract/agentFields.integration.test.ts › analysis tells the model its dispositions, data and instructions, and what it answers is in history and webhook',
      'analysis.model':
        'contract/agentFields.integration.test.ts › analysis.model and endpoint are asked in place of the agent’s model',
      'analysis.endpoint':
        'contract/agentFields.integration.test.ts › analysis.model and endpoint are asked in place of the agent’s model',
      placeholderMessages:
        'contract/agentFields.integration.test.ts › placeholderMessages are said in the session’s language while a tool runs, rendered',
      'variableConfigs[].name':
        'contract/agentFields.integration.test.ts › variableConfigs are extracted by name, with their types and values',
      'variableConfigs[].type':
        'contract/agentFields.integration.test.ts › variableConfigs are extracted by name, with their types and values',
      'variableConfigs[].description':
        'contract/agentFields.integration.test.ts › variableConfigs are extracted by name, with their types and values',
      'variableConfigs[].values':
        'contract/agentFields.integration.test.ts › variableConfigs are extracted by name, with their types and values',
      'variableConfigs[].required':
        'engine/pathway/requiredVariables.test.ts › is asked for before the pathway goes past the node that names it',
      'optOut.detect':
        'engine/pathway/optOut.test.ts › Without detect only the tool and an edge list a number',
      'optOut.confirm': 'engine/pathway/optOut.test.ts › The agent says what confirm says, and the call ends',
      'disclosures[].id':
        'voice/session/disclosures.test.ts › Disclosures are said in order before the first node, and each is reported once it was heard',
      'disclosures[].text':
        'voice/session/disclosures.test.ts › Disclosures are said in order before the first node, and each is reported once it was heard',
      'disclosures[].withinSeconds':
        'calls/runner/disclosures.test.ts › A disclosure is kept as heard with its time, and one that was heard late stays a violation',
      'disclosures[].direction':
        'calls/setup/acceptCall.test.ts › to %s owes the disclosures of outbound calls: %o',
      'disclosures[].machines':
        'voice/session/disclosures.test.ts › gets none with machines: false, which is cut once the machine is detected',
      'notUnderstood.transferTo':
        'voice/session/notUnderstood.test.ts › Without an edge the call is transferred where the agent says so',
      'notUnderstood.transferTo.to':
        'engine/pathway/transferNodes.test.ts › The last resort is called over its trunk',
      'notUnderstood.transferTo.trunkId':
        'engine/pathway/transferNodes.test.ts › The last resort is called over its trunk',
      'transferTargets[].to':
        'engine/tools/toolNodes.test.ts › A listed target is called over the trunk of its entry, and over no other',
      'transferTargets[].trunkId':
        'engine/tools/toolNodes.test.ts › A listed target is called over the trunk of its entry, and over no other',
      transferTargets:
        'engine/tools/toolNodes.test.ts › A transfer to none of the agent’s transferTargets is refused',
    },
  },
  {
    name: 'node',
    places: [
      ['/v1/projects/{projectId}/pathway/nodes'],
      ['/v1/projects/{projectId}/pathway/nodes/{nodeId}'],
      ['/v1/projects/{projectId}/pathway', 'nodes[].'],
    ],
    rows: {
      id: 'engine/turn/runTurn.test.ts › answers and takes an edge in one request',
      type: 'engine/turn/runTurn.test.ts › says a say node verbatim without the model, and ends the session at an end node',
      'position.x':
        'api/routes/agent/pathwayParts.integration.test.ts › can be added, read, listed, and removed with their edges',
      'position.y':
        'api/routes/agent/pathwayParts.integration.test.ts › can be added, read, listed, and removed with their edges',
      'data.title':
        'contract/agentFields.integration.test.ts › type decides whether the model is told of every step',
      'data.prompt':
        'contract/agentFields.integration.test.ts › type decides whether the model is told of every step',
      'data.expectedAnswers':
        'engine/pathway/executionModes.test.ts › gives the expected answers to the model that selects the edge',
      'data.to.to':
        'engine/pathway/transferNodes.test.ts › Targets of a transfer node with trunks are passed on with them: %j',
      'data.to.trunkId':
        'engine/pathway/transferNodes.test.ts › Targets of a transfer node with trunks are passed on with them: %j',
      'data.targets[].to':
        'engine/pathway/transferNodes.test.ts › Targets of a transfer node with trunks are passed on with them: %j',
      'data.targets[].trunkId':
        'engine/pathway/transferNodes.test.ts › Targets of a transfer node with trunks are passed on with them: %j',
      'data.trunkId':
        'engine/pathway/transferNodes.test.ts › Targets of a transfer node with trunks are passed on with them: %j',
      'data.targets':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.mode':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.announce':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.acceptBy':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.acceptDigit':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.timeoutSeconds':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.strategy':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.holdMusic':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.holdMusic.mediaId':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.afterJoin':
        'engine/pathway/transferNodes.test.ts › A transfer node passes its targets and options on; the announcement is rendered when it is said',
      'data.interruption':
        'voice/session/interruption.test.ts › A node may forbid interruptions, or require longer speech',
      'data.interruptAfterMs':
        'voice/session/interruption.test.ts › A node may forbid interruptions, or require longer speech',
      'data.turn.minPauseMs':
        'conversation/turnDetection/turnSettings.test.ts › A node’s pauses bound the endpointing delay',
      'data.turn.maxPauseMs':
        'conversation/turnDetection/turnSettings.test.ts › A node’s pauses bound the endpointing delay',
      'data.chat.model':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.temperature':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.maxTokens':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.reasoningEffort':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.endpoint': 'engine/chatChoices.test.ts › endpoint of the %s answers, with its own model',
      'data.chat.fallback': 'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'data.chat.fallback[].model':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'data.chat.fallback[].temperature':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'data.chat.fallback[].maxTokens':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.fallback[].reasoningEffort':
        'engine/chatChoices.test.ts › model, temperature, maxTokens and reasoningEffort of the %s are asked for',
      'data.chat.fallback[].endpoint':
        'engine/chatChoices.test.ts › fallback of the %s answers in order, and is noted',
      'data.engine.provider':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'data.engine.model':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'data.engine.voice':
        'voice/session/speechToSpeech.test.ts › engine of the %s names provider, model and voice',
      'data.speech.noiseSuppression':
        'voice/session/noiseSuppression.test.ts › noiseSuppression of %j: the recognition hears %s',
      'data.speech.synthesis.options':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.fallback.synthesis[].speed':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.synthesis[].options':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.languages':
        'voice/session/languages.test.ts › languages and voices of the %s: the answer is in the language that was heard',
      'data.speech.voices':
        'voice/session/languages.test.ts › languages and voices of the %s: the answer is in the language that was heard',
      'data.speech.recognition.provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.recognition.model':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.recognition.options':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.synthesis.provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.synthesis.model':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.synthesis.voice':
        'voice/session/speechChoices.test.ts › speech of the %s names who hears and who speaks',
      'data.speech.recognition.language':
        'voice/session/speechChoices.test.ts › language and keyterms of the %s are told to the recognizer',
      'data.speech.recognition.keyterms':
        'voice/session/speechChoices.test.ts › language and keyterms of the %s are told to the recognizer',
      'data.speech.fallback.recognition[].provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.recognition[].model':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.recognition[].language':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.recognition[].keyterms':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.recognition[].options':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.synthesis[].provider':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.synthesis[].model':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.fallback.synthesis[].voice':
        'voice/session/speechChoices.test.ts › speech of the %s names who takes over',
      'data.speech.synthesis.speed':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'data.speech.pronunciations[].word':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'data.speech.pronunciations[].say':
        'voice/session/speechChoices.test.ts › speed and pronunciations of the %s shape what is said',
      'data.turnDetection.mode':
        'voice/session/turnDetection.test.ts › mode of the %s decides whether turn events count',
      'data.turnDetection.eagerness':
        'voice/session/turnDetection.test.ts › eagerness of the %s shortens the pause that ends a turn',
      'data.turnDetection.preemptive':
        'voice/session/turnDetection.test.ts › preemptive of the %s decides whether an answer is prepared',
      'data.silence.afterMs':
        'voice/session/silence.test.ts › Silence starts the node’s prompts in order, then a goodbye and the hang-up',
      'data.silence.prompts':
        'voice/session/silence.test.ts › Silence starts the node’s prompts in order, then a goodbye and the hang-up',
      'data.silence.hangupAfter':
        'voice/session/silence.test.ts › Silence starts the node’s prompts in order, then a goodbye and the hang-up',
      'data.tools':
        'contract/toolFields.integration.test.ts › A tool is offered by its name, description and parameters',
      'data.arguments': 'engine/tools/toolNodes.test.ts › A tool node sets a variable to %s, with its type',
      'data.query':
        'conversation/turns/retrievalPrefetch.test.ts › uses the query and the options of the next node',
      'data.topK':
        'conversation/turns/retrievalPrefetch.test.ts › uses the query and the options of the next node',
      'data.scoreThreshold':
        'conversation/turns/retrievalPrefetch.test.ts › uses the query and the options of the next node',
      'data.to':
        'voice/session/ending.test.ts › A failed transfer returns the call to the agent, who says so',
      'data.returns':
        'engine/pathway/executionModes.test.ts › returns from a node that a global edge led to on the person’s next turn',
    },
  },
  {
    name: 'edge',
    places: [
      ['/v1/projects/{projectId}/pathway/edges'],
      ['/v1/projects/{projectId}/pathway/edges/{edgeId}'],
      ['/v1/projects/{projectId}/pathway', 'edges[].'],
    ],
    rows: {
      id: 'engine/turn/runTurn.test.ts › answers and takes an edge in one request',
      source: 'engine/turn/runTurn.test.ts › answers and takes an edge in one request',
      target: 'engine/turn/runTurn.test.ts › answers and takes an edge in one request',
      'data.label':
        'engine/prompt/structuredOutput.test.ts › offer each edge as a value of the move tool, described by its sentence or label',
      'data.condition': 'engine/turn/runTurn.test.ts › answers and takes an edge in one request',
      'data.condition.event': 'voice/session/silence.test.ts › Silence follows the pathway’s silence edge',
      'data.condition.digits':
        'voice/session/dtmf.test.ts › A digit with an edge interrupts the agent and follows the edge',
      'data.condition.afterMs': 'voice/session/silence.test.ts › A silence edge is taken at its own time: %s',
      'data.condition.ok':
        'engine/tools/toolNodes.test.ts › A tool node whose %s cannot run with %j follows its edge for failures',
      'data.condition.outcome':
        'engine/pathway/transferNodes.test.ts › A transfer that ends as %s takes the edge of that outcome',
      'data.condition.tool':
        'engine/tools/toolNodes.test.ts › A tool node sets a variable to %s, with its type',
      'data.priority':
        'agents/pathway/graph.test.ts › sorts edges by priority, equal ones in graph order, fallbacks last',
      'data.fallback': 'voice/session/failures.test.ts › A model that is down takes the node’s fallback edge',
    },
  },
  {
    name: 'pathway',
    places: [['/v1/projects/{projectId}/pathway']],
    rows: {
      id: {
        test: 'api/routes/agent/pathway.integration.test.ts › gets no new version from an unchanged graph',
        as: 'body',
      },
      version: 'api/routes/agent/pathway.integration.test.ts › gets no new version from an unchanged graph',
      updatedAt: {
        test: 'api/routes/agent/pathway.integration.test.ts › gets no new version from an unchanged graph',
        as: 'body',
      },
    },
  },
  {
    name: 'toolTrial',
    places: [['/v1/projects/{projectId}/tools/{toolId}/try']],
    rows: {
      arguments:
        'contract/toolFields.integration.test.ts › A tool can be tried with arguments and variables, and shows its request without secrets',
      variables:
        'contract/toolFields.integration.test.ts › A tool can be tried with arguments and variables, and shows its request without secrets',
    },
  },
  {
    name: 'tool',
    places: [['/v1/projects/{projectId}/tools'], ['/v1/projects/{projectId}/tools/{toolId}']],
    rows: {
      name: 'contract/toolFields.integration.test.ts › A tool is offered by its name, description and parameters',
      description:
        'contract/toolFields.integration.test.ts › A tool is offered by its name, description and parameters',
      parameters:
        'contract/toolFields.integration.test.ts › A tool refuses arguments that do not fit its parameters',
      'http.method': 'contract/toolFields.integration.test.ts › A tool sends its arguments by its method %s',
      'http.url':
        'contract/toolFields.integration.test.ts › A tool has templates in its url and bodyTemplate, and its own headers with their key and value',
      'http.headers[].key':
        'contract/toolFields.integration.test.ts › A tool has templates in its url and bodyTemplate, and its own headers with their key and value',
      'http.headers[].value':
        'contract/toolFields.integration.test.ts › A tool has templates in its url and bodyTemplate, and its own headers with their key and value',
      'http.bodyTemplate':
        'contract/toolFields.integration.test.ts › A tool has templates in its url and bodyTemplate, and its own headers with their key and value',
      'http.timeoutMs':
        'contract/toolFields.integration.test.ts › A tool %s that times out takes the edge for its failure',
      'resultMapping[].path':
        'app/toolRequests.integration.test.ts › An answer sets the variables that the tool maps it to, and leaves the others',
      'resultMapping[].variable':
        'app/toolRequests.integration.test.ts › An answer sets the variables that the tool maps it to, and leaves the others',
      speakWhile: 'app/toolRequests.integration.test.ts › A tool says its own line while it runs',
    },
  },
  {
    name: 'MCP server',
    places: [
      ['/v1/projects/{projectId}/mcp-servers'],
      ['/v1/projects/{projectId}/mcp-servers/{mcpServerId}'],
    ],
    rows: {
      name: 'contract/mcpFields.integration.test.ts › Tools whose names are taken have the name of their server before them',
      url: 'contract/mcpFields.integration.test.ts › A node names a tool of an MCP server, which the model calls',
      'headers[].key':
        'contract/mcpFields.integration.test.ts › The key and value of a header are sent to the server, and the value is never shown',
      'headers[].value':
        'contract/mcpFields.integration.test.ts › The key and value of a header are sent to the server, and the value is never shown',
      timeoutMs:
        'contract/mcpFields.integration.test.ts › A server that is slower than its timeoutMs, or down, is a failed result',
    },
  },
];
