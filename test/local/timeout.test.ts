import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, isAlive, lambda, start } from './support.ts';

const HANG = `
export const handler = async (event) => {
  if (event.hang) await new Promise(() => setInterval(() => {}, 1000));
  return process.pid;
};`;

test('an environment that was ended for its timeout is never used again, not even at once', async () => {
  const aws = await start({ Slow: lambda('slow', { Timeout: 1 }) }, { slow: HANG });
  const first = await aws.invoke('Slow', {});
  assert.ok(first.ok);
  const late = await aws.invoke('Slow', { hang: true });
  assert.equal(!late.ok && late.errorType, 'Sandbox.Timedout');
  // The exit of the killed process has not been noticed yet
  const next = await aws.invoke('Slow', {});
  assert.ok(next.ok, JSON.stringify(next));
  assert.notEqual(next.payload, first.payload);
  await eventually(() => !isAlive(Number(first.payload)) || undefined);
});
