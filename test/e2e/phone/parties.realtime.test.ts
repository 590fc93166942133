// One suite after the other, on one installation.
import './parties/transfer.ts';
import './parties/warmTransfer.ts';
import './parties/participants.ts';
import './parties/supervision.ts';
import './parties/glare.ts';
