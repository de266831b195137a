import { describe, expect, it } from 'vitest';
import { ServiceClock } from '../../src/client/service-clock.ts';
import { createFakeService } from './fake-service.ts';

const NOON = Date.UTC(2026, 2, 1, 12);
const HOUR_MS = 3_600_000;

/** The times of a request that took that long, received at noon. */
function createRequestTimes(ms: number, receivedMs = NOON) {
  return { sentMs: receivedMs - ms, receivedMs };
}

function toDate(ms: number): string {
  return new Date(ms).toUTCString();
}

describe('the clock of a service', () => {
  it.each([
    ['agrees', 0],
    ['is half a minute ahead', 30_000],
    ['is half a minute behind', -30_000],
  ])('counts as equal if it %s', (_, skewMs) => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON + skewMs), createRequestTimes(200));
    expect(clock.measure()).toEqual({ skewMs: 0, isDoubtful: false });
  });

  it.each([2, -13])('is measured if it differs by %s hours', (hours) => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON + hours * HOUR_MS), createRequestTimes(200));
    const { skewMs, isDoubtful } = clock.measure();
    expect(Math.abs(skewMs - hours * HOUR_MS)).toBeLessThan(1_000);
    expect(isDoubtful).toBe(false);
  });

  it('is not mistaken because of a slow response', () => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON - 115_000), createRequestTimes(119_000));
    expect(clock.measure().skewMs).toBe(0);
  });

  it('is measured by the fastest response', () => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON + 2 * HOUR_MS - 25_000), createRequestTimes(50_000));
    clock.noteDate(toDate(NOON + 2 * HOUR_MS), createRequestTimes(10));
    clock.noteDate(toDate(NOON + 2 * HOUR_MS - 20_000), createRequestTimes(40_000));
    expect(Math.abs(clock.measure().skewMs - 2 * HOUR_MS)).toBeLessThan(1_000);
  });

  it('is doubtful if it differs by more than a day', () => {
    for (const shown of [0, Date.UTC(9999, 0)]) {
      const clock = new ServiceClock();
      clock.noteDate(toDate(shown), createRequestTimes(10));
      expect(clock.measure().isDoubtful).toBe(true);
    }
  });

  it('is doubtful if responses show different times', () => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON), createRequestTimes(10));
    clock.noteDate(toDate(NOON + HOUR_MS), createRequestTimes(10));
    expect(clock.measure().isDoubtful).toBe(true);
  });

  it('is read from creation times, and doubtful if `Date` shows another', () => {
    const clock = new ServiceClock();
    clock.noteDate(toDate(NOON + 20 * HOUR_MS), createRequestTimes(10));
    clock.noteCreation('2026-03-01T12:00:00Z', createRequestTimes(10));
    expect(clock.measure()).toEqual({ skewMs: 0, isDoubtful: true });
  });

  it('is unknown without a valid time, and after the local clock was set back', () => {
    const clock = new ServiceClock();
    clock.noteDate(undefined, createRequestTimes(10));
    clock.noteDate('yesterday', createRequestTimes(10));
    clock.noteCreation('', createRequestTimes(10));
    clock.noteDate(toDate(NOON + HOUR_MS), { sentMs: NOON + 10_000, receivedMs: NOON });
    expect(clock.measure()).toEqual({ skewMs: 0, isDoubtful: false });
  });
});

describe('a client', () => {
  const respond = (headers: Readonly<Record<string, string>>) =>
    Response.json({ id: 'x_1', created_at: '2026-03-01T12:00:00Z' }, { headers });

  it('measures the clock with the `Date` of responses, but not of cached ones', async () => {
    const { client } = createFakeService(
      {
        'GET /cached': [respond({ date: toDate(NOON + HOUR_MS), age: '3600' })],
        'GET /fresh': [respond({ date: toDate(NOON + 2 * HOUR_MS) })],
      },
      { date: () => new Date(NOON) },
    );
    await client.get('/cached');
    expect(client.clockSkew().skewMs).toBe(0);
    await client.get('/fresh');
    expect(Math.abs(client.clockSkew().skewMs - 2 * HOUR_MS)).toBeLessThan(1_000);
  });

  it('measures the clock with the creation time of what it creates', async () => {
    const date = () => new Date(NOON - HOUR_MS);
    const { client } = createFakeService({ 'POST /edges/tcp': [respond({})] }, { date });
    await client.send('POST', '/edges/tcp', {});
    expect(Math.abs(client.clockSkew().skewMs - HOUR_MS)).toBeLessThan(1_000);
  });
});
