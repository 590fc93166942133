import { expect, test } from 'vitest';

import { createFourierTransform } from '../../../src/voice/recognition/fourierTransform.ts';
import { createRandom } from '../../media/signals.ts';

test.each([1, 2, 4, 32, 256])('a spectrum of %i points is that of the definition', (length) => {
  const random = createRandom(length);
  const real = Float64Array.from({ length }, () => random() * 2 - 1);
  const imaginary = Float64Array.from({ length }, () => random() * 2 - 1);
  const [spectrum, spectrumImaginary] = [real.slice(), imaginary.slice()];
  createFourierTransform(length)(spectrum, spectrumImaginary);
  for (let k = 0; k < length; k++) {
    let [re, im] = [0, 0];
    for (let n = 0; n < length; n++) {
      const angle = (-2 * Math.PI * k * n) / length;
      re += (real[n] ?? 0) * Math.cos(angle) - (imaginary[n] ?? 0) * Math.sin(angle);
      im += (real[n] ?? 0) * Math.sin(angle) + (imaginary[n] ?? 0) * Math.cos(angle);
    }
    expect(spectrum[k]).toBeCloseTo(re, 9);
    expect(spectrumImaginary[k]).toBeCloseTo(im, 9);
  }
});
