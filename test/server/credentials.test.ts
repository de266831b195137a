import { describe, expect, it } from 'vitest';
import { getText } from './caller.ts';
import { createTestServer, MEMBER } from './test-server.ts';

describe('the user of a credential', () => {
  it('is the caller by default', async () => {
    const { callAs } = createTestServer();
    expect((await callAs('member')('POST', '/credentials', { body: {} })).body['owner_id']).toBe(MEMBER);
    expect((await callAs('member')('POST', '/credentials', { body: { owner_id: MEMBER } })).status).toBe(201);
  });

  it('is another one only for an admin', async () => {
    const { call, callAs } = createTestServer();
    const body = { owner_id: 'bot_deploy' };
    expect((await call('POST', '/credentials', { body })).body['owner_id']).toBe('bot_deploy');
    const refused = await callAs('member')('POST', '/credentials', { body });
    expect([refused.status, refused.body['error_code']]).toEqual([403, 'forbidden']);
    expect((await call('POST', '/credentials', { body: { owner_id: 'ipp_1' } })).status).toBe(400);
  });
});

describe('a token', () => {
  it('is the end of the id and an unguessable part', async () => {
    const { call } = createTestServer();
    const { body } = await call('POST', '/credentials', { body: {} });
    const [, suffix] = getText(body['id']).split('_');
    expect(getText(body['token'])).toMatch(new RegExp(`^${suffix}_[0-9A-Za-z]{20}$`));
  });

  it('is in no snapshot', async () => {
    const { server, call } = createTestServer();
    const { body } = await call('POST', '/credentials', { body: {} });
    const token = getText(body['token']);
    expect(JSON.stringify(server.snapshot())).not.toContain(token.split('_')[1]);
  });
});

describe('a credential without a known creator', () => {
  it('is listed and can be changed, but not deleted', async () => {
    const seed = { resources: { Credential: [{ id: 'cr_default', description: 'default', deletable: false }] } };
    const { call } = createTestServer({ seed });
    expect((await call('GET', '/credentials/cr_default')).body).toMatchObject({ description: 'default', token: null });
    const refused = await call('DELETE', '/credentials/cr_default');
    expect([refused.status, refused.body['error_code']]).toEqual([403, 'forbidden']);
    expect((await call('PATCH', '/credentials/cr_default', { body: { description: 'mine' } })).status).toBe(200);
    expect((await call('DELETE', '/credentials/cr_default')).status).toBe(403);
  });
});

describe('an abuse report', () => {
  it('needs a key that is authorized for it', async () => {
    const { callAs } = createTestServer();
    const body = { urls: ['https://phishing.example.com/'] };
    const refused = await callAs('member')('POST', '/abuse_reports', { body });
    expect([refused.status, refused.body['error_code']]).toEqual([403, 'forbidden']);
    const report = await callAs('reporter')('POST', '/abuse_reports', { body });
    expect(report.status).toBe(201);
    expect((await callAs('member')('GET', `/abuse_reports/${getText(report.body['id'])}`)).status).toBe(200);
  });
});
