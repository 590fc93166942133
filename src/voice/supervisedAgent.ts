import type { AudioStream } from '../conversation/streams/audioStream.ts';
import { type AgentTurnQueue, NOTHING_SAID } from '../conversation/turns/agentTurnQueue.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import type { AgentControl, PeerRequest } from '../media/agentStream/streamClient.ts';
import type { TurnController } from './turnController.ts';

export interface SupervisedAgentDeps {
  /** Returns what the agent wants to say without a request; undefined for nothing. */
  readonly initiative: () => TurnInput | undefined;
  readonly stream: AudioStream;
  readonly turns: TurnController;
  readonly agentTurns: AgentTurnQueue;
}

/** The most turns of supervisors and peers that wait; more are a mistake, and the oldest are dropped. */
const MAX_WAITING_TURNS = 20;

interface WaitingTurn {
  readonly input: TurnInput;
  /** The number of the supervisor's instruction, which the `said` command repeats. */
  readonly number?: number | undefined;
}

const ANSWER: TurnInput = { kind: 'given_back', answersCustomer: true };

/** Does with the agent what supervisors, and peers beside the caller's voice, ask: it says their words, takes instructions, and is silent when it has to be. */
export class SupervisedAgent {
  readonly #deps: SupervisedAgentDeps;
  /** A supervisor's words, and messages that a person typed. */
  #waiting: WaitingTurn[] = [];
  /** The number of a supervisor's words whose turn has begun, until they are heard or given up. */
  #saying: number | undefined;
  #isPaused = false;
  #isTakenOver = false;
  /** When the call was taken over, on the stream's clock. */
  #takenOverAtMs = 0;
  /** The turn that is due when the agent may speak again. */
  #due: TurnInput | undefined;

  constructor(deps: SupervisedAgentDeps) {
    this.#deps = deps;
  }

  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  /** Starts the session's first turn, unless the agent is to be silent: the stream may follow one that was lost. */
  start(first: TurnInput): void {
    const { stream, turns, agentTurns } = this.#deps;
    const { controls, digits } = stream.takeEarly();
    for (const control of controls) this.onControl(control);
    const isSilent = this.#isPaused || this.#isTakenOver;
    // Of a session that goes on, the caller has heard a greeting.
    if (isSilent && first.kind === 'begin') this.#due = first;
    void agentTurns.run(isSilent ? NOTHING_SAID : first, turns.timestamps());
    for (const digit of digits) turns.onDigit(digit);
  }

  /** Starts a turn without an event of the caller, at once or when the agent may speak again. */
  startTurn(input: TurnInput): void {
    if (this.#isPaused || this.#isTakenOver) this.#due = input;
    // In its place, what suspended the agent ends.
    if (!this.#isTakenOver) this.#deps.turns.startTurn(this.#isPaused ? NOTHING_SAID : input);
  }

  onControl(control: AgentControl): void {
    switch (control.kind) {
      case 'say':
        this.#wait({ kind: 'say', text: control.text }, control.number);
        break;
      case 'instruct':
        this.#deps.agentTurns.addInstruction(
          `Instruction from a supervisor of this call: ${control.text}`,
          control.number,
        );
        break;
      case 'pause':
        this.#pause(control.isPaused);
        break;
      case 'takeover':
        this.#takeOver(control.isTakenOver);
        break;
      default:
        control satisfies never;
    }
  }

  onRequest(request: PeerRequest): void {
    const { turns } = this.#deps;
    if (request.kind === 'message') this.#wait({ kind: 'user_message', text: request.text });
    else if (request.kind === 'answer') this.#wait(ANSWER);
    else if (!this.#isTakenOver) turns.dispatch({ type: 'agent_stopped' });
  }

  /** Call with each frame of the caller: what waits is said once neither party speaks. */
  onFrame(): void {
    const { turns } = this.#deps;
    if (turns.phase !== 'thinking') this.#reportSaid();
    if (turns.phase !== 'idle' || this.#isTakenOver) return;
    // While it is paused, the agent says the words of supervisors alone.
    const next = this.#waiting.findIndex(({ input }) => input.kind === 'say' || !this.#isPaused);
    const [turn] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (turn) {
      this.#saying = turn.number;
      turns.startTurn(turn.input);
    } else if (!this.#isPaused) this.#startDueTurn();
  }

  #reportSaid(): void {
    if (this.#saying !== undefined) this.#deps.stream.command({ kind: 'said', number: this.#saying });
    this.#saying = undefined;
  }

  #wait(input: TurnInput, number?: number): void {
    this.#waiting = [...this.#waiting, { input, number }].slice(-MAX_WAITING_TURNS);
  }

  #startDueTurn(): void {
    const { turns } = this.#deps;
    const due = turns.hasUnansweredWords ? ANSWER : (this.#due ?? this.#deps.initiative());
    turns.hasUnansweredWords = false;
    this.#due = undefined;
    if (due) turns.startTurn(due);
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#deps.turns.setPaused(isPaused);
  }

  #takeOver(isTakenOver: boolean): void {
    if (isTakenOver === this.#isTakenOver) return;
    this.#isTakenOver = isTakenOver;
    if (isTakenOver) this.#loseCall();
    else this.#getCallBack();
  }

  #loseCall(): void {
    const { turns, agentTurns } = this.#deps;
    this.#waiting = this.#waiting.filter(({ input }) => input.kind !== 'say');
    this.#takenOverAtMs = turns.nowMs;
    agentTurns.keepUnanswered(turns.takeUnansweredText());
    turns.dispatch({ type: 'taken_over' });
  }

  #getCallBack(): void {
    const { turns, agentTurns } = this.#deps;
    const seconds = Math.round((turns.nowMs - this.#takenOverAtMs) / 1000);
    agentTurns.addInstruction(
      `A colleague took over the call and spoke with the person for ${seconds} s, which you did not hear. You have the call again: go on with your step, and do not greet the person again.`,
    );
    turns.hasUnansweredWords = false;
    const due = this.#due ?? { kind: 'given_back', answersCustomer: false };
    this.#due = undefined;
    this.startTurn(due);
  }
}
