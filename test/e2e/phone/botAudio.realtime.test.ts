// One suite after the other, on one installation.
import './botAudio/bots.ts';
import './botAudio/audio.ts';
