// One suite after the other, on one installation.
import './conversations/recognised.ts';
import './conversations/changes.ts';
import './conversations/lawful.ts';
