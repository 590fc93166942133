// One suite after the other, on one installation.
import './signalling/inbound.ts';
import './signalling/whoIsCalling.ts';
import './signalling/outcomes.ts';
import './signalling/trunkHealth.ts';
