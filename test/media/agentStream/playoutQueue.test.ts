import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FiredMark, PlayoutQueue } from '../../../src/media/agentStream/playoutQueue.ts';

/** At 1 kHz a sample is a millisecond, and the fade is 5 samples. */
function create() {
  const marks: FiredMark[] = [];
  const queue = new PlayoutQueue({ sampleRateHz: 1000, onMark: (mark) => marks.push(mark) });
  const pull = () => {
    const frame = new Int16Array(20).fill(99);
    return { speech: queue.pull(frame), frame: [...frame] };
  };
  return { queue, marks, pull };
}
const speech = (length: number, value = 1000) => new Int16Array(length).fill(value);
const range = (from: number, to: number) => Int16Array.from({ length: to - from }, (_, n) => from + n);

describe('PlayoutQueue', () => {
  it('plays chunks of any length in order, then silence', () => {
    const { queue, pull } = create();
    for (const chunk of [range(0, 7), range(7, 8), new Int16Array(0), range(8, 30)]) queue.enqueue(chunk);
    expect(pull()).toEqual({ speech: 20, frame: [...range(0, 20)] });
    expect(pull()).toEqual({ speech: 10, frame: [...range(20, 30), ...new Int16Array(10)] });
    expect(pull()).toEqual({ speech: 0, frame: [...new Int16Array(20)] });
    expect(queue).toMatchObject({ playedPosition: 30, queuedSamples: 0 });
  });

  describe('marks', () => {
    it('fire when the audio before them has been pulled', () => {
      const { queue, marks, pull } = create();
      queue.enqueue(speech(20));
      queue.mark('a');
      queue.enqueue(speech(21));
      queue.mark('b');
      expect(marks).toEqual([]);
      pull();
      expect(marks).toEqual([{ name: 'a', outcome: 'played', position: 20 }]);
      pull();
      expect(marks.length).toBe(1);
      pull();
      expect(marks[1]).toEqual({ name: 'b', outcome: 'played', position: 41 });
    });

    it('fire at once in an empty queue, and at a clear', () => {
      const { queue, marks, pull } = create();
      queue.mark('empty');
      expect(marks).toEqual([{ name: 'empty', outcome: 'played', position: 0 }]);
      queue.enqueue(speech(100));
      queue.mark('one');
      queue.mark('two');
      pull();
      queue.clear();
      expect(marks.slice(1)).toEqual([
        { name: 'one', outcome: 'cleared', position: 20 },
        { name: 'two', outcome: 'cleared', position: 20 },
      ]);
      for (let n = 0; n < 10; n++) pull();
      expect(marks.length).toBe(3);
    });

    it('are limited in number', () => {
      const { queue } = create();
      queue.enqueue(speech(1));
      const taken = Array.from({ length: 1001 }, (_, n) => queue.mark(`${n}`));
      expect([taken[999], taken[1000]]).toEqual([true, false]);
    });
  });

  describe('clear', () => {
    it('fades within 5 ms of the next frame, which count as played', () => {
      const { queue, pull } = create();
      queue.enqueue(speech(15));
      queue.enqueue(speech(50));
      queue.enqueue(speech(70));
      pull();
      queue.clear();
      expect(queue.queuedSamples).toBe(5);
      const { speech: faded, frame } = pull();
      expect(faded).toBe(5);
      expect(frame.slice(0, 6)).toEqual([833, 667, 500, 333, 167, 0]);
      expect(queue.playedPosition).toBe(25);
      expect(pull().speech).toBe(0);
    });

    it('fades across two chunks', () => {
      const { queue, pull } = create();
      queue.enqueue(speech(22, 600));
      queue.enqueue(speech(30, -600));
      pull();
      queue.clear();
      expect(pull().frame.slice(0, 6)).toEqual([500, 400, -300, -200, -100, 0]);
    });

    it('is followed by new speech in the frame of the fade', () => {
      const { queue, pull } = create();
      queue.enqueue(speech(100));
      pull();
      queue.clear();
      queue.enqueue(speech(40, 7));
      expect(pull().frame.slice(4, 7)).toEqual([167, 7, 7]);
    });

    it('drops speech that has not started without a fade', () => {
      const { queue, pull } = create();
      queue.enqueue(speech(40));
      queue.clear();
      expect(pull().speech).toBe(0);
    });

    it('twice in one frame keeps one fade', () => {
      const { queue, pull } = create();
      queue.enqueue(speech(100));
      pull();
      queue.clear();
      queue.enqueue(speech(40));
      queue.clear();
      expect(pull().frame.slice(0, 6)).toEqual([833, 667, 500, 333, 167, 0]);
    });
  });

  it('takes two minutes of speech at most', () => {
    const { queue, pull } = create();
    expect(queue.enqueue(speech(119_990))).toBe(119_990);
    expect([queue.enqueue(speech(50)), queue.enqueue(speech(50))]).toEqual([10, 0]);
    pull();
    expect([queue.enqueue(speech(50)), queue.queuedSamples]).toEqual([20, 120_000]);
  });

  it('plays each sample once, for any sequence of operations', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enqueue' as const), length: fc.integer({ min: 0, max: 70 }) }),
      fc.record({ kind: fc.constant('pull' as const) }),
      fc.record({ kind: fc.constant('clear' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { queue, pull } = create();
        let [given, dropped, played] = [0, 0, 0];
        for (const each of steps) {
          if (each.kind === 'enqueue') given += queue.enqueue(speech(each.length));
          if (each.kind === 'pull') played += pull().speech;
          if (each.kind === 'clear') {
            const before = queue.queuedSamples;
            queue.clear();
            dropped += before - queue.queuedSamples;
            expect(queue.queuedSamples).toBeLessThanOrEqual(5);
          }
          expect(queue.playedPosition).toBe(played);
          expect(given).toBe(played + dropped + queue.queuedSamples);
        }
      }),
    );
  });
});
