/** Vectors distributed like those of texts: many topics, each a cluster. Uniform ones would have no near neighbours. */
export interface VectorSource {
  next(): Float32Array;
}

const TOPICS = 500;
/** Length of the noise around a topic, relative to the topic's own. */
const SPREAD = 0.5;

export function clusteredVectors(dimensions: number, seed: number): VectorSource {
  const random = pseudoRandom(seed);
  const gaussian = () => (random() + random() + random() + random() - 2) * Math.sqrt(3);
  const topics = Array.from({ length: TOPICS }, () => Float32Array.from({ length: dimensions }, gaussian));
  return {
    next() {
      const topic = topics[Math.floor(random() * TOPICS)] ?? new Float32Array(dimensions);
      const vector = topic.map((value) => value + gaussian() * SPREAD);
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    },
  };
}

/** @see Marsaglia, "Xorshift RNGs" */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
